// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/wipe.hpp>
#include <entitable/local/postgres/detail/pg_target.hpp>
#include <entitable/local/postgres/impl/pg_library.ipp>

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL pg_target::~pg_target() {
    for (setting& each : settings) { wipe(each.value.data(), each.value.size()); }
}

struct pg_free_options {
    void operator()(PQconninfoOption* all) const noexcept {
        for (PQconninfoOption* each = all; each != nullptr && each->keyword != nullptr; ++each) {
            if (each->val != nullptr) { wipe(each->val, std::strlen(each->val)); }
        }
        PQconninfoFree(all);
    }
};
using pg_options_list = std::unique_ptr<PQconninfoOption, pg_free_options>;

inline std::vector<std::string> split_pg_list(std::string const& list) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0;;) {
        std::size_t const end = list.find(',', begin);
        parts.push_back(list.substr(begin, end == std::string::npos ? end : end - begin));
        if (end == std::string::npos) { return parts; }
        begin = end + 1;
    }
}

inline bool is_pg_number(std::string_view text, long least, long most) noexcept {
    long number = 0;
    bool good = !text.empty() && text.size() <= 9;
    for (char const each : text) {
        good = good && each >= '0' && each <= '9';
        number = number * 10 + (each - '0');
    }
    return good && number >= least && number <= most;
}

/// Detects a misparsed URI by its host: "postgresql://user:pass@word@host".
inline bool is_pg_host(std::string const& name) noexcept {
    return name.empty() || name.front() == '/' || name.front() == '@' ||
        name.find_first_of("@/?#[] \t\"'") == std::string::npos;
}

inline failure bad_pg_string(std::string_view why) {
    return failure{error_code::invalid_input, text::joined({"invalid connection string: ", why})};
}

ENTITABLE_DECL result<pg_target> pg_target::parse(std::string_view connection_string) {
    if (connection_string.find('\0') != std::string_view::npos) { return bad_pg_string("it contains NUL"); }
    std::string copy{connection_string};
    char* said = nullptr; // libpq's message, which repeats parts of the string
    pg_options_list const given{PQconninfoParse(copy.c_str(), &said)};
    wipe(copy.data(), copy.size());
    if (said != nullptr) {
        wipe(said, std::strlen(said));
        PQfreemem(said);
    }
    if (!given) {
        return bad_pg_string(
            "it must be a list of known settings, name=value with quotes around values with blanks, or a URI. "
            "In a URI write the characters % / @ : of a password as %25 %2F %40 %3A");
    }
    pg_options_list const defaults{PQconndefaults()}; // from the environment
    auto const value = [](PQconninfoOption const* all, std::string_view name) -> char const* {
        for (; all != nullptr && all->keyword != nullptr; ++all) {
            if (name == all->keyword) { return all->val; }
        }
        return nullptr;
    };
    auto const effective = [&](std::string_view name) -> std::string {
        char const* const said_value = value(given.get(), name);
        char const* const found = said_value != nullptr ? said_value : value(defaults.get(), name);
        return found != nullptr ? found : "";
    };
    pg_target made;
    // A service file, which libpq reads when it connects, may name the hosts.
    bool const of_a_service = value(given.get(), "service") != nullptr && value(given.get(), "host") == nullptr &&
        value(given.get(), "hostaddr") == nullptr;
    for (PQconninfoOption const* each = given.get(); each->keyword != nullptr; ++each) {
        std::string_view const name = each->keyword;
        bool const ours = name == "host" || name == "hostaddr" || name == "port" || name == "connect_timeout" ||
            name == "target_session_attrs" || name == "options" || name == "client_encoding";
        if (each->val != nullptr && (!ours || (of_a_service && name == "port"))) {
            made.settings.push_back({each->keyword, each->val});
        }
    }
    made.options = effective("options");

    if (of_a_service) {
        made.hosts.emplace_back();
    } else {
        auto const names = split_pg_list(effective("host"));
        auto const addresses = split_pg_list(effective("hostaddr"));
        auto const ports = split_pg_list(effective("port"));
        bool const by_address = !effective("hostaddr").empty();
        std::size_t const count = by_address ? addresses.size() : names.size();
        if (by_address && !effective("host").empty() && names.size() != count) {
            return bad_pg_string("host and hostaddr name different numbers of hosts");
        }
        if (ports.size() != 1 && ports.size() != count) {
            return bad_pg_string("host and port have different numbers of values");
        }
        for (std::size_t at = 0; at < count; ++at) {
            std::string const& port = ports[ports.size() == 1 ? 0 : at];
            if (!port.empty() && !is_pg_number(port, 1, 65535)) {
                return bad_pg_string(
                    "a port must be a number from 1 to 65535. In a URI write the characters / and : of a password as "
                    "%2F and %3A");
            }
            made.hosts.push_back(
                {at < names.size() ? names[at] : std::string{}, by_address ? addresses[at] : std::string{}, port});
            if (!is_pg_host(made.hosts.back().name)) {
                return bad_pg_string(
                    "a host has an invalid character. In a URI write the character @ of a password as %40");
            }
        }
    }
    std::string const timeout = effective("connect_timeout");
    if (!timeout.empty() && timeout[0] != '-') {
        if (!is_pg_number(timeout, 0, 999999999)) {
            return bad_pg_string("connect_timeout must be a number of seconds");
        }
        made.host_timeout = std::chrono::seconds{std::strtol(timeout.c_str(), nullptr, 10)};
    }
    std::string const session = effective("target_session_attrs");
    struct meaning {
        std::string_view word;
        pg_session session;
    };
    constexpr meaning meanings[] = {{"", pg_session::read_write}, {"any", pg_session::any},
        {"read-write", pg_session::read_write}, {"read-only", pg_session::read_only}, {"primary", pg_session::primary},
        {"standby", pg_session::standby}, {"prefer-standby", pg_session::prefer_standby}};
    bool known = false;
    for (meaning const& each : meanings) {
        if (each.word == session) {
            // libpq's default is any; without an explicit setting the server must accept writes
            bool const asked =
                value(given.get(), "target_session_attrs") != nullptr || std::getenv("PGTARGETSESSIONATTRS") != nullptr;
            made.session = asked ? each.session : pg_session::read_write;
            known = true;
        }
    }
    if (!known) {
        return bad_pg_string(
            "target_session_attrs must be any, read-write, read-only, primary, standby or prefer-standby");
    }
    std::string const mode = effective("sslmode");
    std::string root = effective("sslrootcert");
    if (mode == "verify-ca" || mode == "verify-full") {
        char const* const home = std::getenv("HOME");
        if (root.empty() && home != nullptr) { root = std::string{home} + "/.postgresql/root.crt"; }
        if (!root.empty() && root != "system" && ::access(root.c_str(), R_OK) != 0) {
            return bad_pg_string("sslmode requires verification of the server's certificate, but the file of root "
                                 "certificates (sslrootcert) "
                                 "cannot be read");
        }
    }
    // Values that libpq refuses before it connects; if it accepted them, it would find no socket in a folder that does not exist.
    std::vector<char const*> names;
    std::vector<char const*> values;
    for (setting const& each : made.settings) {
        names.push_back(each.name.c_str());
        values.push_back(each.value.c_str());
    }
    if (!of_a_service) {
        names.push_back("host");
        values.push_back("/entitable/no/such/folder");
        names.push_back(nullptr);
        values.push_back(nullptr);
        if (PQpingParams(names.data(), values.data(), 0) == PQPING_NO_ATTEMPT) {
            return bad_pg_string(
                "a setting has a value that libpq rejects (sslmode, channel_binding, keepalives, ...)");
        }
    }
    return made;
}

