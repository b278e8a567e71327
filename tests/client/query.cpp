// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/decorators/metered.hpp>
#include <entitable/memory.hpp>

#include <support/catch.hpp>
#include <support/runners.hpp>
#include <support/wide.hpp>

#include <cmath>
#include <deque>
#include <limits>
#include <ranges>
#include <stdexcept>

using namespace entitable;
using namespace entitable_test;

namespace {

auto const in_boston = r::event == "Boston" && r::distance == "Full";
/// Is checked by the client: neither a range nor a filter of the service expresses it.
auto const odd_ones = in_boston && r::bib != 2 && r::bib != 4 && r::bib != 6 && r::bib != 8;

std::vector<std::int32_t> const all_nine{1, 2, 3, 4, 5, 6, 7, 8, 9};

} // namespace

TEST_CASE("take() limits the total and page_size() limits a page, and neither changes which entities match") {
    wide_transport store;
    auto const all = runners(store, 9);
    for (std::uint32_t const rows : {1U, 2U, 4U, 9U, 1000U}) {
        auto const query = all.where(in_boston).page_size(rows);
        CHECK(bibs(query) == all_nine);
        CHECK(query.count().value() == 9);
        CHECK(bibs(query.take(4)) == std::vector<std::int32_t>{1, 2, 3, 4});
        CHECK(query.take(4).count().value() == 4);
        CHECK(bibs(query.take(0)).empty());
        CHECK(bibs(query.take(100)) == all_nine);
        CHECK(query.first().value()->bib == 1);
        CHECK_FALSE(query.take(0).first().value().has_value());
        // Rows that the client drops do not count.
        auto const odd = all.where(odd_ones).page_size(rows);
        CHECK(bibs(odd) == std::vector<std::int32_t>{1, 3, 5, 7, 9});
        CHECK(bibs(odd.take(3)) == std::vector<std::int32_t>{1, 3, 5});
        CHECK(odd.count().value() == 5);
        CHECK(odd.take(3).count().value() == 3);
    }
}

TEST_CASE("a query requests no more rows than it will use") {
    wide_transport store;
    auto const all = runners(store, 9);
    CHECK(all.where(in_boston).first().value()->bib == 1);
    CHECK(store.log->queries.back().page_size == 1);
    CHECK(bibs(all.where(in_boston).page_size(4).take(6)).size() == 6);
    CHECK(store.log->queries.back().page_size == 2);
    CHECK(all.where(odd_ones).take(1).first().value()->bib == 1);
    CHECK(store.log->queries.back().page_size == 1000); // one row might be dropped
}

TEST_CASE("an invalid page size is an error and is not adjusted") {
    memory_backend store;
    auto const all = runners(store, 1);
    CHECK(all.where(in_boston).page_size(0).count().error().code == error_code::invalid_input);
    CHECK(all.where(in_boston).page_size(1001).to().error().code == error_code::invalid_input);
    CHECK(all.where(in_boston).page_size(1001).take(2).to().error().code == error_code::invalid_input);
    CHECK(all.where(in_boston).page_size(1001).first().error().code == error_code::invalid_input);
    CHECK(all.where(in_boston).page_size(1001).take(2).count().error().code == error_code::invalid_input);
}

TEST_CASE("first() returns an entity or nullopt, even if only a later page has a row") {
    memory_backend store;
    auto const all = runners(store, 9);
    CHECK_FALSE(all.where(in_boston && r::bib > 9).first().value().has_value());
    CHECK(all.where(in_boston && r::distance != "Half" && r::bib != 1 && r::age == 29)
              .page_size(2)
              .first()
              .value()
              ->bib == 9);
}

TEST_CASE("to() fills any container that has push_back") {
    memory_backend store;
    auto const all = runners(store, 3);
    CHECK(all.where(in_boston).to().value().size() == 3);
    CHECK(all.where(in_boston).to<std::deque<runner>>().value().back().bib == 3);
}

