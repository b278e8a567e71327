// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Tables on PostgreSQL. Needs libpq 14 or later: link `entitable::postgres`, or `-lpq`. A program without this header does not.

#include <entitable/postgres/postgres_backend.hpp>
