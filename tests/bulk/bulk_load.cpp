// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "books.hpp"
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <set>

using namespace entitable;
using namespace bulk_test;
using entitable_test::ContainsSubstring;
using testing::fault;

namespace {

struct stage {
    stage() { books.create().value(); }

    memory_backend store;
    testing::manual_clock clock;
    testing::faulty<memory_backend> faults{store, {.time = &clock}};
    table<book> books{faults, "books"};
    table<book> plain{store, "books"};

    [[nodiscard]] bulk_options options() {
        bulk_options made;
        made.seed = 1;
        made.time = &clock;
        return made;
    }
};

/// Answers 500 to each write of one row.
struct poisoned {
    using is_transport = void;
    memory_backend below;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        bool bad = false;
        if constexpr (std::same_as<Request, transact>) {
            for (mutation const& each : request.changes) {
                bad = bad || each.entity.view().find("title")->bytes() == "book 77";
            }
        } else if constexpr (std::same_as<Request, write_entity>) {
            bad = request.change.entity.view().find("title")->bytes() == "book 77";
        }
        if (bad) {
            error broken{error_code::internal_error, "this row breaks the server"};
            return failure{std::move(broken)};
        }
        return below.execute(request, context);
    }
};

/// Finds transactions of more than three rows too large, at their fourth operation, though its profile allows more.
struct narrow {
    using is_transport = void;
    memory_backend below;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, transact>) {
            constexpr std::size_t most = 3;
            if (request.changes.size() > most) {
                error large{error_code::request_body_too_large, "the batch is too large"};
                large.operation_index = most;
                return failure{std::move(large)};
            }
        }
        return below.execute(request, context);
    }
};

/// Each row ends in one state.
bool adds_up(bulk_progress const& of) {
    return of.read == of.written + of.already_there + of.superseded + of.refused + of.held;
}

} // namespace

TEST_CASE("a dry run reads more rows than its window") {
    stage s;
    for (std::size_t const window : {1U, 7U, 200U}) {
        bulk_options how = s.options();
        how.dry_run = true;
        how.window = window;
        auto const report = bulk_insert(s.books, some_books(200), how);
        REQUIRE(report);
        CHECK(report->read == 200);
        CHECK(report->held == 0);
    }
    CHECK(s.plain.scan_table().count().value() == 0);
}

