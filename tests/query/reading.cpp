// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/query/reading.hpp>

#include <support/catch.hpp>

using namespace entitable;

namespace {

static_assert(operation<query_reading>);

query_parts parts_of(std::size_t ranges) {
    query_parts parts{"runners", {}, {}, {}};
    for (std::size_t index = 0; index < ranges; ++index) {
        parts.plan.ranges.push_back({key_interval::only("p" + std::to_string(index)), {}});
    }
    return parts;
}

/// One answer: rows of a partition, and whether there are more.
query_entities::response answer_of(
    std::string const& partition, std::size_t rows, std::optional<std::string> continuation = {}) {
    query_entities::response response;
    for (std::size_t index = 0; index < rows; ++index) {
        response.rows.append(row_builder{partition, std::to_string(index)}.build());
    }
    response.examined = rows;
    response.continuation = std::move(continuation);
    return response;
}

/// The current request.
query_entities asked(query_reading& reading) {
    auto const* const due = reading.next().request.as<query_entities>();
    REQUIRE(due != nullptr);
    return *due;
}

} // namespace

TEST_CASE("a query reads page by page, range by range, and relies only on the continuation") {
    auto const parts = parts_of(2);
    query_reading reading{parts, {"name"}, 1};
    reading.set_page_size(7);
    auto request = asked(reading);
    CHECK(request.table == "runners");
    CHECK(request.select == projection{"name"});
    CHECK(request.page_size == 7);
    CHECK(request.range == parts.plan.ranges[0]);
    CHECK_FALSE(request.continuation.has_value());
    reading.answer(answer_of("p0", 2, "more"), {});
    CHECK(reading.next().done());
    CHECK(reading.finish().value().size() == 2);

    CHECK(asked(reading).continuation == "more");
    CHECK(asked(reading).select == projection{"name"});  // nothing is lost on the second page
    reading.answer(answer_of("p0", 0, "even more"), {}); // an empty page is not the end
    CHECK(reading.finish().value().empty());
    CHECK_FALSE(reading.at_end());
    CHECK(asked(reading).continuation == "even more");
    reading.answer(answer_of("p0", 1), {});
    CHECK(reading.finish().value().size() == 1);

    CHECK(asked(reading).range == parts.plan.ranges[1]);
    CHECK_FALSE(asked(reading).continuation.has_value());
    reading.answer(answer_of("p1", 0), {});
    CHECK(reading.finish().value().empty());
    CHECK(reading.at_end());
    CHECK(reading.next().done());
    CHECK(reading.finish().value().empty());
    CHECK(reading.cost() == query_cost{4, 3, 3, 3, 1});
}

TEST_CASE("a query whose plan has no ranges ends immediately") {
    auto const parts = parts_of(0);
    query_reading reading{parts, {}, 4};
    CHECK(reading.at_end());
    CHECK(reading.next().done());
}

TEST_CASE("a query ends with an error if it receives the same continuation twice") {
    auto const parts = parts_of(1);
    query_reading reading{parts, {}, 1};
    (void)asked(reading);
    reading.answer(answer_of("p0", 1, "x"), {});
    (void)reading.finish().value();
    (void)asked(reading);
    reading.answer(answer_of("p0", 1, "x"), {});
    CHECK(reading.finish().error().code == error_code::transport_failed);
    CHECK(reading.at_end());
}

TEST_CASE("an abandoned query reports the reason") {
    auto const parts = parts_of(2);
    query_reading reading{parts, {}, 1};
    reading.abandon({error_code::cancelled, "stop"});
    CHECK(reading.next().done());
    CHECK(reading.finish().error().code == error_code::cancelled);
    CHECK(reading.at_end());
}

TEST_CASE("a round sends one request for each range that has no page yet") {
    auto const parts = parts_of(4);
    query_reading reading{parts, {}, 3};
    std::size_t first = 0;
    std::size_t second = 0;
    std::size_t third = 0;
    std::size_t none = 0;
    reading.begin_round();
    CHECK(reading.next_request(first)->range == parts.plan.ranges[0]);
    CHECK(reading.next_request(second)->range == parts.plan.ranges[1]);
    CHECK(reading.next_request(third)->range == parts.plan.ranges[2]);
    CHECK(reading.next_request(none) == nullptr);
    reading.answer(third, answer_of("p2", 1));
    reading.answer(second, answer_of("p1", 0, "later")); // it is empty: requested again, but not in this round
    CHECK(reading.next_request(none) == nullptr);
    CHECK_FALSE(reading.next().done());
    reading.answer(first, answer_of("p0", 1, "more"));
    CHECK(reading.next().done());
    CHECK(reading.finish().value()[0].partition_key == "p0");
    CHECK(reading.position().range == 0);
    CHECK(reading.position().continuation == "more");

    reading.begin_round();
    CHECK(reading.next_request(first)->continuation == "more");
    CHECK(reading.next_request(second)->continuation == "later");
    CHECK(reading.next_request(none) == nullptr); // the third has its page, the fourth has no room yet
    reading.answer(first, answer_of("p0", 1));
    reading.answer(second, answer_of("p1", 1, "last"));
    CHECK(reading.finish().value().size() == 1);
    // The second range's page has arrived but was not returned: a token continues at its beginning.
    CHECK(reading.position().range == 1);
    CHECK(reading.position().continuation == "later");
    CHECK(reading.finish().value()[0].partition_key == "p1");
    CHECK(reading.position().continuation == "last");
}

TEST_CASE("if there are several errors, the first in key order is reported, and no later range is requested") {
    auto const parts = parts_of(4);
    query_reading reading{parts, {}, 3};
    std::size_t slots[3];
    reading.begin_round();
    for (std::size_t& slot : slots) { REQUIRE(reading.next_request(slot) != nullptr); }
    reading.answer(slots[1], failure{error_code::server_busy, "second"});
    reading.answer(slots[2], failure{error_code::server_busy, "third"});
    reading.answer(slots[0], answer_of("p0", 1));
    CHECK(reading.finish().value().size() == 1);
    CHECK(reading.finish().error().message == "second");
    CHECK(reading.at_end());
    std::size_t slot = 0;
    reading.begin_round();
    CHECK(reading.next_request(slot) == nullptr);
}

TEST_CASE("a query continues at a given position") {
    auto const parts = parts_of(3);
    query_reading reading{parts, {}, 2};
    reading.go_to({1, 5, "there"});
    CHECK(asked(reading).range == parts.plan.ranges[1]);
    CHECK(asked(reading).continuation == "there");
    query_reading behind{parts, {}, 2};
    behind.go_to({7, 0, {}});
    CHECK(behind.at_end());
}
