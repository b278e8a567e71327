// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Tables in one file, shared by processes: `file_backend`. Needs SQLite 3.32 or later: link `entitable::file_compiled` or
/// `entitable::file`, or `-lsqlite3`.

#include <entitable/local/file/file_backend.hpp>
