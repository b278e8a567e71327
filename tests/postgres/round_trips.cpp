// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What each verb sends: round trips, and statements that the server executes. Statements are prepared before they are counted.

#include <entitable/async.hpp>
#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/postgres.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>
#include <support/postgres_proxy.hpp>
#include <support/postgres_server.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
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

/// Forwards everything and counts what the client sends.
class counting_proxy final : public postgres_proxy {
public:
    explicit counting_proxy(std::string const& server) : postgres_proxy(server) { start(); }
    ~counting_proxy() override { finish(); }
    std::atomic<int> round_trips{0}; ///< Sync messages, and queries outside a pipeline
    std::atomic<int> statements{0};  ///< Execute messages
    std::atomic<int> prepared{0};    ///< Parse messages

private:
    void serve(int client, int server) override {
        std::string held;
        bool first = true;
        std::vector<char> buffer(1 << 16);
        while (!stopped()) {
            pollfd ends[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
            if (::poll(ends, 2, 10) <= 0) { continue; }
            if (ends[0].revents != 0) {
                ssize_t const got = ::recv(client, buffer.data(), buffer.size(), 0);
                if (got <= 0) { break; }
                held.append(buffer.data(), static_cast<std::size_t>(got));
                count(held, first);
                if (!send_all(server, {buffer.data(), static_cast<std::size_t>(got)})) { break; }
            }
            if (ends[1].revents != 0) {
                ssize_t const got = ::recv(server, buffer.data(), buffer.size(), 0);
                if (got <= 0 || !send_all(client, {buffer.data(), static_cast<std::size_t>(got)})) { break; }
            }
        }
    }
    /// The first message has no type.
    void count(std::string& held, bool& first) {
        for (;;) {
            std::size_t const head = first ? 0 : 1;
            if (held.size() < head + 4) { return; }
            std::uint32_t size = 0;
            for (std::size_t at = 0; at < 4; ++at) { size = size << 8U | static_cast<unsigned char>(held[head + at]); }
            if (held.size() < head + size) { return; }
            char const type = first ? ' ' : held[0];
            round_trips += type == 'S' || type == 'Q' ? 1 : 0;
            statements += type == 'E' ? 1 : 0;
            prepared += type == 'P' ? 1 : 0;
            first = false;
            held.erase(0, head + size);
        }
    }
};

} // namespace

