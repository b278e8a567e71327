// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Tables in a file. Needs SQLite 3.32 or later: link `entitable::file`, or `-lsqlite3`. A program without this header does not.

#include <entitable/file/file_backend.hpp>
