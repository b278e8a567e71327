// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
export module entitable.tables;

export import entitable;
