// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What the precompiled header of the tests is made for.
