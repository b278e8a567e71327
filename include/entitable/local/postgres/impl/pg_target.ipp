// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/core/wipe.hpp>
#include <entitable/local/postgres/detail/pg_fiber.hpp>
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

/// A connection string that libpq has split, and the environment's values for what it does not name.
class pg_split_string {
public:
    static result<pg_split_string> split(std::string_view connection_string) {
        if (connection_string.find('\0') != std::string_view::npos) { return bad_pg_string("it contains NUL"); }
        std::string copy{connection_string};
        char* said = nullptr; // libpq's message, which repeats parts of the string
        pg_options_list given{PQconninfoParse(copy.c_str(), &said)};
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
        return pg_split_string{std::move(given)};
    }
    [[nodiscard]] PQconninfoOption const* begin() const noexcept { return given_.get(); }
    [[nodiscard]] bool names(std::string_view name) const noexcept { return value(given_.get(), name) != nullptr; }
    [[nodiscard]] std::string effective(std::string_view name) const {
        char const* const said = value(given_.get(), name);
        char const* const found = said != nullptr ? said : value(defaults_.get(), name);
        return found != nullptr ? found : "";
    }

private:
    explicit pg_split_string(pg_options_list given) : given_(std::move(given)), defaults_(PQconndefaults()) {}
    static char const* value(PQconninfoOption const* all, std::string_view name) noexcept {
        for (; all != nullptr && all->keyword != nullptr; ++all) {
            if (name == all->keyword) { return all->val; }
        }
        return nullptr;
    }
    pg_options_list given_;
    pg_options_list defaults_; ///< from the environment
};

inline result<std::vector<pg_host>> pg_hosts_of(pg_split_string const& given) {
    auto const names = split_pg_list(given.effective("host"));
    auto const addresses = split_pg_list(given.effective("hostaddr"));
    auto const ports = split_pg_list(given.effective("port"));
    bool const by_address = !given.effective("hostaddr").empty();
    std::size_t const count = by_address ? addresses.size() : names.size();
    if (by_address && !given.effective("host").empty() && names.size() != count) {
        return bad_pg_string("host and hostaddr name different numbers of hosts");
    }
    if (ports.size() != 1 && ports.size() != count) {
        return bad_pg_string("host and port have different numbers of values");
    }
    std::vector<pg_host> hosts;
    for (std::size_t at = 0; at < count; ++at) {
        std::string const& port = ports[ports.size() == 1 ? 0 : at];
        if (!port.empty() && !is_pg_number(port, 1, 65535)) {
            return bad_pg_string(
                "a port must be a number from 1 to 65535. In a URI write the characters / and : of a password as "
                "%2F and %3A");
        }
        hosts.push_back(
            {at < names.size() ? names[at] : std::string{}, by_address ? addresses[at] : std::string{}, port});
        if (!is_pg_host(hosts.back().name)) {
            return bad_pg_string(
                "a host has an invalid character. In a URI write the character @ of a password as %40");
        }
    }
    return hosts;
}

inline result<pg_session> pg_session_of(pg_split_string const& given) {
    struct meaning {
        std::string_view word;
        pg_session session;
    };
    constexpr meaning meanings[] = {{"", pg_session::read_write}, {"any", pg_session::any},
        {"read-write", pg_session::read_write}, {"read-only", pg_session::read_only}, {"primary", pg_session::primary},
        {"standby", pg_session::standby}, {"prefer-standby", pg_session::prefer_standby}};
    std::string const word = given.effective("target_session_attrs");
    for (meaning const& each : meanings) {
        if (each.word == word) {
            // libpq's default is any; without an explicit setting a program wants to write
            bool const asked = given.names("target_session_attrs") || std::getenv("PGTARGETSESSIONATTRS") != nullptr;
            return asked ? each.session : pg_session::read_write;
        }
    }
    return bad_pg_string("target_session_attrs must be any, read-write, read-only, primary, standby or prefer-standby");
}

inline result<void> can_read_pg_roots(pg_split_string const& given) {
    std::string const mode = given.effective("sslmode");
    if (mode != "verify-ca" && mode != "verify-full") { return {}; }
    std::string root = given.effective("sslrootcert");
    char const* const home = std::getenv("HOME");
    if (root.empty() && home != nullptr) { root = std::string{home} + "/.postgresql/root.crt"; }
    if (root.empty() || root == "system" || ::access(root.c_str(), R_OK) == 0) { return {}; }
    return bad_pg_string("sslmode requires verification of the server's certificate, but the file of root certificates "
                         "(sslrootcert) cannot be read");
}

/// Detects values that libpq refuses before it connects; if it accepted them, it would find no socket in a folder that does not exist.
inline bool accepts_pg_settings(std::vector<pg_target::setting> const& settings) {
    std::vector<char const*> names;
    std::vector<char const*> values;
    for (pg_target::setting const& each : settings) {
        names.push_back(each.name.c_str());
        values.push_back(each.value.c_str());
    }
    names.insert(names.end(), {"host", nullptr});
    values.insert(values.end(), {"/entitable/no/such/folder", nullptr});
    return PQpingParams(names.data(), values.data(), 0) != PQPING_NO_ATTEMPT;
}

ENTITABLE_DECL result<pg_target> pg_target::parse(std::string_view connection_string) {
    ENTITABLE_TRY(auto const given, pg_split_string::split(connection_string));
    pg_target made;
    // A service file, which libpq reads when it connects, may name the hosts.
    bool const of_a_service = given.names("service") && !given.names("host") && !given.names("hostaddr");
    for (PQconninfoOption const* each = given.begin(); each->keyword != nullptr; ++each) {
        std::string_view const name = each->keyword;
        bool const ours = name == "host" || name == "hostaddr" || name == "port" || name == "connect_timeout" ||
            name == "target_session_attrs" || name == "options" || name == "client_encoding";
        if (each->val != nullptr && (!ours || (of_a_service && name == "port"))) {
            made.settings.push_back({each->keyword, each->val});
        }
    }
    made.options = given.effective("options");
    if (of_a_service) {
        made.hosts.emplace_back();
    } else {
        ENTITABLE_TRY(auto hosts, pg_hosts_of(given));
        made.hosts = std::move(hosts);
    }
    std::string const timeout = given.effective("connect_timeout");
    if (!timeout.empty() && timeout[0] != '-') {
        if (!is_pg_number(timeout, 0, 999999999)) {
            return bad_pg_string("connect_timeout must be a number of seconds");
        }
        made.host_timeout = std::chrono::seconds{std::strtol(timeout.c_str(), nullptr, 10)};
    }
    ENTITABLE_TRY(auto const session, pg_session_of(given));
    made.session = session;
    ENTITABLE_CHECK(can_read_pg_roots(given));
    if (!of_a_service && !accepts_pg_settings(made.settings)) {
        return bad_pg_string("a setting has a value that libpq rejects (sslmode, channel_binding, keepalives, ...)");
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
        if (pg_fiber::running() != nullptr) {
            lock.unlock();
            pg_sleep(std::chrono::milliseconds{2});
            lock.lock();
        } else {
            one->done.wait_for(lock, std::chrono::milliseconds{until.slice()});
        }
    }
    if (one->addresses.empty()) { return failure{error_code::transport_failed, "cannot resolve a host name"}; }
    return std::move(one->addresses);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
