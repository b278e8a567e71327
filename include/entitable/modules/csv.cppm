// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
export module entitable.csv;

export import entitable.bulk;
