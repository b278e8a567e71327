// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Failures on the way to a server: versions, deadlines, connections that are cut before and after a commit, servers that are killed.

#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/cutting_proxy.hpp>
#include <support/long.hpp>
#include <support/postgres_server.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

struct mark {
    std::string place;
    std::int32_t number{};
    std::int64_t value{};
};
ENTITABLE(mark, partition_key(place), row_key(number), properties(value))

/// Runs a statement past the library, on a connection of its own.
void run_sql(postgres_options const& options, std::string const& text) {
    std::string const command =
        "psql -q -v ON_ERROR_STOP=1 \"$ENTITABLE_POSTGRES\" -c 'SET search_path = " + options.schema + "' -c \"" +
        text + "\" >/dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
}

} // namespace

TEST_CASE(
    "postgres: a store of a different version, kind or profile, and a missing server, are reported as typed errors") {
    if (postgres_server() == nullptr) { return; }
    auto options = own_schema();
    auto const first = postgres_backend::connect(postgres_server(), options);
    REQUIRE(first);
    CHECK(postgres_backend::connect(postgres_server(), options));
    {
        auto other = options;
        other.local.limits.table_names_without_case = !options.local.limits.table_names_without_case;
        CHECK(postgres_backend::connect(postgres_server(), other).error().code == error_code::store_foreign);
    }
    run_sql(options, "UPDATE state SET value = 3 WHERE name = \\$\\$version\\$\\$");
    child_process second{[&] {
        auto const opened = postgres_backend::connect(postgres_server(), options);
        return !opened && opened.error().code == error_code::store_newer;
    }};
    CHECK(second.succeeds());
    run_sql(options, "DROP TABLE state CASCADE; CREATE TABLE state (name text, value int8)");
    CHECK(postgres_backend::connect(postgres_server(), options).error().code == error_code::store_foreign);

    auto unmade = own_schema();
    unmade.create = false;
    CHECK(postgres_backend::connect(postgres_server(), unmade).error().code == error_code::store_foreign);
    unmade.schema = "a; DROP";
    CHECK(postgres_backend::connect(postgres_server(), unmade).error().code == error_code::invalid_input);
    CHECK(postgres_backend::connect("host=/nowhere", own_schema()).error().code == error_code::transport_failed);
    CHECK(
        postgres_backend::connect("host=/nowhere such=thing", own_schema()).error().code == error_code::invalid_input);
    std::string const stranger = std::string{postgres_server()} + " user=nobody_here";
    CHECK(postgres_backend::connect(stranger, own_schema()).error().code == error_code::authentication_failed);
}

TEST_CASE("postgres: a call ends at its deadline and changes nothing") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto const backend = postgres_backend::connect(postgres_server(), options).value();
    auto const others = postgres_backend::connect(postgres_server(), options).value();
    CHECK(backend.store().create_table("t", "t").value());
    auto short_wait = options;
    short_wait.longest_wait = std::chrono::milliseconds{200};
    auto const hasty = postgres_backend::connect(postgres_server(), short_wait).value();
    auto const stage = [](postgres_store::transaction& rows) {
        rows.put("r", "other");
        return true;
    };
    auto const held = others.store().update("t", "p", [&](postgres_store::transaction& rows) {
        rows.put("r", "first");
        call late;
        late.deadline = backend.store().time().steady() + std::chrono::milliseconds{100};
        auto const timed_out = backend.store().update("t", "p", stage, late);
        CHECK((!timed_out && timed_out.error().code == error_code::deadline_exceeded &&
            timed_out.error().effect == effect::none));
        cancellation_source stop;
        call cancelled;
        cancelled.cancellation = stop.token();
        std::thread soon{[&] {
            std::this_thread::sleep_for(std::chrono::milliseconds{50});
            stop.cancel();
        }};
        auto const ended = backend.store().update("t", "p", stage, cancelled);
        soon.join();
        CHECK((!ended && ended.error().code == error_code::cancelled && ended.error().effect == effect::none));
        auto const waited = hasty.store().update("t", "p", stage);
        CHECK((!waited && waited.error().code == error_code::store_busy && waited.error().effect == effect::none));
        CHECK(backend.store().update("t", "elsewhere", stage).value() == lookup::found);
        return true;
    });
    CHECK(held.value() == lookup::found);
    std::string read;
    CHECK(backend.store().get("t", "p", "r", [&](std::string_view bytes) { read = bytes; }).value() == lookup::found);
    CHECK(read == "first");
}