TEST_CASE("postgres: each verb takes the expected round trips and statements") {
    if (postgres_server() == nullptr) { return; }
    counting_proxy proxy{postgres_server()};
    auto options = own_schema();
    options.connections = 1;
    auto const store = postgres_backend::connect(proxy.connection_string(), options).value();
    CHECK(proxy.prepared == 0); // each with its first use
    table<mark> const marks{store, "marks"};
    marks.create().value();
    std::int32_t next = 0;
    etag latest;
    auto const insert = [&] { latest = marks.insert({"p", ++next, 1}).value().etag; };
    struct verb {
        char const* name;
        int round_trips;
        int statements;
        std::function<void()> prepare;
        std::function<void()> run;
    };
    auto const nothing = [] {};
    std::vector<verb> const verbs{
        {"get", 1, 1, insert, [&] { marks.get("p", next).value(); }},
        {"get, absent", 1, 1, nothing, [&] { CHECK_FALSE(marks.find("p", -1).value()); }},
        {"insert", 1, 1, nothing, insert},
        {"insert, exists", 1, 1, insert,
            [&] { CHECK(marks.insert({"p", next, 1}).error().code == error_code::entity_already_exists); }},
        {"insert, no table", 1, 1, nothing,
            [&] { CHECK(table<mark>{store, "none"}.insert({"p", 1, 1}).error().code == error_code::table_not_found); }},
        {"insert_or_replace, new", 1, 1, nothing, [&] { marks.insert_or_replace({"p", ++next, 1}).value(); }},
        {"insert_or_replace", 1, 1, insert, [&] { marks.insert_or_replace({"p", next, 2}).value(); }},
        {"insert_or_replace, no table", 1, 1, nothing,
            [&] {
                CHECK(table<mark>{store, "none"}.insert_or_replace({"p", 1, 1}).error().code ==
                    error_code::table_not_found);
            }},
        {"replace under an ETag", 1, 1, insert, [&] { marks.replace({"p", next, 3}, latest).value(); }},
        {"replace of any version", 1, 1, insert, [&] { marks.replace({"p", next, 3}, any_etag).value(); }},
        {"replace, other version", 2, 2,
            [&] {
                insert();
                marks.insert_or_replace({"p", next, 3}).value();
            },
            [&] {
                CHECK(marks.replace({"p", next, 3}, latest).error().code == error_code::update_condition_not_satisfied);
            }},
        {"replace, absent", 2, 2, nothing,
            [&] { CHECK(marks.replace({"p", -1, 3}, any_etag).error().code == error_code::resource_not_found); }},
        {"replace, no table", 2, 2, nothing,
            [&] {
                CHECK(table<mark>{store, "none"}.replace({"p", 1, 1}, any_etag).error().code ==
                    error_code::table_not_found);
            }},
        {"remove", 1, 1, insert, [&] { marks.remove("p", next, latest).value(); }},
        {"remove, other version", 2, 2,
            [&] {
                insert();
                marks.insert_or_replace({"p", next, 3}).value();
            },
            [&] { CHECK(marks.remove("p", next, latest).error().code == error_code::update_condition_not_satisfied); }},
        {"merge", 2, 2, insert, [&] { marks.merge({"p", next, 4}, any_etag).value(); }},
        {"insert_or_merge, new", 2, 2, nothing, [&] { marks.insert_or_merge({"p", ++next, 4}).value(); }},
        {"update", 2, 2, insert, [&] { marks.update("p", next, [](mark& one) { ++one.value; }).value(); }},
        {"batch of 100", 2, 5, nothing,
            [&] {
                auto batch = marks.batch();
                for (int count = 0; count < 100; ++count) { batch.insert({"q", ++next, 1}); }
                batch.submit().value();
            }},
        {"count", 1, 2, nothing, [&] { CHECK(marks.scan_table().count().value() > 100); }},
        {"count of a partition", 1, 1, nothing,
            [&] { CHECK(marks.where(fields<mark>::place == "q").count().value() >= 100); }},
        {"page of nothing", 2, 2, nothing,
            [&] { CHECK(marks.where(fields<mark>::place == "none").take(10).to().value().empty()); }},
    };
    for (verb const& each : verbs) {
        INFO(each.name);
        for (bool const counted : {false, true}) {
            each.prepare();
            proxy.round_trips = 0;
            proxy.statements = 0;
            each.run();
            if (counted) {
                CHECK(proxy.round_trips == each.round_trips);
                CHECK(proxy.statements == each.statements);
            }
        }
    }
}

TEST_CASE("postgres: the server counts the rows that a query finds") {
    if (postgres_server() == nullptr) { return; }
    auto const store = postgres_backend::connect(postgres_server(), own_schema()).value();
    table<mark> const marks{store, "marks"};
    using m = fields<mark>;
    CHECK(marks.scan_table().count().error().code == error_code::table_not_found);
    marks.create().value();
    CHECK(marks.scan_table().count().value() == 0);
    for (char const* place : {"a", "b", "b\xEF\xBF\xBF", "c", "\xF0\x9F\x98\x80"}) {
        auto batch = marks.batch();
        for (std::int32_t number = -3; number < 4; ++number) { batch.insert({place, number, number}); }
        batch.submit().value();
    }
    auto const same = [](auto const& query, std::size_t expected) {
        CHECK(query.count().value() == expected);
        CHECK(query.to().value().size() == expected);
    };
    same(marks.scan_table(), 35);
    same(marks.where(m::place == "b"), 7);
    same(marks.where(m::place == "b" && m::number >= 1), 3);
    same(marks.where(m::place == "b" && m::number > 1), 2);
    same(marks.where(m::place == "b" && m::number < 1), 4);
    same(marks.where(m::place == "b" && m::number <= 1 && m::number > -2), 3);
    same(marks.where(m::place >= "b" && m::place <= "c"), 21);
    same(marks.where(m::place > "b" && m::place < "c"), 7);
    same(marks.where(m::place > "b"), 21);
    same(marks.where(m::place == "b" && m::value > 1), 2);
    same(marks.where(m::place == "b").take(3), 3);
    same(marks.where(m::place >= "b" && m::number == 2), 4);
}

