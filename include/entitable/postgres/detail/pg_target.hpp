// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What a connection string says, read before anybody is asked: hosts one by one, how long each may take, which kind of server.

#include <entitable/core/result.hpp>
#include <entitable/postgres/detail/pg_wait.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A host as the connection string says it; what is empty is libpq's default.
struct pg_host {
    std::string name;    ///< a name, an address, or the folder of a socket
    std::string address; ///< a numeric address; none: the name is looked up
    std::string port;
};

/// Which servers `target_session_attrs` takes.
enum class pg_session : std::uint8_t { any, read_write, read_only, primary, standby, prefer_standby };

/// A connection string that libpq takes. Its values are overwritten when it ends, because a password may be among them.
class pg_target {
public:
    struct setting {
        std::string name;
        std::string value;
    };

    /// Errors: InvalidInput, in words that have nothing of the string in them.
    [[nodiscard]] static result<pg_target> parse(std::string_view connection_string);

    pg_target(pg_target&&) noexcept = default;
    pg_target& operator=(pg_target&&) = delete;
    ~pg_target();

    std::vector<setting> settings;           ///< but those below
    std::vector<pg_host> hosts;              ///< one at least
    std::chrono::nanoseconds host_timeout{}; ///< for each host, `connect_timeout`; 0: none
    pg_session session{pg_session::read_write};
    std::string options; ///< of the command line of the session

private:
    pg_target() = default;
};

/// The numeric addresses of a host name, which another thread looks up: a resolver may take minutes. Errors: TransportFailed, and what the
/// wait ends with.
[[nodiscard]] result<std::vector<std::string>> pg_addresses(std::string const& name, pg_wait const& until);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/postgres/impl/pg_target.ipp>
#endif
