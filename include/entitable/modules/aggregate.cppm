// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
export module entitable.aggregate;

export import entitable;
