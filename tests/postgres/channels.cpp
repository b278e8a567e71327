// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Many requests of one thread at once: on few connections, in order, and with the outcome that each had, whatever happens to the connections.

#include <entitable/async.hpp>
#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>
#include <entitable/testing/conformance.hpp>

#include <support/bouncer.hpp>
#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/postgres_server.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

// GCC 12 requires linkage for variables that a coroutine stores.
namespace pg_channels {

struct item {
    std::string shelf;
    std::int32_t number{};
    std::int64_t value{};
};
ENTITABLE(item, partition_key(shelf), row_key(number), properties(value))

/// The output of `psql`.
inline std::string told(std::string const& text) {
    std::string const command = "psql -X -A -t -q '" + std::string{postgres_server()} + "' -c \"" + text + "\" 2>&1";
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    std::string all;
    char buffer[256];
    while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe) != nullptr) { all += buffer; }
    ::pclose(pipe);
    return all.substr(0, all.find_last_not_of('\n') + 1);
}

/// Sends each request through a channel of its own.
struct by_channel {
    using is_transport = void;
    using visits_entities = by_channel;
    using visits_pages = by_channel;
    postgres_backend below;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        poll_driver io;
        auto const way = below.open(io);
        std::optional<result<response_of<Request>>> answer;
        way->send(request, context, &answer);
        while (!answer) {
            way->poll(io.time().steady(), [&](completion& done) { answer.emplace(std::move(done.answer<Request>())); });
            if (!answer) {
                if (context.cancellation.cancelled()) {
                    way->cancel(&answer, {error_code::cancelled, "the call was cancelled"});
                }
                io.wait((std::min)(way->wakes_at(), io.time().steady() + 20ms));
            }
        }
        return *std::move(answer);
    }
};

struct fixture {
    explicit fixture(postgres_options with = own_schema(), std::string const& server = postgres_server())
        : options(std::move(with)), store(postgres_backend::connect(server, options).value()), all(any_store{store}) {
        items.create().value();
    }
    postgres_options options;
    postgres_backend store;
    any_store all; ///< one for all tables of a loop
    table<item> items{all, "items"};
};

inline task<> read(
    async_table<item> from, std::string shelf, std::int32_t number, std::vector<result<std::int64_t>>& to) {
    auto found = co_await from.get(shelf, number);
    to.push_back(found ? result<std::int64_t>{found->value} : result<std::int64_t>{std::move(found).as_failure()});
}
inline task<> insert(async_table<item> into, std::string shelf, std::int32_t number, std::vector<result<written>>& to) {
    item const made{shelf, number, number};
    to[static_cast<std::size_t>(number)] = co_await into.insert(made);
}
inline task<> put(
    async_table<item> into, std::string shelf, std::int32_t number, std::int64_t value, std::vector<written>& to) {
    item const made{shelf, number, value};
    auto done = co_await into.insert_or_replace(made);
    if (done) { to.push_back(*done); }
}

inline std::string shelf_of(std::int32_t number) { return "s" + std::to_string(number % 40); }

} // namespace pg_channels

using namespace pg_channels;

TEST_CASE("conformance: postgres_backend through its channel") {
    if (postgres_server() == nullptr) { return; }
    auto const store = postgres_backend::connect(postgres_server(), own_schema()).value();
    for (std::string const& failure : testing::conformance::run([&]() -> any_store { return by_channel{store}; })) {
        FAIL_CHECK(failure.substr(0, 2000));
    }
}

TEST_CASE(
    "postgres channel: hundreds of requests share few connections, and the writes of a partition keep their order") {
    if (postgres_server() == nullptr) { return; }
    fixture with;
    event_loop loop;
    async_table<item> const items{loop, with.all, "items"};
    constexpr std::int32_t count = 2000;
    std::vector<result<written>> inserted(count, written{});
    for (std::int32_t number = 0; number < count; ++number) {
        loop.spawn(insert(items, shelf_of(number), number, inserted));
    }
    loop.run();
    for (auto const& each : inserted) { CHECK(each); }
    std::vector<result<std::int64_t>> found;
    for (std::int32_t number = 0; number < count; ++number) {
        loop.spawn(read(items, shelf_of(number), number, found));
    }
    loop.spawn(read(items, "s1", -1, found));
    loop.run();
    REQUIRE(found.size() == count + 1);
    std::int64_t sum = 0;
    for (auto const& each : found) { sum += each ? *each : 0; }
    CHECK(sum == std::int64_t{count} * (count - 1) / 2);
    CHECK(std::count_if(found.begin(), found.end(), [](auto const& each) { return !each; }) == 1);
    // One of the reads, and at most four of the writes.
    CHECK(std::stoi(told("SELECT count(*) FROM pg_stat_activity WHERE application_name = \\$\\$entitable\\$\\$ AND "
                         "query LIKE \\$\\$%" +
              with.options.schema + ".%\\$\\$")) <= 5);
    std::vector<written> order;
    for (std::int64_t turn = 0; turn < 100; ++turn) { loop.spawn(put(items, "s1", 1, turn, order)); }
    loop.run();
    REQUIRE(order.size() == 100);
    auto const time_of = [](written const& of) { return of.etag.to_string().substr(0, of.etag.to_string().find('Z')); };
    CHECK(std::is_sorted(order.begin(), order.end(),
        [&](written const& left, written const& right) { return time_of(left) < time_of(right); }));
    CHECK(with.items.get("s1", 1).value().value == 99);
}

