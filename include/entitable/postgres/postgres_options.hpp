// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How tables on PostgreSQL are reached: where in the database they are, how many connections there may be, how long to wait.

#include <entitable/backends/local_options.hpp>

#include <chrono>
#include <cstddef>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// How tables on PostgreSQL are reached. How durable a commit is and who may listen is said by the connection string and by the
/// server: `synchronous_commit`, `sslmode`, `target_session_attrs`.
struct postgres_options {
    /// The schema that holds the tables; it is made with them where it is missing. Small letters, digits and `_`, 40 at most.
    std::string schema{"entitable"};
    bool create{true};           ///< make the tables where there are none; StoreForeign otherwise
    std::size_t connections{16}; ///< at most so many are open; who needs another one waits
    /// How long opening a connection may take, unless the call's deadline is earlier.
    std::chrono::nanoseconds connect_timeout{std::chrono::seconds{10}};
    /// How long a statement may take, and how long a call waits for a connection, unless the call's deadline is earlier: StoreBusy
    /// after that.
    std::chrono::nanoseconds longest_wait{std::chrono::seconds{30}};
    /// The table service over it. Whether names of tables have case is decided when the tables are made: StoreForeign with a profile
    /// that has it otherwise.
    local_options local{};
};

ENTITABLE_END_NAMESPACE