TEST_CASE("postgres: an exception thrown by a body is propagated, and the connection stays usable") {
    if (postgres_server() == nullptr) { return; }
    auto options = own_schema();
    options.connections = 1;
    auto const backend = postgres_backend::connect(postgres_server(), options).value();
    CHECK(backend.store().create_table("t", "t").value());
    for (int round = 0; round < 3; ++round) {
        CHECK_THROWS_AS(backend.store().update("t", "p",
                            [](postgres_store::transaction& rows) -> bool {
                                rows.put("r", "x");
                                throw std::runtime_error{"on purpose"};
                            }),
            std::runtime_error);
        CHECK(backend.store().get("t", "p", "r", [](std::string_view) {}).value() == lookup::absent);
    }
}

TEST_CASE("postgres: a dropped table has no rows when it is created again, and its versions increase") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto const backend = postgres_backend::connect(postgres_server(), options).value();
    table<mark> const marks{backend, "marks"};
    marks.create().value();
    auto all = marks.batch();
    for (std::int32_t row = 0; row < 100; ++row) { all.insert({"a", row, row}); }
    all.submit().value();
    CHECK(marks.scan_table().count().value() == 100);
    etag const last = marks.insert_or_replace({"a", 7, 8}).value().etag;
    marks.drop().value();
    marks.create().value();
    CHECK(marks.scan_table().count().value() == 0);
    CHECK(marks.insert({"a", 7, 7}).value().etag.timestamp() > last.timestamp());
}

TEST_CASE("postgres: a forked child gets an error and does not touch the connections of its parent") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto kept = std::optional{postgres_backend::connect(postgres_server(), options).value()};
    table<mark>{*kept, "marks"}.create().value();
    for (std::int32_t number = 0; number < 3; ++number) {
        child_process child{[&] {
            bool const told = table<mark>{*kept, "marks"}.find("p", number).error().code == error_code::store_failed;
            kept.reset(); // disconnects without notifying the server
            auto const own = postgres_backend::connect(postgres_server(), options);
            return told && own && table<mark>{*own, "marks"}.insert({"p", number, number});
        }};
        CHECK(child.succeeds());
        CHECK(table<mark>{*kept, "marks"}.get("p", number).value().value == number);
    }
}

TEST_CASE("postgres: a connection is cut before, during or after a commit") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto const direct = postgres_backend::connect(postgres_server(), options).value();
    table<mark> const marks{direct, "marks"};
    marks.create().value();
    cutting_proxy proxy{postgres_server()};
    auto const through = postgres_backend::connect(proxy.connection_string(), options).value();
    table<mark> const cut{through, "marks"};
    cut.insert({"p", 0, 0}).value();

    // Before the commit is sent: nothing was applied, and the update is repeated automatically on a new connection.
    proxy.cut(cutting_proxy::at::commit_before);
    cut.insert({"p", 1, 1}).value();
    CHECK(proxy.cuts() == 1);

    // After it: the server committed, no answer arrived, and the store queries the outcome.
    proxy.cut(cutting_proxy::at::commit_after);
    cut.insert({"p", 2, 2}).value();
    CHECK(proxy.cuts() == 2);
    CHECK(marks.get("p", 2).value().value == 2);

    // Without a server the effect is unknown, and a later read returns the outcome.
    proxy.cut(cutting_proxy::at::commit_after, true);
    auto const lost = cut.insert({"p", 3, 3});
    REQUIRE(!lost);
    CHECK(lost.error().code == error_code::transport_failed);
    CHECK(lost.error().effect == effect::unknown);
    CHECK(marks.get("p", 3).value().value == 3);
    proxy.cut(cutting_proxy::at::commit_before, true);
    auto const unsent = cut.insert({"p", 4, 4});
    REQUIRE(!unsent);
    CHECK(unsent.error().code == error_code::transport_failed);
    CHECK(marks.get("p", 4).error().code == error_code::resource_not_found);

    proxy.cut(cutting_proxy::at::nothing);
    cut.insert({"p", 5, 5}).value();
    CHECK(cut.scan_table().count().value() == 5);
}