TEST_CASE("a bulk load writes every row in as few transactions as possible") {
    stage s;
    auto const report = bulk_insert(s.books, some_books(1'050), s.options()).value();
    CHECK(report.read == 1'050);
    CHECK(report.written == 1'050);
    CHECK(report.total == 1'050U);
    CHECK(report.transactions == 14); // 150 rows in each of 7 partitions
    CHECK(report.all());
    CHECK(s.plain.scan_table().count().value() == 1'050);

    SECTION("a repeated load writes nothing and counts existing rows") {
        auto const again = bulk_insert(s.books, some_books(1'050), s.options()).value();
        CHECK(again.already_there == 1'050);
        CHECK(again.written == 0);
        CHECK(again.all());
    }
    SECTION("a load repeated as an upsert writes everything again") {
        CHECK(bulk_upsert(s.books, some_books(10), s.options()).value().written == 10);
    }
}

TEST_CASE("a load treats an in-flight limit of 0 and a window of 0 as 1") {
    stage on;
    bulk_options how = on.options();
    how.in_flight = how.window = how.window_bytes = 0;
    CHECK(bulk_insert(on.books, some_books(20), how).value().written == 20);
}

TEST_CASE("the input can be any range, including ranges of results and lazily generated ranges") {
    stage s;
    auto const lines =
        numbered{300, [](std::int32_t id) -> result<book> {
                     if (id % 100 == 50) {
                         return failure{error_code::invalid_input, "line " + std::to_string(id) + " is no book"};
                     }
                     return book{2000, id, "a", {}};
                 }};
    auto const report = bulk_insert(s.books, lines, s.options()).value();
    CHECK(report.written == 297);
    REQUIRE(report.refusals.size() == 3);
    CHECK(report.refusals[1].index == 150);
    CHECK(report.refusals[1].error.message == "line 150 is no book");
    CHECK_THAT(report.all().error().message, ContainsSubstring("3 of 300 rows were refused"));
    CHECK(bulk_insert(s.books, std::vector<book>{}, s.options()).value().read == 0);
}

TEST_CASE("a failing query as the input ends the load with its error") {
    stage s;
    REQUIRE(bulk_insert(s.books, some_books(3'000, 1), s.options()));
    table<book> const copies{s.store, "copies"};
    copies.create().value();
    s.faults.plan({fault::refused(), 2, "query_entities", {}, false});
    auto const ended = bulk_insert(copies, s.books.scan_table(), s.options());
    REQUIRE_FALSE(ended);
    CHECK(ended.error().code == error_code::transport_failed);
    CHECK(bulk_insert(copies, s.books.scan_table(), s.options()).value().written == 3'000);
}

TEST_CASE("refused rows are reported one by one with their positions in the input") {
    stage s;
    std::vector<book> input = some_books(500, 2);
    for (std::size_t const bad : {7U, 8U, 200U, 202U, 204U, 206U, 208U, 499U}) { input[bad].title = too_long(); }
    std::vector<std::uint64_t> told;
    bulk_options options = s.options();
    options.on_refused = [&](refused_row const& each) { told.push_back(each.index); };
    auto const report = bulk_insert(s.books, input, options).value();
    CHECK(report.written == 492);
    CHECK(report.refused == 8);
    CHECK(adds_up(report));
    std::sort(told.begin(), told.end());
    CHECK(told == std::vector<std::uint64_t>{7, 8, 200, 202, 204, 206, 208, 499});
    for (refused_row const& each : report.refusals) {
        CHECK(each.error.code == error_code::property_value_too_large);
        CHECK(each.error.effect == effect::none);
        CHECK_FALSE(each.row_key.empty());
    }
    CHECK(s.plain.scan_table().count().value() == 492);

    SECTION("the first refused rows are reported, and too many end the load") {
        options.keep_refused = 2;
        CHECK(bulk_upsert(s.books, input, options).value().refusals.size() == 2);
        options.max_refused = 3;
        auto const ended = bulk_upsert(s.books, input, options);
        REQUIRE_FALSE(ended);
        CHECK(ended.error().code == error_code::property_value_too_large);
    }
}

TEST_CASE("a transaction with many invalid rows costs few requests") {
    stage s;
    std::vector<book> input = some_books(100, 1);
    for (std::size_t at = 0; at < 100; at += 2) { input[at].title = too_long(); }
    auto const report = bulk_insert(s.books, input, s.options()).value();
    CHECK(report.refused == 50);
    CHECK(report.written == 50);
    CHECK(report.transactions == 3 + 3 + 3 + 91); // for the whole, for each half, then row by row
}

TEST_CASE("a row that differs from the stored row is refused, and its neighbours are written") {
    stage s;
    s.plain.insert({2000, 40, "another", {}}).value();
    s.plain.insert({2000, 41, "book 41", {}}).value();
    auto const report = bulk_insert(s.books, some_books(100, 1), s.options()).value();
    CHECK(report.written == 98);
    CHECK(report.already_there == 1);
    REQUIRE(report.refusals.size() == 1);
    CHECK(report.refusals[0].index == 40);
    CHECK(report.refusals[0].error.code == error_code::entity_already_exists);
    CHECK(report.transactions == 3);
    CHECK(s.plain.get(2000, 40)->title == "another");
}

TEST_CASE("existing rows spread over a large partition are found one by one") {
    stage s;
    for (std::int32_t id = 0; id < 6'000; ++id) {
        if (id % 100 != 0) { s.plain.insert({2000, id, "between", {}}).value(); }
    }
    std::vector<book> input;
    for (std::int32_t id = 0; id < 6'000; id += 100) { input.push_back({2000, id, "book", {}}); }
    s.plain.insert({2000, 5'500, "book", {}}).value();
    auto const report = bulk_insert(s.books, input, s.options()).value();
    CHECK(report.written == 59);
    CHECK(report.already_there == 1);
}

TEST_CASE("two rows with the same key are resolved as the kind of load requires") {
    stage s;
    std::vector<book> const input{
        {2000, 1, "first", {}}, {2000, 2, "other", {}}, {2000, 1, "second", {}}, {2000, 1, "first", {}}};
    bulk_options options = s.options();
    SECTION("an insert writes the first row, and the other rows get the answer of the table") {
        auto const report = bulk_insert(s.books, input, options).value();
        CHECK(report.written == 2);
        CHECK(report.already_there == 1);
        REQUIRE(report.refusals.size() == 1);
        CHECK(report.refusals[0].index == 2);
        CHECK(report.refusals[0].error.code == error_code::entity_already_exists);
        CHECK(s.plain.get(2000, 1)->title == "first");
    }
    SECTION("an upsert writes the rows one after the other") {
        auto const report = bulk_upsert(s.books, input, options).value();
        CHECK(report.written == 4);
        CHECK(s.plain.get(2000, 1)->title == "first");
    }
    SECTION("bulk_duplicates::last_wins stores only the last row") {
        options.duplicates = bulk_duplicates::last_wins;
        auto const report = bulk_upsert(s.books, input, options).value();
        CHECK(report.written == 2);
        CHECK(report.superseded == 2);
        CHECK(report.transactions == 1);
        CHECK(adds_up(report));
        CHECK(s.plain.get(2000, 1)->title == "first");
    }
    SECTION("bulk_duplicates::refused refuses the later rows") {
        options.duplicates = bulk_duplicates::refused;
        auto const report = bulk_upsert(s.books, input, options).value();
        CHECK(report.written == 2);
        REQUIRE(report.refusals.size() == 2);
        CHECK(report.refusals[1].index == 3);
        CHECK(report.refusals[1].error.code == error_code::invalid_duplicate_row);
    }
}

TEST_CASE("an upsert may merge rows") {
    stage s;
    s.plain.insert({2000, 1, "kept?", 4.5}).value();
    std::vector<book> const input{{2000, 1, "new", {}}};
    bulk_options options = s.options();
    options.merge = true;
    CHECK(bulk_upsert(s.books, input, options).value().written == 1);
    CHECK(s.plain.get(2000, 1)->rating == 4.5);
    CHECK(bulk_upsert(s.books, input, s.options()).value().written == 1);
    CHECK_FALSE(s.plain.get(2000, 1)->rating);
}

TEST_CASE("errors that are not caused by a row end the load") {
    stage s;
    auto const ended = bulk_insert(table<book>{s.store, "nowhere"}, some_books(10), s.options());
    REQUIRE_FALSE(ended);
    CHECK(ended.error().code == error_code::table_not_found);
    table<book> const named = s.books.with({.operation_id = "one"});
    CHECK(bulk_insert(named, some_books(10), s.options()).error().code == error_code::invalid_input);
}

TEST_CASE("a lost answer is resolved by a read: rows that were written count as present") {
    stage s;
    s.faults.plan({fault::lost_after(), 1, "transact", {}, false});
    s.faults.plan({fault::lost_before(), 1, "transact", {}, false});
    auto const report = bulk_insert(s.books, some_books(250, 1), s.options()).value();
    CHECK(s.faults.all_fired());
    CHECK(report.written + report.already_there == 250);
    CHECK(report.already_there == 100);
    CHECK(report.retried == 2);
}

TEST_CASE("no row is dropped while the service is busy, and a service that stays unavailable ends the load") {
    stage s;
    for (std::size_t number = 1; number < 60; ++number) {
        s.faults.plan({number % 3 == 0 ? fault::throttled(std::chrono::seconds{1}) : fault::busy(), 1, {}, {}, false});
    }
    auto const report = bulk_insert(s.books, some_books(1'000), s.options()).value();
    CHECK(report.written == 1'000);
    CHECK(report.retried == 59);

    bulk_options options = s.options();
    options.wait_budget = std::chrono::minutes{1};
    s.faults.plan_window("books", "0000002001", std::chrono::hours{1});
    auto const begun = s.clock.steady();
    auto const ended = bulk_upsert(s.books, std::vector<book>{{2001, 1, "a", {}}}, options);
    REQUIRE_FALSE(ended);
    CHECK(ended.error().http_status == 503);
    CHECK(s.clock.steady() - begun > std::chrono::minutes{1});
    CHECK(s.clock.steady() - begun < std::chrono::minutes{2});
}

TEST_CASE("one unavailable partition does not delay the others") {
    stage s;
    s.faults.plan_window("books", "0000002003", std::chrono::seconds{20});
    auto const begun = s.clock.steady();
    steady_time others{};
    bulk_options options = s.options();
    options.watch_every = std::chrono::milliseconds{1};
    options.watch = [&](bulk_progress const& now) {
        if (now.written >= 6'000 && others == steady_time{}) { others = s.clock.steady(); }
    };
    auto const report = bulk_insert(s.books, some_books(7'000), options).value();
    CHECK(report.written == 7'000);
    CHECK(others - begun < std::chrono::seconds{5});
    CHECK(s.clock.steady() - begun < std::chrono::seconds{40});
    CHECK(report.retried < 40);
}

TEST_CASE("a row that keeps failing while others are written is refused in the end") {
    stage s;
    table<book> const books{poisoned{s.store}, "books"};
    // The others arrive slowly, so that some are written while the row fails.
    auto const input = numbered{4'000, [&](std::int32_t id) {
                                    s.clock.advance(std::chrono::milliseconds{20});
                                    return book{2000 + id % 7, id, "book " + std::to_string(id), {}};
                                }};
    bulk_options options = s.options();
    options.window = 200;
    auto const report = bulk_insert(books, input, options).value();
    CHECK(report.written == 3'999);
    REQUIRE(report.refusals.size() == 1);
    CHECK(report.refusals[0].index == 77);
    CHECK(report.refusals[0].error.code == error_code::internal_error);
}

TEST_CASE("a transaction that the service finds too large is split, and none of its rows is refused") {
    narrow const store{};
    table<book> const books{store, "books"};
    books.create().value();
    auto const report = bulk_insert(books, some_books(100, 1)).value();
    CHECK(report.written == 100);
    CHECK(report.refused == 0);
    CHECK(adds_up(report));
}

TEST_CASE("a load can be cancelled and has a deadline") {
    stage s;
    cancellation_source cancel;
    bulk_options options = s.options();
    options.window = 100;
    options.cancellation = cancel.token();
    auto const input = numbered{10'000, [&](std::int32_t id) {
                                    s.clock.advance(std::chrono::milliseconds{1});
                                    if (id == 1'500) { cancel.cancel(); }
                                    return book{2000, id, "a", {}};
                                }};
    auto const ended = bulk_insert(s.books, input, options);
    REQUIRE_FALSE(ended);
    CHECK(ended.error().code == error_code::cancelled);
    CHECK(ended.error().effect == effect::unknown);
    options.cancellation = {};
    options.timeout = std::chrono::seconds{3};
    CHECK(bulk_insert(s.books, input, options).error().code == error_code::deadline_exceeded);
}

TEST_CASE("a budget limits the rate of requests") {
    stage s;
    bulk_options options = s.options();
    options.budget.entities_a_second = 1'000;
    auto const begun = s.clock.steady();
    REQUIRE(bulk_insert(s.books, some_books(5'000), options));
    CHECK(s.clock.steady() - begun >= std::chrono::milliseconds{4'500});
    CHECK(s.clock.steady() - begun < std::chrono::seconds{6});
    options.budget = {.request_units_a_second = 4'000, .units_an_entity = 8};
    auto const again = s.clock.steady();
    REQUIRE(bulk_upsert(s.books, some_books(5'000), options));
    CHECK(s.clock.steady() - again >= std::chrono::milliseconds{9'500});
}

TEST_CASE("a progress function is called during the load") {
    stage s;
    bulk_options options = s.options();
    options.budget.entities_a_second = 1'000;
    std::vector<bulk_progress> heard;
    options.watch = [&](bulk_progress const& now) { heard.push_back(now); };
    REQUIRE(bulk_insert(s.books, some_books(10'000), options));
    REQUIRE(heard.size() > 8);
    CHECK(std::all_of(heard.begin(), heard.end(), adds_up));
    CHECK(heard[4].total == 10'000U);
    REQUIRE(heard[4].left);
    CHECK(*heard[4].left > std::chrono::seconds{3});
    CHECK(*heard[4].left < std::chrono::seconds{8});
    CHECK(heard.back().held == 0);
    CHECK(heard.back().bytes > 10'000 * 10);
}

TEST_CASE("a dry run sends nothing and reports which rows would be sent and refused") {
    stage s;
    std::vector<book> input = some_books(1'050);
    input[10].title = too_long();
    bulk_options options = s.options();
    options.dry_run = true;
    auto const report = bulk_insert(s.books, input, options).value();
    CHECK(report.written == 1'049);
    CHECK(report.refused == 1);
    CHECK(report.transactions == 14);
    CHECK(s.faults.requests() == 1); // the one that created the table
}

TEST_CASE("bulk_remove() removes the rows that a query finds") {
    stage s;
    REQUIRE(bulk_insert(s.books, some_books(3'000), s.options()));
    using b = fields<book>;
    s.faults.plan({fault::lost_after(), 2, "transact", {}, false});
    auto const report = bulk_remove(s.books, s.books.scan_table(b::year < 2003), s.options()).value();
    CHECK(report.refused == 0);
    CHECK(report.written + report.already_there == 1'287);
    CHECK(s.plain.scan_table().count().value() == 3'000 - 1'287);
    CHECK(bulk_remove(s.books, table<book>{s.store, "others"}.scan_table()).error().code == error_code::invalid_input);
    bulk_options options = s.options();
    options.checkpoint = file_checkpoint{"never made"};
    CHECK(bulk_remove(s.books, s.books.scan_table(), options).error().code == error_code::not_supported);
}

TEST_CASE("a row that changed after the query found it is not removed") {
    stage s;
    REQUIRE(bulk_insert(s.books, some_books(200, 1), s.options()));
    bulk_options options = s.options();
    bool touched = false;
    options.window = 150;
    options.watch_every = {};
    options.watch = [&](bulk_progress const& now) {
        if (!touched && now.written > 0) {
            touched = true;
            s.plain.replace({2000, 199, "changed", {}}, any_etag).value();
            s.plain.remove(2000, 198, any_etag).value();
        }
    };
    auto const report = bulk_remove(s.books, s.books.scan_table(), options).value();
    CHECK(report.written == 198);
    CHECK(report.already_there == 1);
    REQUIRE(report.refusals.size() == 1);
    CHECK(report.refusals[0].index == 199);
    CHECK(report.refusals[0].error.code == error_code::update_condition_not_satisfied);
}

TEST_CASE("bulk_update() changes each row that a query finds once") {
    stage s;
    REQUIRE(bulk_insert(s.books, some_books(1'000), s.options()));
    auto const change = [](book& each) {
        if (each.id % 10 == 0) { return false; }
        each.rating = each.rating.value_or(0) + 1;
        return true;
    };
    SECTION("answers are lost") {
        s.faults.plan({fault::lost_after(), 3, "transact", {}, false});
        s.faults.plan({fault::lost_before(), 3, "transact", {}, false});
        auto const report = bulk_update(s.books, s.books.scan_table(), change, s.options()).value();
        CHECK(s.faults.all_fired());
        CHECK(report.written == 900);
        CHECK(report.already_there == 100);
    }
    SECTION("other writers are active") {
        bulk_options options = s.options();
        bool touched = false;
        auto const meanwhile = [&](book& each) {
            if (!touched) {
                touched = true;
                s.plain.update(2001, 1, [](book& other) { other.rating = 10; }).value();
                s.plain.remove(2001, 8, any_etag).value();
            }
            return change(each);
        };
        auto const report = bulk_update(s.books, s.books.scan_table(), meanwhile, options).value();
        CHECK(report.written == 899);
        REQUIRE(report.refusals.size() == 1);
        CHECK(report.refusals[0].error.code == error_code::resource_not_found);
        CHECK(s.plain.get(2001, 1)->rating == 11);
        s.plain.insert({2001, 8, "again", 1}).value();
        s.plain.update(2001, 1, [](book& other) { other.rating = 1; }).value();
    }
    using b = fields<book>;
    CHECK(s.plain.scan_table(b::rating == 1.0).count().value() == 900);
}

TEST_CASE("until a store refuses, a load sends its transactions in the order of the input") {
    testing::spy const watched{memory_backend{}};
    table<book> const books{watched, "books"};
    books.create().value();
    auto const sorted = numbered{5'000, [](std::int32_t id) { return book{2000 + id / 500, id, "a book", {}}; }};
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        bulk_upsert(books, sorted, {.in_flight = 8, .seed = seed}).value().all().value();
    }
    auto const sent = watched.all<transact>();
    REQUIRE(sent.size() == 150);
    for (std::size_t at = 0; at < sent.size(); ++at) {
        CHECK(sent[at].changes.front().entity.partition_key() == "000000" + std::to_string(2000 + at % 50 / 5));
        std::string_view const row_key = sent[at].changes.front().entity.row_key();
        CHECK((at % 5 == 0 || sent[at - 1].changes.front().entity.row_key() < row_key));
    }
}

TEST_CASE("a shuffled load spreads the first transactions of a sorted input over the partitions of its window") {
    // Ten partitions of 500 rows, one after the other; 5 transactions a partition.
    auto const sorted = numbered{5'000, [](std::int32_t id) { return book{2000 + id / 500, id, "a book", {}}; }};
    auto const first_partitions = [&](bulk_options const& options) {
        testing::spy const watched{memory_backend{}};
        table<book> const books{watched, "books"};
        books.create().value();
        bulk_report const report = bulk_insert(books, sorted, options).value();
        CHECK(report.written == 5'000);
        CHECK(report.transactions == 50);
        CHECK(books.scan_table().count().value() == 5'000);
        std::set<std::string> partitions;
        auto const sent = watched.all<transact>();
        for (std::size_t each = 0; each < 10; ++each) {
            partitions.insert(std::string{sent.at(each).changes.front().entity.partition_key()});
        }
        return partitions.size();
    };
    bulk_options options;
    options.in_flight = 4;
    options.seed = 7;
    CHECK(first_partitions(options) <= 3);
    options.shuffle = true;
    // Ten draws of 50 transactions hit 10 (1 - C(45, 10) / C(50, 10)) = 6.9 partitions in the mean.
    double sum = 0;
    for (options.seed = 1; options.seed <= 50; ++options.seed) {
        std::size_t const hit = first_partitions(options);
        CHECK(hit >= 4);
        sum += static_cast<double>(hit);
    }
    CHECK(sum / 50 > 6.5);
    CHECK(sum / 50 < 7.3);
    options.window = 500; // a window of one partition cannot spread it
    CHECK(first_partitions(options) <= 3);
    // Rows with the same key stay in order, at any window.
    for (std::size_t const window : {std::size_t{1}, std::size_t{3}, std::size_t{50'000}}) {
        options.window = window;
        table<book> const books{memory_backend{}, "books"};
        books.create().value();
        auto const twice =
            numbered{600, [](std::int32_t id) { return book{2000 + id % 3, id % 30, std::to_string(id), {}}; }};
        CHECK(bulk_upsert(books, twice, options).value().written == 600);
        for (book const& each : books.scan_table()) { CHECK(std::stoi(each.title) >= 570); }
    }
}