TEST_CASE("postgres channel: a statement that fails fails alone") {
    if (postgres_server() == nullptr) { return; }
    fixture with;
    for (std::int32_t number = 0; number < 300; ++number) { with.items.insert({"s", number, number}).value(); }
    std::string const schema = with.options.schema;
    // Every tenth row cannot be read; inserts of every seventh number are refused.
    REQUIRE(told("SET search_path = " + schema +
        "; CREATE FUNCTION poisoned(value bytea, row_key bytea) RETURNS bytea LANGUAGE plpgsql AS "
        "\\$f\\$ BEGIN IF key_text(row_key) ~ 'a|0\\$' THEN RAISE 'poisoned'; END IF; RETURN value; END \\$f\\$")
            .empty());
    // Keys are numbers as text of fixed width in the store; the last digit is what the functions look at.
    REQUIRE(told("ALTER FUNCTION " + schema + ".poisoned SET search_path = " + schema).empty());
    REQUIRE(told("SET search_path = " + schema +
        "; ALTER TABLE entities RENAME TO kept; CREATE VIEW entities AS SELECT "
        "table_id, partition_key, row_key, version, poisoned(value, row_key) AS value FROM kept")
            .empty());
    event_loop loop;
    async_table<item> const items{loop, with.all, "items"};
    std::vector<result<std::int64_t>> found;
    for (std::int32_t number = 0; number < 300; ++number) { loop.spawn(read(items, "s", number, found)); }
    loop.run();
    REQUIRE(found.size() == 300);
    std::size_t refused = 0;
    std::int64_t sum = 0;
    for (auto const& each : found) {
        refused += each ? 0U : 1U;
        sum += each ? *each : 0;
        if (!each) {
            CHECK(each.error().code == error_code::store_failed);
            CHECK(each.error().server_message == "poisoned");
        }
    }
    CHECK(refused == 30);
    CHECK(sum == 300 * 299 / 2 - 30 * 145 + 0 * refused);
    // All of them fail: still each by itself.
    REQUIRE(told("DROP VIEW " + schema + ".entities").empty());
    found.clear();
    for (std::int32_t number = 0; number < 300; ++number) { loop.spawn(read(items, "s", number, found)); }
    loop.run();
    CHECK(std::count_if(found.begin(), found.end(),
              [](auto const& each) { return !each && each.error().code == error_code::store_foreign; }) == 300);
    REQUIRE(told("ALTER TABLE " + schema + ".kept RENAME TO entities").empty());
    REQUIRE(
        told("CREATE FUNCTION " + schema + ".picky() RETURNS trigger LANGUAGE plpgsql AS \\$f\\$ BEGIN IF " + schema +
            ".key_text(NEW.partition_key) = 's3' THEN RAISE 'not there'; END IF; RETURN NEW; END \\$f\\$; CREATE "
            "TRIGGER picky BEFORE "
            "INSERT ON " +
            schema + ".entities FOR EACH ROW EXECUTE FUNCTION " + schema + ".picky()")
            .empty());
    std::vector<result<written>> inserted(400, written{});
    for (std::int32_t number = 0; number < 400; ++number) {
        loop.spawn(insert(items, shelf_of(number), number, inserted));
    }
    loop.run();
    for (std::int32_t number = 0; number < 400; ++number) {
        auto const& each = inserted[static_cast<std::size_t>(number)];
        CHECK(each.has_value() == (shelf_of(number) != "s3"));
        CHECK(with.items.find(shelf_of(number), number).value().has_value() == each.has_value());
    }
    CHECK(inserted[3].error().effect == effect::none);
}

