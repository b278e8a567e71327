// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
export module entitable.async_tables;

export import entitable.async;
