// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Deadlines apply to everything: each verb against a server that falls silent after each message of the protocol, silent hosts, names
// that are not resolved.

#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <arpa/inet.h>
#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/postgres_server.hpp>
#include <support/stopping_proxy.hpp>

#include <functional>
#include <thread>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

struct seat {
    std::string row;
    std::int32_t number{};
    std::int64_t price{};
    etag version{};
};
ENTITABLE(seat, partition_key(row), row_key(number), properties(price, etag(version)))
using s = fields<seat>;

constexpr auto deadline = 150ms;
/// After the deadline. A busy machine may take longer once: a late call is tried again.
constexpr auto allowance = 100ms;

std::chrono::nanoseconds time_of(std::function<void()> const& work) {
    auto const begun = std::chrono::steady_clock::now();
    work();
    return std::chrono::steady_clock::now() - begun;
}

struct verb {
    char const* name;
    std::function<result<void>(table<seat> const&, postgres_store&, call&)> run;
    /// The first row of the partition, read past the proxy: whether the verb was applied; null if that is not checked.
    std::function<bool(std::optional<seat> const&)> applied;
};

std::vector<verb> verbs() {
    auto const stage = [](postgres_store::transaction& rows) {
        bool const there = rows.get("r", [](std::string_view) {});
        rows.put("r", there ? "again" : "first");
        return true;
    };
    auto const is_new = [](std::optional<seat> const& found) { return found && found->price == 2; };
    return {
        {"get", [](auto const& seats, auto&, call&) -> result<void> { return seats.get("a", 1); }, nullptr},
        {"insert", [](auto const& seats, auto&, call&) -> result<void> { return seats.insert({"b", 1, 2, {}}); },
            nullptr},
        {"insert_or_replace",
            [](auto const& seats, auto&, call&) -> result<void> { return seats.insert_or_replace({"a", 1, 2, {}}); },
            is_new},
        {"replace",
            [](auto const& seats, auto&, call&) -> result<void> { return seats.replace({"a", 1, 2, {}}, any_etag); },
            is_new},
        {"merge",
            [](auto const& seats, auto&, call&) -> result<void> { return seats.merge({"a", 1, 2, {}}, any_etag); },
            is_new},
        {"remove", [](auto const& seats, auto&, call&) -> result<void> { return seats.remove("a", 1, any_etag); },
            [](std::optional<seat> const& found) { return !found; }},
        {"update",
            [](auto const& seats, auto&, call&) -> result<void> {
                return seats.update("a", 1, [](seat& one) { one.price = 2; });
            },
            is_new},
        {"batch",
            [](auto const& seats, auto&, call&) -> result<void> {
                auto all = seats.batch();
                all.insert_or_replace({"a", 1, 2, {}})
                    .insert_or_replace({"a", 2, 2, {}})
                    .remove(seat{"a", 3}, any_etag);
                return all.submit();
            },
            is_new},
        {"query",
            [](auto const& seats, auto&, call&) -> result<void> { return seats.where(s::row == "a").take(10).to(); },
            nullptr},
        {"count", [](auto const& seats, auto&, call&) -> result<void> { return seats.scan_table().count(); }, nullptr},
        {"an update of the store",
            [stage](auto const&, auto& store, call& context) -> result<void> {
                return store.update("raw", "c", stage, context);
            },
            nullptr},
        {"create_table",
            [](auto const&, auto& store, call& context) -> result<void> {
                return store.create_table("other", "other", context);
            },
            nullptr},
        {"drop_table",
            [](auto const&, auto& store, call& context) -> result<void> { return store.drop_table("old", context); },
            nullptr},
        {"tables",
            [](auto const&, auto& store, call& context) -> result<void> {
                return store.tables("", [](std::string_view, std::string_view) { return true; }, context);
            },
            nullptr},
    };
}

} // namespace

TEST_CASE("postgres: each verb ends at its deadline if a proxy stops forwarding at any message") {
    if (postgres_server() == nullptr) { return; }
    auto options = own_schema();
    auto const direct = postgres_backend::connect(postgres_server(), options).value();
    table<seat> const truth{direct, "seats"};
    truth.create().value();
    stopping_proxy proxy{postgres_server()};
    options.connections = 2;
    auto const through = postgres_backend::connect(proxy.connection_string(), options).value();
    table<seat> const ready{through, "seats"};
    call_options calls;
    calls.timeout = deadline;
    table<seat> const seats{through, "seats", calls};
    std::int64_t stops = 0;
    std::chrono::nanoseconds longest{};
    for (verb const& each : verbs()) {
        auto const prepare = [&] {
            proxy.release();
            for (std::int32_t number = 1; number <= 3; ++number) {
                truth.insert_or_replace({"a", number, 1, {}}).value();
            }
            truth.remove_if_present("b", 1, any_etag).value();
            static_cast<void>(direct.store().create_table("raw", "raw"));
            static_cast<void>(direct.store().create_table("old", "old"));
            static_cast<void>(direct.store().drop_table("other"));
            REQUIRE(ready.scan_table().count()); // on a working connection
            proxy.release();
        };
        auto const run = [&] {
            call context{calls};
            return each.run(seats, through.store(), context);
        };
        prepare();
        REQUIRE(run());
        std::int64_t const messages = proxy.passed();
        for (std::int64_t stop = 0; stop < messages; stop += static_cast<std::int64_t>(rounds(3, 1))) {
            INFO(each.name << ", silent behind message " << stop << " of " << messages);
            result<void> done;
            std::chrono::nanoseconds late{};
            for (int attempt = 0; attempt < 4 && (attempt == 0 || late > allowance); ++attempt) {
                prepare();
                proxy.stop_behind(stop);
                late = time_of([&] { done = run(); }) - deadline;
            }
            CHECK(late <= allowance);
            longest = std::max(longest, late);
            ++stops;
            if (!done) {
                CHECK((done.error().code == error_code::deadline_exceeded ||
                    done.error().code == error_code::transport_failed));
            }
            if (each.applied && (done || done.error().effect == effect::none)) {
                auto const found = truth.find("a", 1);
                REQUIRE(found);
                CHECK(each.applied(*found) == done.has_value());
            }
        }
    }
    proxy.release();
    CHECK(ready.scan_table().count());
    std::printf("PostgreSQL, silent at %lld messages of %zu verbs: at most %.0f ms behind the deadline\n",
        static_cast<long long>(stops), verbs().size(), std::chrono::duration<double, std::milli>{longest}.count());
}

