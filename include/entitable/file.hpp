// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Tables in a file. Needs SQLite 3.33 or later: link `entitable::file`, or `-lsqlite3`. Without this header no program does.

#include <entitable/file/file_backend.hpp>