// ---- host names -------------------------------------------------------------------------------------

/// Shared by the thread that resolves a name and the one that waits for it, which may have stopped waiting.
struct pg_lookup {
    std::string name;
    std::mutex mutex;
    std::condition_variable done;
    bool finished{};                    ///< guarded
    std::vector<std::string> addresses; ///< guarded
};
/// Pending look-ups of this process: a hanging resolver must not cost a thread for each call.
inline std::atomic<int> pg_lookups{0};

inline void look_up_pg_host(std::shared_ptr<pg_lookup> const& one) noexcept {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* found = nullptr;
    std::vector<std::string> addresses;
    if (::getaddrinfo(one->name.c_str(), nullptr, &hints, &found) == 0) {
        for (addrinfo const* each = found; each != nullptr; each = each->ai_next) {
            char text[NI_MAXHOST];
            if (::getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) {
                addresses.emplace_back(text);
            }
        }
        ::freeaddrinfo(found);
    }
    --pg_lookups;
    std::lock_guard const lock{one->mutex};
    one->addresses = std::move(addresses);
    one->finished = true;
    one->done.notify_one();
}

ENTITABLE_DECL result<std::vector<std::string>> pg_addresses(std::string const& name, pg_wait const& until) {
    constexpr int most = 8;
    auto one = std::make_shared<pg_lookup>();
    one->name = name;
    if (++pg_lookups > most) {
        --pg_lookups;
        return failure{error_code::transport_failed, "host names are not being resolved: too many pending look-ups"};
    }
    std::thread{[one] { look_up_pg_host(one); }}.detach();
    std::unique_lock lock{one->mutex};
    while (!one->finished) {
        if (until.over()) {
            auto allowed = until.allowed();
            return allowed ? failure{error_code::transport_failed, "a host name was not resolved in time"}
                           : std::move(allowed).as_failure();
        }
        one->done.wait_for(lock, std::chrono::milliseconds{until.slice()});
    }
    if (one->addresses.empty()) { return failure{error_code::transport_failed, "cannot resolve a host name"}; }
    return std::move(one->addresses);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
