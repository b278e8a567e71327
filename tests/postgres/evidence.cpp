// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// An answer needs evidence: with synchronous replication a commit is a success once a standby has it; other warnings do not mean a missing
// standby.

#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <support/catch.hpp>
#include <support/cutting_proxy.hpp>
#include <support/postgres_server.hpp>
#include <support/tally.hpp>

#include <atomic>
#include <thread>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

void run_sql(std::string const& text) {
    std::string const command =
        "PGOPTIONS='-c synchronous_commit=local' psql -X -q -v ON_ERROR_STOP=1 \"$ENTITABLE_POSTGRES\" -c \"" + text +
        "\" >/dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
}

/// A standby that commits wait for, and that does not exist.
struct missing_standby {
    missing_standby() {
        run_sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody_of_this_name'");
        run_sql("SELECT pg_reload_conf()");
        std::this_thread::sleep_for(200ms); // sessions read it when they are idle
    }
    ~missing_standby() {
        run_sql("ALTER SYSTEM RESET synchronous_standby_names");
        run_sql("SELECT pg_reload_conf()");
    }
};

} // namespace

TEST_CASE("postgres: a commit that reached no standby has an unknown effect, whatever ends the wait for the standby") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto const store = postgres_backend::connect(postgres_server(), options).value();
    table<mark> const marks{store, "marks"};
    marks.create().value();
    marks.insert({"w", 0, 0, ""}).value();
    for (std::string const ended : {"pg_terminate_backend", "pg_cancel_backend"}) {
        INFO(ended);
        result<written> done = failure{error_code::internal_error, "not run"};
        {
            missing_standby const waits;
            std::atomic<bool> over{false};
            std::thread writer{[&] {
                done = marks.insert({"w", 1, ended == "pg_cancel_backend" ? 1 : 2, "x"});
                over = true;
            }};
            for (int looked = 0; looked < 100 && !over;
                ++looked) { // the wait, and the wait of the query for its outcome
                run_sql("SELECT " + ended + "(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
                std::this_thread::sleep_for(50ms);
            }
            writer.join();
        }
        REQUIRE(!done);
        CHECK(done.error().effect == effect::unknown);
        CHECK(marks.find("w", 1, ended == "pg_cancel_backend" ? 1 : 2)
                .value()); // it is stored, and could have been lost with the server
    }
    // With a deadline the wait ends by itself.
    {
        missing_standby const waits;
        call_options calls;
        calls.timeout = 300ms;
        auto const late = table<mark>{store, "marks", calls}.insert({"w", 2, 1, "x"});
        REQUIRE(!late);
        CHECK(late.error().effect == effect::unknown);
    }
    CHECK(marks.insert({"w", 3, 1, "x"}));
}

TEST_CASE(
    "postgres: a commit without an answer is a success once the standby is known to have it", "[.][standby_commit]") {
    if (postgres_server() == nullptr || std::getenv("ENTITABLE_POSTGRES_CONTROL") == nullptr) { return; }
    REQUIRE(control_postgres("standby"));
    auto const options = own_schema();
    table<mark> const marks{postgres_backend::connect(postgres_server(), options).value(), "marks"};
    marks.create().value();
    cutting_proxy proxy{postgres_server()};
    table<mark> const cut{postgres_backend::connect(proxy.connection_string(), options).value(), "marks"};
    cut.insert({"w", 0, 0, ""}).value();
    proxy.cut(cutting_proxy::at::commit_after);
    CHECK(cut.insert({"w", 0, 1, ""}));
    CHECK(proxy.cuts() == 1);
}

TEST_CASE("postgres: a warning from a trigger at COMMIT is not mistaken for a missing standby") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto const store = postgres_backend::connect(postgres_server(), options).value();
    table<mark> const marks{store, "marks"};
    marks.create().value();
    run_sql("CREATE FUNCTION " + options.schema +
        ".warns() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''of a trigger''; RETURN NULL; END'; CREATE "
        "CONSTRAINT TRIGGER "
        "warns AFTER INSERT ON " +
        options.schema + ".entities DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION " + options.schema +
        ".warns()");
    auto const done = marks.insert({"w", 1, 1, "x"});
    INFO((done ? "" : done.error().to_string()));
    CHECK(done);
}