TEST_CASE("postgres channel: connections that break under hundreds of requests: reads succeed, and no outcome of a "
          "write is wrong") {
    if (postgres_server() == nullptr) { return; }
    fixture with;
    for (std::int32_t number = 0; number < 40; ++number) { with.items.insert({"read", number, number}).value(); }
    event_loop loop;
    async_table<item> const items{loop, with.all, "items"};
    std::atomic<bool> stop{false};
    std::thread strikes{[&] {
        while (!stop) {
            std::this_thread::sleep_for(80ms);
            static_cast<void>(told("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
                                   "\\$\\$entitable\\$\\$"));
        }
    }};
    auto const turns = static_cast<std::int32_t>(rounds(10, 100));
    constexpr std::int32_t count = 500;
    std::map<std::string, std::size_t> tally;
    std::size_t lies = 0;
    for (std::int32_t round = 0; round < turns; ++round) {
        std::vector<result<std::int64_t>> found;
        std::vector<result<written>> inserted(count, written{});
        std::string const shelf = "r" + std::to_string(round) + "_";
        for (std::int32_t number = 0; number < count; ++number) {
            loop.spawn(insert(items, shelf + std::to_string(number % 9), number, inserted));
            loop.spawn(read(items, "read", number % 40, found));
        }
        loop.run();
        for (auto const& each : found) { ++tally[each ? "read" : "read: " + std::string{each.error().to_string()}]; }
        CHECK(found.size() == count);
        for (std::int32_t number = 0; number < count; ++number) {
            auto const& each = inserted[static_cast<std::size_t>(number)];
            auto known = with.items.find(shelf + std::to_string(number % 9), number);
            while (!known) { known = with.items.find(shelf + std::to_string(number % 9), number); }
            bool const exists = known->has_value();
            bool const unknown = !each && each.error().effect == effect::unknown;
            ++tally[each ? "insert" : unknown ? "insert unknown" : "insert refused"];
            lies += !unknown && exists != each.has_value() ? 1U : 0U;
        }
    }
    stop = true;
    strikes.join();
    CHECK(lies == 0);
    for (auto const& [what, times] : tally) { std::printf("  %6zu %s\n", times, what.c_str()); }
    CHECK(tally["insert"] > static_cast<std::size_t>(turns) * count * 3 / 4);
    CHECK(tally["read"] > static_cast<std::size_t>(turns) * count * 3 / 4);
}

TEST_CASE("postgres channel: deadlines and cancellation end a call behind a lock, and the other calls") {
    if (postgres_server() == nullptr) { return; }
    fixture with;
    for (std::int32_t number = 0; number < 50; ++number) { with.items.insert({"s", number, number}).value(); }
    // Another session holds a row for a second.
    std::thread holder{[&] {
        static_cast<void>(told("BEGIN; SELECT 1 FROM " + with.options.schema + ".entities WHERE " +
            with.options.schema + ".key_text(row_key) = (SELECT min(" + with.options.schema +
            ".key_text(row_key)) FROM " + with.options.schema + ".entities) FOR UPDATE; SELECT pg_sleep(1.5); COMMIT"));
    }};
    std::this_thread::sleep_for(400ms);
    event_loop loop;
    call_options hurried;
    hurried.timeout = 200ms;
    cancellation_source source;
    call_options cancelled;
    cancelled.cancellation = source.token();
    async_table<item> const items{loop, with.all, "items"};
    async_table<item> const soon{loop, with.all, "items", hurried};
    async_table<item> const ended{loop, with.all, "items", cancelled};
    auto const begun = std::chrono::steady_clock::now();
    std::vector<result<std::int64_t>> found;
    std::vector<result<written>> waited;
    std::vector<std::chrono::nanoseconds> times;
    auto const replace = [](async_table<item> in, std::int32_t number, std::chrono::steady_clock::time_point from,
                             std::vector<result<written>>& to, std::vector<std::chrono::nanoseconds>& after) -> task<> {
        item const changed{"s", number, -1};
        to.push_back(co_await in.insert_or_replace(changed));
        after.push_back(std::chrono::steady_clock::now() - from);
    };
    loop.spawn(replace(soon, 0, begun, waited, times));
    loop.spawn(replace(ended, 0, begun, waited, times));
    std::thread canceller{[&] {
        std::this_thread::sleep_for(300ms);
        source.cancel();
    }};
    for (std::int32_t number = 0; number < 50; ++number) { loop.spawn(read(items, "s", number, found)); }
    loop.run();
    canceller.join();
    CHECK(std::count_if(found.begin(), found.end(), [](auto const& each) { return each.has_value(); }) == 50);
    REQUIRE(waited.size() == 2);
    // The server ended the first one at its deadline. The second one waited behind it, and was sent.
    REQUIRE_FALSE(waited[0]);
    CHECK(waited[0].error().code == error_code::deadline_exceeded);
    CHECK(waited[0].error().effect == effect::none);
    CHECK(times[0] < 350ms);
    REQUIRE_FALSE(waited[1]);
    CHECK(waited[1].error().code == error_code::cancelled);
    CHECK(waited[1].error().effect == effect::unknown);
    CHECK(times[1] < 500ms);
    holder.join();

    // A loop that is stopped, and tasks that are destroyed while their requests are in flight.
    std::vector<result<written>> inserted(600, written{});
    for (std::int32_t number = 100; number < 600; ++number) { loop.spawn(insert(items, "t", number, inserted)); }
    loop.turn();
    loop.turn();
    loop.stop();
    loop.run();
    for (std::int32_t number = 100; number < 600; ++number) {
        auto const& each = inserted[static_cast<std::size_t>(number)];
        bool const exists = with.items.find("t", number).value().has_value();
        CHECK((each || each.error().code == error_code::cancelled));
        CHECK((exists == each.has_value() || each.error().effect == effect::unknown));
    }
    {
        event_loop left;
        async_table<item> const others{left, with.all, "items"};
        for (std::int32_t number = 0; number < 500; ++number) {
            left.spawn(insert(others, "u", number, inserted));
            left.spawn(read(others, "s", number % 50, found));
        }
        left.turn();
        left.turn();
        left.turn();
    }
    CHECK(with.items.where(fields<item>::shelf == "u").count().value() <= 500);
}

