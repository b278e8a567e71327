// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
export module entitable.fleet;

export import entitable.shards;