namespace {

/// Its row keys sort before and after those of system rows.
struct titled {
    std::string place;
    std::string title;
    std::int64_t value{};
};
ENTITABLE(titled, partition_key(place), row_key(title), properties(value))

} // namespace

TEST_CASE("postgres: the server counts what a walk over the rows counts, with system rows among them") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto const server = postgres_backend::connect(postgres_server(), options).value();
    memory_backend const memory;
    table<titled> const counted{server, "titles"};
    table<titled> const walked{memory, "titles"};
    std::vector<std::string> const places{"a", "b", "b~", "~!", "\xEF\xBF\xBF", "\xF0\x9F\x98\x80"};
    std::vector<std::string> const titles{
        "", "!", "a", "}", "~", "~ ", "~\"", "~a", "~~", "\xEF\xBF\xBF", "\xF0\x9F\x98\x80"};
    for (auto const* each : {&counted, &walked}) {
        each->create().value();
        call context;
        for (std::string const& place : places) {
            for (std::string const& title : titles) { each->insert({place, title, 1}).value(); }
            for (char const* key : {"~!", "~!op!1", "~!op!2", "~!~"}) {
                write_entity const added{
                    "titles", mutation::insert(testing::make_row(place, key, {{"Value", std::int64_t{1}}}))};
                (each == &counted ? any_store{server} : any_store{memory}).execute(added, context).value();
            }
        }
    }
    using t = fields<titled>;
    std::vector<std::string> bounds{"~!", "~!op!2", "~!~", "~\""};
    bounds.insert(bounds.end(), titles.begin(), titles.end());
    auto const same = [&](auto const& predicate) {
        auto const expected = walked.where(predicate).count().value();
        CHECK(counted.where(predicate).count().value() == expected);
        CHECK(counted.where(predicate).to().value().size() == expected);
        return expected;
    };
    CHECK(counted.scan_table().count().value() == places.size() * titles.size());
    std::uint64_t all = 0;
    for (std::string const& place : places) {
        CHECK(same(t::place == place) == titles.size());
        CHECK(
            same(t::place == place && t::title < "~!") + same(t::place == place && t::title >= "~!") == titles.size());
        same(t::place >= place);
        same(t::place > place && t::place <= "~!");
        for (std::string const& from : bounds) {
            INFO(place << " from " << from);
            all += same(t::place == place && t::title >= from);
            all += same(t::place == place && t::title == from);
            all += same(t::place > place && t::title > from);
            for (std::string const& to : bounds) {
                all += same(t::place == place && t::title > from && t::title <= to);
            }
        }
    }
    CHECK(all > 1'000);
    // Nothing but system rows.
    for (std::string const& title : titles) { counted.remove("a", title, any_etag).value(); }
    CHECK(counted.where(t::place == "a").count().value() == 0);
}

// GCC 12 requires linkage for variables that a coroutine stores.
namespace pg_counted {

struct spot {
    std::string place;
    std::int32_t number{};
    std::int64_t value{};
};
ENTITABLE(spot, partition_key(place), row_key(number), properties(value))

inline task<> insert(async_table<spot> into, std::int32_t number, std::size_t& done) {
    spot const made{"p" + std::to_string(number), number, 1};
    done += (co_await into.insert(made)) ? 1U : 0U;
}
inline task<> get(async_table<spot> from, std::int32_t number, std::size_t& done) {
    done += (co_await from.get("p" + std::to_string(number), number)) ? 1U : 0U;
}

/// -1: no entity; -2: no table; -3: another error.
inline task<> value_of(async_table<spot> from, std::int32_t number, std::int64_t& value) {
    auto const found = co_await from.get("p", number);
    value = found                                              ? found->value
        : found.error().code == error_code::resource_not_found ? -1
        : found.error().code == error_code::table_not_found    ? -2
                                                               : -3;
}

} // namespace pg_counted

