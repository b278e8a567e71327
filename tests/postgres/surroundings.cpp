// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Unusual databases: other encodings, roles with few privileges and settings of their own, sessions that are terminated, a full
// pool, several processes that create the tables at once, tables that are dropped.

#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/cutting_proxy.hpp>
#include <support/long.hpp>
#include <support/postgres_server.hpp>
#include <support/tally.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <fstream>
#include <iterator>
#include <mutex>
#include <thread>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Runs statements past the library, as the owner of the server.
void run_sql(std::string const& text) {
    std::string const command = "psql -X -q -v ON_ERROR_STOP=1 \"$ENTITABLE_POSTGRES\" -c \"" + text + "\" >/dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
}

/// The connection string of the server with a setting replaced.
std::string server_with(std::string const& setting, std::string const& value) {
    std::string said = postgres_server();
    std::size_t const at = said.find(setting + "=");
    return said.replace(at, said.find(' ', at) - at, setting + "=" + value);
}

/// Created for one test, and removed with it.
struct role {
    std::string name = own_schema().schema;
    explicit role(std::string const& rights = {}) { run_sql("CREATE ROLE " + name + " LOGIN " + rights); }
    ~role() {
        std::string const command = "psql -X -q \"$ENTITABLE_POSTGRES\" -c 'DROP OWNED BY " + name +
            " CASCADE' -c 'DROP ROLE " + name + "' >/dev/null 2>&1";
        static_cast<void>(std::system(command.c_str()));
    }
    [[nodiscard]] std::string server() const { return server_with("user", name); }
};

bool works(postgres_backend const& store) {
    table<mark> const marks{store, "marks"};
    std::string const writer = "\xE9\xBE\x8D\xC3\xA9\xF0\x9F\x98\x80";
    bool const good = marks.create() && marks.insert({writer, 1, 1, "\xE4\xB8\x80"}) &&
        marks.get(writer, 1, 1).value().text == "\xE4\xB8\x80" && marks.scan_table().count().value() == 1;
    return good && marks.remove(writer, 1, 1, any_etag) && marks.drop();
}

} // namespace

TEST_CASE("postgres: the encoding of the database does not matter") {
    if (postgres_server() == nullptr) { return; }
    for (std::string const encoding : {"LATIN1", "SQL_ASCII", "EUC_JP"}) {
        std::string const name = own_schema().schema;
        run_sql("CREATE DATABASE " + name + " TEMPLATE template0 LOCALE 'C' ENCODING '" + encoding + "'");
        {
            auto const store =
                postgres_backend::connect(std::string{postgres_server()} + " dbname=" + name, own_schema());
            INFO(encoding << ": " << (store ? "" : store.error().to_string()));
            REQUIRE(store);
            CHECK(works(*store));
        }
        run_sql("DROP DATABASE " + name);
    }
}

TEST_CASE("postgres: a role without privileges gets typed errors, and the privileges of a schema owner suffice") {
    if (postgres_server() == nullptr) { return; }
    auto options = own_schema();
    role const plain;
    CHECK(postgres_backend::connect(plain.server(), options).error().code == error_code::authorization_failure);
    auto const owner = postgres_backend::connect(postgres_server(), options).value();
    table<mark>{owner, "marks"}.create().value();
    CHECK(postgres_backend::connect(plain.server(), options).error().code == error_code::authorization_failure);

    run_sql("GRANT USAGE ON SCHEMA " + options.schema + " TO " + plain.name +
        "; GRANT SELECT ON ALL TABLES IN SCHEMA " + options.schema + " TO " + plain.name);
    auto const reader = postgres_backend::connect(plain.server(), options).value();
    table<mark> const read{reader, "marks"};
    CHECK(read.scan_table().count().value() == 0);
    auto const refused = read.insert({"w", 1, 1, ""});
    REQUIRE(!refused);
    CHECK(refused.error().code == error_code::authorization_failure);
    CHECK(refused.error().effect == effect::none);
    CHECK(table<mark>{reader, "others"}.create().error().code == error_code::authorization_failure);
    CHECK(read.drop().error().code == error_code::authorization_failure);

    CHECK(postgres_backend::connect(server_with("dbname", "no_such_database"), options).error().code ==
        error_code::store_foreign);
    role const alone{"CONNECTION LIMIT 0"};
    CHECK(postgres_backend::connect(alone.server(), options).error().code == error_code::server_busy);

    // A role that may create a schema needs no more: it can also find the outcome of a commit whose answer is lost.
    role const maker;
    run_sql("GRANT CREATE ON DATABASE postgres TO " + maker.name);
    auto const made = own_schema();
    cutting_proxy proxy{maker.server()};
    auto const through = postgres_backend::connect(proxy.connection_string(), made).value();
    CHECK(works(through));
    table<mark> const marks{through, "marks"};
    marks.create().value();
    proxy.cut(cutting_proxy::at::commit_after);
    CHECK(marks.insert({"w", 1, 1, "x"}));
    CHECK(proxy.cuts() == 1);
}

