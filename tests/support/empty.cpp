// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The precompiled header of the tests is created for this file.
