// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
export module entitable.retrying;

export import entitable;