TEST_CASE("postgres: the commands in the guide for administrators give each role its documented privileges") {
    if (postgres_server() == nullptr) { return; }
    std::ifstream page{ENTITABLE_GUIDE "/postgres_operation.md"};
    std::string const text{std::istreambuf_iterator<char>{page}, {}};
    std::vector<std::string> blocks;
    for (std::size_t at = text.find("```sql\n"); at != std::string::npos; at = text.find("```sql\n", at)) {
        std::size_t const end = text.find("```", at + 7);
        blocks.push_back(text.substr(at + 7, end - at - 7));
        at = end;
    }
    REQUIRE(blocks.size() == 4); // contents of the database, roles, privileges, vacuum

    std::string const database = own_schema().schema;
    run_sql("CREATE DATABASE " + database);
    temporary_folder const folder;
    auto const run = [&](std::string const& block) {
        std::ofstream{folder / "block.sql"} << block;
        std::string const command = "psql -X -q -v ON_ERROR_STOP=1 \"$ENTITABLE_POSTGRES dbname=" + database +
            "\" -f " + (folder / "block.sql") + " >/dev/null";
        return std::system(command.c_str()) == 0;
    };
    auto const as = [&](std::string const& user, bool create) {
        postgres_options options;
        options.create = create;
        return postgres_backend::connect(server_with("user", user) + " dbname=" + database, options);
    };
    CHECK(run(blocks[1]));
    {
        auto const owner = as("tables_owner", true);
        INFO((owner ? "" : owner.error().to_string()));
        REQUIRE(owner);
        CHECK(run(blocks[2]));
        CHECK(run(blocks[0]));
        CHECK(run(blocks[3]));
        auto const writer = as("tables_writer", false).value();
        CHECK(works(writer));
        table<mark> const marks{writer, "kept"};
        CHECK(marks.create());
        CHECK(marks.insert({"w", 1, 1, "x"}));
        auto const reader = as("tables_reader", false).value();
        CHECK(table<mark>{reader, "kept"}.get("w", 1, 1).value().text == "x");
        CHECK(
            table<mark>{reader, "kept"}.remove("w", 1, 1, any_etag).error().code == error_code::authorization_failure);
        CHECK(as("tables_reader", true)); // there is nothing to create
    }
    run_sql("DROP DATABASE " + database + " WITH (FORCE)");
    for (char const* name : {"tables_owner", "tables_writer", "tables_reader"}) {
        run_sql(std::string{"DROP ROLE "} + name);
    }
}

TEST_CASE("postgres: settings of a role change nothing or return typed errors") {
    if (postgres_server() == nullptr) { return; }
    auto const with = [&](std::string const& settings, auto const& check) {
        INFO(settings);
        role const odd;
        run_sql("GRANT CREATE ON DATABASE postgres TO " + odd.name);
        for (std::size_t at = 0; at < settings.size();) {
            std::size_t const end = std::min(settings.find(';', at), settings.size());
            run_sql("ALTER ROLE " + odd.name + " SET " + settings.substr(at, end - at));
            at = end + 1;
        }
        check(postgres_backend::connect(odd.server(), own_schema()));
    };
    with("statement_timeout = '1ms';default_transaction_isolation = serializable;client_min_messages = error;"
         "bytea_output = escape;DateStyle = German;TimeZone = 'Asia/Tokyo';standard_conforming_strings = off;"
         "search_path = 'nowhere';client_encoding = 'LATIN1';IntervalStyle = iso_8601;extra_float_digits = -15",
        [](auto const& store) {
            INFO((store ? "" : store.error().to_string()));
            REQUIRE(store);
            CHECK(works(*store));
        });
    with("default_transaction_read_only = on", [](auto const& store) {
        REQUIRE(!store);
        CHECK(store.error().code == error_code::store_read_only);
    });
    with("idle_in_transaction_session_timeout = '50ms'", [](auto const& store) {
        CHECK(store->store().create_table("t", "t").value());
        int runs = 0;
        auto const slow = store->store().update("t", "p", [&](postgres_store::transaction& rows) {
            std::this_thread::sleep_for(std::chrono::milliseconds{++runs == 1 ? 300 : 0});
            rows.put("r", "bytes");
            return true;
        });
        // The server terminated the session before anything was sent: nothing has changed, or the call was repeated.
        bool found = store->store().get("t", "p", "r", [](std::string_view) {}).value() == lookup::found;
        CHECK(found == slow.has_value());
        CHECK((slow || slow.error().effect == effect::none));
        CHECK((slow || slow.error().code == error_code::transport_failed));
    });
    with("lock_timeout = '20ms'", [](auto const& store) {
        CHECK(store->store().create_table("t", "t").value());
        auto const held = store->store().update("t", "p", [&](postgres_store::transaction& rows) {
            auto const waited = store->store().update("t", "p", [](postgres_store::transaction&) { return true; });
            CHECK((!waited && waited.error().code == error_code::store_busy && waited.error().effect == effect::none));
            rows.put("r", "bytes");
            return true;
        });
        CHECK(held.value() == lookup::found);
    });
}