TEST_CASE("folds read all values, one page at a time") {
    wide_transport store;
    auto const all = runners(store, 9);
    auto const query = all.where(in_boston).page_size(2);
    CHECK((query.min)(r::bib).value() == 1);
    CHECK((query.max)(r::bib).value() == 9);
    CHECK((query.max)(r::age).value() == 29);
    CHECK((query.min)(r::name).value() == "runner 1");
    CHECK(query.sum(r::bib).value() == 45);
    CHECK(query.sum(r::age).value() == 21 + 22 + 23 + 25 + 26 + 27 + 29); // two lack one
    CHECK(query.sum(r::pace).value() == 36.0 + 45.0);
    CHECK(store.log->queries.back().select == projection{"pace"});
    CHECK(
        query.fold(std::string{}, [](std::string text, runner const& one) { return text + one.name.back(); }).value() ==
        "123456789");
    CHECK((all.where(in_boston && r::age > 90).max)(r::age).value() == std::nullopt);
    CHECK(all.where(in_boston && r::age > 90).sum(r::age).value() == 0);
    CHECK((query.take(3).max)(r::bib).value() == 3);
}

TEST_CASE("folds skip NaN unless it is meaningful, and a sum that overflows is an error") {
    memory_backend store;
    table<runner> all{store, "runners"};
    all.create().value();
    all.insert({"A", "B", 1, "", {}, std::nan("")}).value();
    CHECK_FALSE((all.where(r::event == "A" && r::distance == "B").min)(r::pace).value().has_value());
    all.insert({"A", "B", 2, "", {}, -2.5}).value();
    all.insert({"A", "B", 3, "", {}, 7}).value();
    auto const query = all.where(r::event == "A" && r::distance == "B");
    CHECK((query.min)(r::pace).value() == -2.5);
    CHECK((query.max)(r::pace).value() == 7.0);
    CHECK(std::isnan(query.sum(r::pace).value()));

    using c = fields<entitable_test::counter>;
    table<entitable_test::counter> counters{store, "counters"};
    counters.create().value();
    std::int64_t const most = std::numeric_limits<std::int64_t>::max();
    counters.insert({"up", 1, most}).value();
    counters.insert({"up", 2, -1}).value();
    counters.insert({"up", 3, 1}).value();
    counters.insert({"down", 1, -most - 1}).value();
    CHECK(counters.where(c::name == "up").sum(c::value).value() == most);
    CHECK(counters.where(c::name == "down").sum(c::value).value() == -most - 1);
    counters.insert({"up", 4, 1}).value();
    counters.insert({"down", 2, -1}).value();
    CHECK(counters.where(c::name == "up").sum(c::value).error().code == error_code::out_of_range_input);
    CHECK(counters.where(c::name == "down").sum(c::value).error().code == error_code::out_of_range_input);
}

TEST_CASE("analyze() reports the cost of the last run") {
    wide_transport store;
    auto const all = runners(store, 9);
    auto const query = all.where(r::event == "Boston" && in(r::distance, {"Full", "Half"}) && r::bib != 3).page_size(4);
    CHECK(query.analyze() == query_cost{});
    CHECK(query.count().value() == 16);
    CHECK(query.analyze() == query_cost{6, 18, 18, 16, 2});
    CHECK(query.analyze().selectivity() == 16.0 / 18.0);
    CHECK(query.analyze().to_string() ==
        "requests made       6\n"
        "rows examined       18\n"
        "rows received       18\n"
        "rows accepted       16\n"
        "partitions crossed  2\n");
    CHECK(query.first().value()->bib == 1);
    CHECK(query.analyze().requests == 1);
    auto const copy = query;
    CHECK(copy.analyze() == query_cost{});
    for (auto const& one : copy) { (void)one; }
    CHECK(copy.analyze() == query_cost{6, 18, 18, 16, 2});
    CHECK(query.analyze().requests == 1);
    CHECK(query.sum(r::bib).has_value());
    CHECK(query.analyze() == query_cost{6, 18, 18, 16, 2});
    CHECK(all.scan_table(r::pace >= 1000).count().value() == 0);
}

TEST_CASE("partitions are counted once, even if a page ends inside one") {
    memory_backend store;
    auto const all = runners(store, 5);
    for (std::uint32_t const rows : {1U, 3U, 1000U}) {
        auto const query = all.scan_table().page_size(rows);
        CHECK(query.count().value() == 20);
        CHECK(query.analyze().partitions == 4);
    }
}