TEST_CASE("postgres: a cancelled call ends even if the server is silent") {
    if (postgres_server() == nullptr) { return; }
    stopping_proxy proxy{postgres_server()};
    auto const through = postgres_backend::connect(proxy.connection_string(), own_schema()).value();
    table<seat>{through, "seats"}.create().value();
    cancellation_source stop;
    call_options calls;
    calls.cancellation = stop.token();
    table<seat> const seats{through, "seats", calls};
    proxy.stop_behind(0);
    std::thread soon{[&] {
        std::this_thread::sleep_for(100ms);
        stop.cancel();
    }};
    result<void> ended;
    auto const took = time_of([&] { ended = seats.insert({"a", 1, 1, {}}); });
    soon.join();
    REQUIRE(!ended);
    CHECK(ended.error().code == error_code::cancelled);
    CHECK(took < 2s); // PQcancel alone would wait as long as the silence lasts
    proxy.release();
    table<seat> const again{through, "seats"};
    CHECK(again.insert({"a", 2, 1, {}}));
}

TEST_CASE(
    "postgres: a write whose commit is not answered has an unknown effect at its deadline, without further waiting") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    stopping_proxy proxy{postgres_server()};
    auto const through = postgres_backend::connect(proxy.connection_string(), options).value();
    table<seat>{through, "seats"}.create().value();
    call_options calls;
    calls.timeout = deadline;
    table<seat> const seats{through, "seats", calls};
    seats.insert({"a", 0, 1, {}}).value();
    proxy.release();
    seats.insert({"a", 1, 1, {}}).value();
    std::int64_t const messages = proxy.passed();
    bool unknown = false;
    for (std::int64_t stop = messages; stop > 0 && !unknown; --stop) {
        proxy.release();
        static_cast<void>(seats.find("a", 0));
        proxy.release();
        proxy.stop_behind(stop);
        result<void> const done = seats.insert({"a", 1000 + static_cast<std::int32_t>(stop), 1, {}});
        unknown = !done && done.error().effect == effect::unknown;
    }
    CHECK(unknown);
    proxy.release();
}

TEST_CASE("postgres: connecting ends at its timeout, whichever message gets through last") {
    if (postgres_server() == nullptr) { return; }
    auto options = own_schema();
    stopping_proxy proxy{postgres_server()};
    REQUIRE(postgres_backend::connect(proxy.connection_string(), options));
    proxy.release();
    REQUIRE(postgres_backend::connect(proxy.connection_string(), options));
    std::int64_t const messages = proxy.passed();
    options.connect_timeout = 300ms;
    for (std::int64_t stop = 0; stop < messages; stop += static_cast<std::int64_t>(rounds(9, 1))) {
        INFO("silent behind message " << stop << " of " << messages);
        std::chrono::nanoseconds late{};
        result<void> done;
        for (int attempt = 0; attempt < 4 && (attempt == 0 || late > allowance); ++attempt) {
            proxy.release();
            proxy.stop_behind(stop);
            late = time_of([&] { done = postgres_backend::connect(proxy.connection_string(), options); }) -
                options.connect_timeout;
        }
        CHECK(late <= allowance);
        CHECK((!done && done.error().code == error_code::transport_failed));
    }
    proxy.release();
}

TEST_CASE("postgres: a silent host gets its share of the time, then the next host is tried") {
    if (postgres_server() == nullptr) { return; }
    int const listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    REQUIRE(::bind(listener, reinterpret_cast<sockaddr const*>(&name), size) == 0);
    REQUIRE(::listen(listener, 50) == 0); // the kernel accepts connections, and nobody answers
    REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&name), &size) == 0);
    std::string both = postgres_server();
    both.insert(both.find("host=") + 5, "127.0.0.1,");
    both.insert(both.find("port=") + 5, std::to_string(ntohs(name.sin_port)) + ",");
    auto options = own_schema();

    options.connect_timeout = 2s;
    CHECK(postgres_backend::connect(both, options)); // one second each
    options.connect_timeout = 60s;
    std::chrono::nanoseconds const took =
        time_of([&] { CHECK(postgres_backend::connect(both + " connect_timeout=1", options)); });
    CHECK(took < 20s);

    // A call with a deadline opens a connection like that, too.
    options.connect_timeout = 10s;
    auto const store = postgres_backend::connect(both + " connect_timeout=1", options).value();
    call_options calls;
    calls.timeout = 100ms;
    table<seat>{store, "seats"}.create().value();
    std::vector<std::thread> callers;
    for (std::int32_t number = 0; number < 4; ++number) {
        callers.emplace_back([&, number] {
            result<void> done;
            auto const late =
                time_of([&] { done = table<seat>{store, "seats", calls}.insert({"a", number, 1, {}}); }) - 100ms;
            if (!done && late > 1s) {
                std::printf("late by %.1f s: %s\n", std::chrono::duration<double>{late}.count(),
                    done.error().to_string().c_str());
                std::abort();
            }
        });
    }
    for (std::thread& each : callers) { each.join(); }
    ::close(listener);
}