TEST_CASE(
    "postgres channel: transactions, pages and other threads share one or two connections with hundreds of requests") {
    if (postgres_server() == nullptr) { return; }
    for (std::size_t const connections : {std::size_t{1}, std::size_t{2}, std::size_t{16}}) {
        auto options = own_schema();
        options.connections = connections;
        fixture with{options};
        for (std::int32_t number = 0; number < 4; ++number) { with.items.insert({"bank", number, 100}).value(); }
        event_loop loop;
        async_table<item> const items{loop, with.all, "items"};
        std::size_t moved = 0;
        std::size_t wrong = 0;
        auto const move = [](async_table<item> in, std::int32_t from, std::size_t& done) -> task<> {
            auto const body = [from](auto& rows) -> result<void> {
                ENTITABLE_CHECK(rows.update(from, [](item& one) { --one.value; }));
                return rows.update((from + 1) % 4, [](item& one) { ++one.value; });
            };
            auto const result = co_await in.transact("bank", body);
            done += result ? 1U : 0U;
        };
        auto const look = [](async_table<item> in, std::size_t& bad) -> task<> {
            auto const all = co_await in.where(fields<item>::shelf == "bank").to();
            std::int64_t sum = 0;
            if (all) {
                for (item const& one : *all) { sum += one.value; }
            }
            bad += sum == 400 ? 0U : 1U;
        };
        std::atomic<std::size_t> blocking{0};
        std::vector<std::thread> threads;
        for (std::int32_t thread = 0; thread < 3; ++thread) {
            threads.emplace_back([&, thread] {
                for (std::int32_t number = 0; number < 50; ++number) {
                    blocking += with.items.insert({"thread" + std::to_string(thread), number, 1}) ? 1U : 0U;
                }
            });
        }
        std::vector<result<written>> inserted(300, written{});
        std::vector<result<std::int64_t>> found;
        for (std::int32_t number = 0; number < 300; ++number) {
            loop.spawn(insert(items, shelf_of(number), number, inserted));
            loop.spawn(read(items, "bank", number % 4, found));
            if (number % 6 == 0) {
                loop.spawn(move(items, number % 4, moved));
                loop.spawn(look(items, wrong));
            }
        }
        loop.run();
        for (std::thread& each : threads) { each.join(); }
        CHECK(moved == 50);
        CHECK(wrong == 0);
        CHECK(blocking == 150);
        CHECK(
            std::count_if(inserted.begin(), inserted.end(), [](auto const& each) { return each.has_value(); }) == 300);
        CHECK(std::count_if(found.begin(), found.end(), [](auto const& each) { return each.has_value(); }) == 300);
    }
}