TEST_CASE("a query is a cheap view that owns its predicate") {
    using asked = decltype(std::declval<table<runner>>().where(in_boston));
    static_assert(std::ranges::input_range<asked>);
    static_assert(std::ranges::input_range<asked const>);
    static_assert(std::ranges::view<asked>);
    auto const ask = [] {
        memory_backend store;
        return runners(store, 3).where(in_boston);
    };
    auto const query = ask();
    auto at = query.begin();
    auto moved = query;
    CHECK(at->bib == 1);
    CHECK((++at)->bib == 2);
    at++;
    CHECK(at->bib == 3);
    CHECK(++at == std::default_sentinel);
    CHECK(bibs(moved).size() == 3);
    CHECK(bibs(moved).size() == 3); // each run starts over
    std::vector<std::int32_t> seen;
    for (runner const& one : ask()) { seen.push_back(one.bib); }
    CHECK(seen == std::vector<std::int32_t>{1, 2, 3});
}

TEST_CASE("a default-constructed query returns an error when it is run") {
    query<runner, access_path::table> const nothing;
    CHECK(nothing.count().error().code == error_code::invalid_input);
    CHECK(nothing.explain().error().code == error_code::invalid_input);
    CHECK_THROWS_AS(nothing.begin(), entitable::error);
}

TEST_CASE("iteration throws the error of a page, and the other functions return it") {
    wide_transport store;
    auto const all = runners(store, 9);
    auto const ranges = all.where(in_boston && (r::bib <= 2 || r::bib >= 5));
    store.log->failing = "0000000005";
    std::vector<std::int32_t> seen;
    CHECK(ranges.for_each([&](runner const& one) { seen.push_back(one.bib); }).error().code == error_code::server_busy);
    CHECK(seen == std::vector<std::int32_t>{1, 2}); // never a shorter result without an error
    CHECK(ranges.count().error().code == error_code::server_busy);
    CHECK(ranges.to().error().code == error_code::server_busy);
    CHECK((ranges.max)(r::bib).error().code == error_code::server_busy);
    CHECK(ranges.first().value()->bib == 1);
    seen.clear();
    CHECK_THROWS_AS(
        [&] {
            for (auto const& one : ranges) { seen.push_back(one.bib); }
        }(),
        entitable::error);
    CHECK(seen == std::vector<std::int32_t>{1, 2});
}

TEST_CASE("up to in_flight ranges are read concurrently, and the results stay in key order") {
    wide_transport store;
    auto const all = runners(store, 30);
    auto const tens = in_boston && (r::bib < 5 || between(r::bib, 10, 14) || between(r::bib, 17, 19) || r::bib > 28);
    auto const expected = bibs(all.where(tens));
    CHECK(store.log->most == 0); // one request at a time needs no channel
    for (std::size_t const n : {0U, 1U, 2U, 3U, 4U, 9U}) {
        for (std::uint32_t const rows : {1U, 2U, 1000U}) {
            store.log->most = 0;
            store.log->queries.clear();
            auto const query = all.where(tens).page_size(rows).in_flight(n);
            CHECK(bibs(query) == expected);
            CHECK(store.log->most == (n < 2 ? 0 : n < 4 ? n : 4));
            CHECK(query.analyze().requests == store.log->queries.size());
            CHECK(query.analyze().accepted == expected.size());
            CHECK(query.analyze().partitions == 1);
            CHECK(bibs(query.take(7)) == std::vector<std::int32_t>(expected.begin(), expected.begin() + 7));
            CHECK(query.count().value() == expected.size());
        }
    }
    // If the client drops rows, too.
    auto const some = tens && r::bib != 1 && r::bib != 17 && r::bib != 18 && r::bib != 19;
    CHECK(bibs(all.where(some).page_size(1).in_flight(4)) == bibs(all.where(some)));
    // The transport has no channel of its own: one request after the other.
    table<runner> const plain{store.store, "runners"};
    CHECK(bibs(plain.where(tens).in_flight(3)) == expected);
}

