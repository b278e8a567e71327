// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
export module entitable.schema;

export import entitable.bulk;