TEST_CASE("postgres: hundreds of awaited requests take a few round trips, and inserts a few statements") {
    if (postgres_server() == nullptr) { return; }
    counting_proxy proxy{postgres_server()};
    auto const store = postgres_backend::connect(proxy.connection_string(), own_schema()).value();
    any_store const all{store};
    table<pg_counted::spot>{all, "spots"}.create().value();
    event_loop loop{loop_options{.turn = std::chrono::seconds{10}}}; // a turn takes all calls, also with sanitizers
    async_table<pg_counted::spot> const spots{loop, all, "spots"};
    std::size_t done = 0;
    auto const run = [&](std::int32_t from, auto const& each) {
        done = 0;
        for (std::int32_t number = from; number < from + 400; ++number) { loop.spawn(each(spots, number, done)); }
        loop.run();
        CHECK(done == 400);
    };
    run(0, pg_counted::insert); // opens the connections
    run(0, pg_counted::get);
    proxy.round_trips = proxy.statements = proxy.prepared = 0;
    run(1000, pg_counted::insert);
    std::printf(
        "400 awaited inserts: %d statements, %d round trips\n", proxy.statements.load(), proxy.round_trips.load());
    constexpr int few = 20; // 12 on an idle machine; a poll between two calls sends what there is
    CHECK(proxy.statements <= few);
    CHECK(proxy.round_trips <= few);
    proxy.round_trips = proxy.statements = 0;
    run(1000, pg_counted::get);
    std::printf(
        "400 awaited reads: %d statements, %d round trips\n", proxy.statements.load(), proxy.round_trips.load());
    CHECK(proxy.statements <= few);
    CHECK(proxy.round_trips <= few);

    // A bulk load of rows of as many partitions: by default, and with a number of requests.
    for (std::size_t const in_flight : {std::size_t{0}, std::size_t{400}}) {
        std::vector<pg_counted::spot> rows;
        for (std::int32_t number = 0; number < 400; ++number) {
            std::string place{in_flight == 0 ? "default" : "many"};
            rows.push_back({place.append(std::to_string(number)), number, 1});
        }
        proxy.round_trips = proxy.statements = 0;
        bulk_options options;
        options.in_flight = in_flight;
        CHECK(bulk_insert(table<pg_counted::spot>{all, "spots"}, rows, options).value().written == 400);
        std::printf("400 rows of a bulk load: %d statements, %d round trips\n", proxy.statements.load(),
            proxy.round_trips.load());
        CHECK(proxy.statements <= few);
        CHECK(proxy.round_trips <= few);
    }
}

TEST_CASE("postgres: reads that share a statement have an outcome each") {
    if (postgres_server() == nullptr) { return; }
    counting_proxy proxy{postgres_server()};
    auto const store = postgres_backend::connect(proxy.connection_string(), own_schema()).value();
    any_store const all{store};
    table<pg_counted::spot> const stored{all, "spots"};
    stored.create().value();
    constexpr std::int32_t count = 301; // the last statement has one read
    for (std::int32_t number = 0; number < count; number += 3) { stored.insert({"p", number, 10 + number}).value(); }
    event_loop loop{loop_options{.turn = std::chrono::seconds{10}}};
    async_table<pg_counted::spot> const spots{loop, all, "spots"};
    async_table<pg_counted::spot> const missing{loop, all, "missing"};
    std::vector<std::int64_t> values(3 * count);
    auto const read_all = [&] {
        std::fill(values.begin(), values.end(), -4);
        for (std::int32_t number = 0; number < count; ++number) {
            auto* const at = &values[3 * static_cast<std::size_t>(number)];
            loop.spawn(pg_counted::value_of(spots, number, at[0]));
            loop.spawn(pg_counted::value_of(spots, count - 1 - number, at[1]));
            if (number % 10 == 0) { loop.spawn(pg_counted::value_of(missing, number, at[2])); }
        }
        loop.run();
        auto const expected = [](std::int32_t number) { return number % 3 == 0 ? 10 + number : -1; };
        for (std::int32_t number = 0; number < count; ++number) {
            auto const* const at = &values[3 * static_cast<std::size_t>(number)];
            INFO(number);
            CHECK(at[0] == expected(number));
            CHECK(at[1] == expected(count - 1 - number));
            CHECK(at[2] == (number % 10 == 0 ? -2 : -4));
        }
    };
    read_all(); // until the size of a row is known, each read is a statement
    proxy.statements = 0;
    read_all();
    std::printf("633 awaited reads of two tables: %d statements\n", proxy.statements.load());
    CHECK(proxy.statements <= 150); // a change of the table ends a group
}