TEST_CASE("the reported error is the first in key order, whichever answer arrives first") {
    wide_transport store;
    auto const all = runners(store, 30);
    auto const query =
        all.where(in_boston && (r::bib < 5 || between(r::bib, 10, 14) || between(r::bib, 17, 19) || r::bib > 28));
    for (std::size_t const n : {1U, 2U, 4U}) {
        store.log->failing = "0000000010";
        std::vector<std::int32_t> seen;
        auto const failed = query.in_flight(n).for_each([&](runner const& one) { seen.push_back(one.bib); });
        CHECK(failed.error().message == "failing 0000000010");
        CHECK(seen == std::vector<std::int32_t>{1, 2, 3, 4});
    }
    // All but the first fail, and the last is answered first.
    store.log->before_query = [&] { store.log->failing = store.log->queries.back().range.row.lower.key; };
    CHECK(query.in_flight(4).count().error().message == "failing 0000000010");
}

TEST_CASE("a cancelled query ends with Cancelled, even with many requests in flight") {
    wide_transport store;
    auto const all = runners(store, 9);
    cancellation_source stop;
    call_options options;
    options.cancellation = stop.token();
    auto const mine = all.with(options);
    auto const query = mine.where(in_boston && in(r::bib, {1, 3, 5, 7})).in_flight(2);
    std::size_t seen = 0;
    auto const ended = query.for_each([&](runner const&) {
        if (++seen == 2) { stop.cancel(); }
    });
    CHECK(ended.error().code == error_code::cancelled);
    CHECK(seen == 2);
}

namespace {

struct throwing {
    using is_transport = void;
    memory_backend store;
    std::shared_ptr<bool> now = std::make_shared<bool>(false);
    [[nodiscard]] entitable::profile profile() const { return store.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        if (*now) { throw std::runtime_error{"thrown"}; }
        return store.execute(request, context);
    }
};

} // namespace

TEST_CASE("a transport that throws with several pages in flight leaves the query usable and leaks nothing") {
    throwing const service;
    wide_transport filled;
    filled.store = service.store;
    static_cast<void>(runners(filled, 9));
    // The channel of `metered` holds the calls of requests in flight.
    table<runner> const all{metered{service}, "runners"};
    auto const some = all.where(in_boston && in(r::bib, {1, 3, 5})).in_flight(3);
    *service.now = true;
    CHECK_THROWS_AS(some.count(), std::runtime_error);
    *service.now = false;
    CHECK(some.count().value() == 3);
}

TEST_CASE("a transport that never answers a request does not hang the query") {
    wide_transport store;
    auto const all = runners(store, 9);
    store.log->silent = true;
    auto const two = all.where(in_boston && in(r::bib, {1, 3}));
    CHECK(two.in_flight(2).count().error().code == error_code::transport_failed);
}

TEST_CASE("min and max of texts use the order of comparisons, in keys and in properties") {
    memory_backend store;
    table<result_line> const all{store, "lines"};
    all.create().value();
    // In UTF-16 a character of two units sorts before U+E000..U+FFFF, in UTF-8 after it.
    std::vector<std::string> const in_order{
        "", "a", "\uD7FF", "\U00010000", "\U0001F600", "\U0010FFFF", "\uE000", "\uFF5E", "\uFFFD"};
    for (std::string const& lowest : in_order) {
        for (std::string const& highest : in_order) {
            all.insert_or_replace({"A", 1, 1, lowest, lowest}).value();
            all.insert_or_replace({"A", 1, 1, highest, highest}).value();
            bool const ordered = &lowest <= &highest;
            auto const lines = all.where(l::series == "A");
            CHECK(lines.min(l::note).value() == (ordered ? lowest : highest));
            CHECK(lines.max(l::note).value() == (ordered ? highest : lowest));
            CHECK(lines.min(l::remark).value() == (ordered ? lowest : highest));
            auto const greatest = lines.max(l::remark).value();
            CHECK(greatest == (ordered ? highest : lowest));
            CHECK(all.where(l::series == "A" && l::remark > *greatest).count().value() == 0);
            CHECK(all.where(l::series == "A" && l::note > *greatest).count().value() == 0);
            for (std::string const& note : {lowest, highest}) {
                CHECK(all.remove_if_present("A", 1, 1, note, any_etag));
            }
        }
    }
}
