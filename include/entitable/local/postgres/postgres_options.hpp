// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of tables on PostgreSQL: the schema, the number of connections, the timeouts.

#include <entitable/local/local_options.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// Options of tables on PostgreSQL. Durability and encryption are settings of the connection string and the server: `synchronous_commit`,
/// `sslmode`, `target_session_attrs`.
struct postgres_options {
    /// The schema that holds the tables; it is created with them if it is missing. 1 to 40 lower-case letters, digits and `_`, not starting
    /// with a digit.
    std::string schema{"entitable"};
    bool create{true};           ///< create the tables if they do not exist; otherwise StoreForeign
    std::size_t connections{16}; ///< maximum number open at the same time; a call that needs one more waits
    /// How long opening a connection may take, all hosts together, unless the call's deadline is earlier. Hosts are tried one after the
    /// other; an unresponsive host gets its share of the remaining time, or `connect_timeout` of the connection string.
    std::chrono::nanoseconds connect_timeout{std::chrono::seconds{10}};
    /// Whether statements are prepared on the server under names. By default statements are prepared, except behind a pooler such as
    /// PgBouncer: then each call sends its statements and its settings, because a pooler may share a session among programs. `true` behind
    /// a pooler is correct if it keeps sessions apart (PgBouncer in session mode), and NotSupported if a shared session is detected.
    std::optional<bool> prepared{};
    /// How long a statement may take, and how long a call waits for a connection, unless the call's deadline is earlier. After that the
    /// call returns StoreBusy, or ServerBusy if the server accepted no further connection for that long.
    std::chrono::nanoseconds longest_wait{std::chrono::seconds{30}};
    /// Options of the table service over PostgreSQL. Whether table names are case-sensitive is fixed when the library's tables are created;
    /// opening them returns StoreForeign if the profile differs.
    local_options local{};
};

ENTITABLE_END_NAMESPACE