TEST_CASE("postgres channel: a server without room for another connection is waited for") {
    if (postgres_server() == nullptr) { return; }
    fixture const with;
    std::string const role = with.options.schema + "_role";
    REQUIRE(told("CREATE ROLE " + role + " LOGIN CONNECTION LIMIT 2; GRANT USAGE ON SCHEMA " + with.options.schema +
        " TO " + role + "; GRANT ALL ON ALL TABLES IN SCHEMA " + with.options.schema + " TO " + role +
        "; GRANT ALL ON ALL SEQUENCES IN SCHEMA " + with.options.schema + " TO " + role)
            .empty());
    std::string server = postgres_server();
    server.replace(server.find("user=entitable"), 14, "user=" + role);
    {
        auto const store = postgres_backend::connect(server, with.options).value();
        any_store const all{store};
        event_loop loop;
        async_table<item> const items{loop, all, "items"};
        std::vector<result<written>> inserted(400, written{});
        std::vector<result<std::int64_t>> found;
        for (std::int32_t number = 0; number < 400; ++number) {
            loop.spawn(insert(items, shelf_of(number), number, inserted));
            loop.spawn(read(items, "none", number, found));
        }
        loop.run();
        for (auto const& each : inserted) { CHECK(each); }
        for (auto const& each : found) { CHECK(each.error().code == error_code::resource_not_found); }
    }
    static_cast<void>(told("DROP OWNED BY " + role + "; DROP ROLE " + role));
}

TEST_CASE("postgres channel: inserts that meet rows, missing tables and each other end as alone") {
    if (postgres_server() == nullptr) { return; }
    fixture with;
    with.items.insert({"s5", 5, 0}).value();
    event_loop loop;
    async_table<item> const items{loop, with.all, "items"};
    async_table<item> const none{loop, with.all, "none"};
    std::vector<result<written>> first(300, written{});
    std::vector<result<written>> second(300, written{});
    std::vector<result<written>> third(300, written{});
    for (std::int32_t number = 0; number < 300; ++number) {
        loop.spawn(insert(items, shelf_of(number), number, first));
        loop.spawn(insert(items, shelf_of(number), number, second));
        if (number % 3 == 0) { loop.spawn(insert(none, shelf_of(number), number, third)); }
    }
    loop.run();
    for (std::int32_t number = 0; number < 300; ++number) {
        auto const at = static_cast<std::size_t>(number);
        std::size_t const made = (first[at] ? 1U : 0U) + (second[at] ? 1U : 0U);
        CHECK(made == (number == 5 ? 0U : 1U));
        CHECK((first[at] || first[at].error().code == error_code::entity_already_exists));
        CHECK((second[at] || second[at].error().code == error_code::entity_already_exists));
        if (number % 3 == 0) { CHECK(third[at].error().code == error_code::table_not_found); }
    }
    // Groups of several processes, whose keys meet in different orders.
    std::atomic<std::size_t> made{0};
    std::vector<std::thread> loops;
    for (std::int32_t thread = 0; thread < 3; ++thread) {
        loops.emplace_back([&, thread] {
            auto const store = postgres_backend::connect(postgres_server(), with.options).value();
            any_store const all{store};
            event_loop own;
            async_table<item> const into{own, all, "items"};
            std::vector<result<written>> mine(1000, written{});
            for (std::int32_t number = 0; number < 600; ++number) {
                std::int32_t const key = thread == 0 ? number : thread == 1 ? 599 - number : (number * 7) % 600;
                own.spawn(insert(into, "many" + std::to_string(key % 50), key, mine));
            }
            own.run();
            for (std::size_t key = 0; key < 600; ++key) { made += mine[key] ? 1U : 0U; }
        });
    }
    for (std::thread& each : loops) { each.join(); }
    CHECK(made == 600);
}

TEST_CASE("postgres channel: behind PgBouncer") {
    if (!has_bouncer()) { return; }
    for (char const* const mode : {"session", "transaction"}) {
        bouncer const pool{mode};
        auto options = own_schema();
        options.connections = 3;
        fixture with{options, pool.connection_string()};
        event_loop loop;
        async_table<item> const items{loop, with.all, "items"};
        std::vector<result<written>> inserted(500, written{});
        for (std::int32_t number = 0; number < 500; ++number) {
            loop.spawn(insert(items, shelf_of(number), number, inserted));
        }
        loop.run();
        for (auto const& each : inserted) { CHECK(each); }
        std::vector<result<std::int64_t>> found;
        for (std::int32_t number = 0; number < 500; ++number) {
            loop.spawn(read(items, shelf_of(number), number, found));
        }
        loop.run();
        std::int64_t sum = 0;
        for (auto const& each : found) { sum += each ? *each : 0; }
        CHECK(sum == 500 * 499 / 2);
    }
}