TEST_CASE("postgres: a full pool reports that it is full and remains usable") {
    if (postgres_server() == nullptr) { return; }
    auto options = own_schema();
    options.connections = 2;
    options.longest_wait = std::chrono::milliseconds{150};
    auto const backend = postgres_backend::connect(postgres_server(), options).value();
    postgres_store& store = backend.store();
    CHECK(store.create_table("t", "t").value());
    auto const put = [](postgres_store::transaction& rows) {
        rows.put("r", "bytes");
        return true;
    };
    auto const outer = store.update("t", "one", [&](postgres_store::transaction& first) {
        auto const inner = store.update("t", "two", [&](postgres_store::transaction& second) {
            auto const third = store.update("t", "three", put);
            CHECK((!third && third.error().code == error_code::store_busy && third.error().effect == effect::none));
            call soon;
            soon.deadline = store.time().steady() + std::chrono::milliseconds{30};
            auto const read = store.get("t", "one", "r", [](std::string_view) {}, soon);
            CHECK((!read && read.error().code == error_code::deadline_exceeded));
            return put(second);
        });
        CHECK(inner.value() == lookup::found);
        return put(first);
    });
    CHECK(outer.value() == lookup::found);
    CHECK(store.update("t", "three", put).value() == lookup::found);
}

TEST_CASE("postgres: processes that create the tables concurrently all succeed") {
    if (postgres_server() == nullptr) { return; }
    for (std::size_t round = 0; round < rounds(4, 50); ++round) {
        auto const options = own_schema();
        std::vector<child_process> children;
        for (int process = 0; process < 4; ++process) {
            children.emplace_back([&] {
                auto const store = postgres_backend::connect(postgres_server(), options);
                if (!store) { std::fprintf(stderr, "%s\n", store.error().to_string().c_str()); }
                auto const made = store ? table<mark>{*store, "marks"}.create() : result<void>{};
                return store && (made || made.error().code == error_code::table_already_exists);
            });
        }
        for (child_process& each : children) { CHECK(each.succeeds()); }
    }
}

TEST_CASE("postgres: sessions that the server terminates under load lose nothing, and no read fails") {
    if (postgres_server() == nullptr) { return; }
    auto const store = postgres_backend::connect(postgres_server(), own_schema()).value();
    table<mark> const marks{store, "marks"};
    marks.create().value();
    std::atomic<bool> stop{false};
    std::mutex mutex;
    tally noted;
    std::atomic<std::size_t> reads{0};
    std::string failed_read;
    std::vector<std::thread> running;
    for (int thread = 0; thread < 4; ++thread) {
        running.emplace_back([&, thread] {
            std::string const name = "w" + std::to_string(thread);
            for (std::int32_t batch = 0; !stop; ++batch) {
                auto const outcome = write_batch(marks, name, batch);
                auto const read = marks.find(name, batch, 0);
                std::lock_guard const lock{mutex};
                noted.note(name, batch, outcome);
                if (!read && failed_read.empty()) { failed_read = read.error().to_string(); }
                ++reads;
            }
        });
    }
    // A read is repeated once on a new connection, which must not be terminated before it was used.
    std::size_t used = 0;
    for (std::size_t round = 0; round < rounds(10, 200); ++round) {
        do { std::this_thread::sleep_for(std::chrono::milliseconds{30}); } while (reads < used + 100);
        run_sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'entitable'");
        used = reads;
    }
    stop = true;
    for (std::thread& each : running) { each.join(); }
    CHECK(noted.check(marks) == "");
    CHECK(noted.kept() > 10);
    CHECK(failed_read == "");
    std::printf("PostgreSQL, sessions ended: %zu batches acknowledged, %zu unknown, %zu reads\n", noted.kept(),
        noted.unknown(), reads.load());
}

TEST_CASE("postgres: calls return a typed error if their tables were dropped, until the tables are created again") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto const store = postgres_backend::connect(postgres_server(), options).value();
    CHECK(works(store));
    run_sql("SET client_min_messages = warning; DROP SCHEMA " + options.schema + " CASCADE");
    table<mark> const marks{store, "marks"};
    CHECK(marks.find("w", 1, 1).error().code == error_code::store_foreign);
    CHECK(marks.insert({"w", 1, 1, ""}).error().code == error_code::store_foreign);
    auto const again = postgres_backend::connect(postgres_server(), options);
    CHECK(works(*again));
    CHECK(works(store));
}
