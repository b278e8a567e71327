// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Parses a connection string before connecting: the hosts one by one, their timeouts, the kind of server.

#include <entitable/core/result.hpp>
#include <entitable/local/postgres/detail/pg_wait.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A host of the connection string; empty members mean libpq's default.
struct pg_host {
    std::string name;    ///< a name, an address, or the folder of a socket
    std::string address; ///< a numeric address; empty: the name is resolved
    std::string port;
};

/// The servers that `target_session_attrs` accepts.
enum class pg_session : std::uint8_t { any, read_write, read_only, primary, standby, prefer_standby };

/// A valid connection string of libpq. Its values are overwritten on destruction, because they may include a password.
class pg_target {
public:
    struct setting {
        std::string name;
        std::string value;
    };

    /// Errors: InvalidInput, with messages that contain no part of the string.
    [[nodiscard]] static result<pg_target> parse(std::string_view connection_string);

    pg_target(pg_target&&) noexcept = default;
    pg_target& operator=(pg_target&&) = delete;
    ~pg_target();

    std::vector<setting> settings;           ///< all settings except those below
    std::vector<pg_host> hosts;              ///< hosts in the order in which they are tried; at least one
    std::chrono::nanoseconds host_timeout{}; ///< limit for each host, from `connect_timeout`; 0: none
    pg_session session{pg_session::read_write};
    std::string options; ///< command-line options of the session

private:
    pg_target() = default;
};

/// Resolves a host name to numeric addresses on another thread: a resolver may take minutes. Errors: TransportFailed, and the error of the
/// wait.
[[nodiscard]] result<std::vector<std::string>> pg_addresses(std::string const& name, pg_wait const& until);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/postgres/impl/pg_target.ipp>
#endif
