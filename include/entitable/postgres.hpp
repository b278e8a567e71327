// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Tables on PostgreSQL, for many machines: `postgres_backend`. Needs libpq 14 or later: link `entitable::postgres_compiled` or
/// `entitable::postgres`, or `-lpq`.

#include <entitable/client/mapping/stored_properties.hpp>
#include <entitable/local/postgres/postgres_backend.hpp>
