// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Operators with defects: a walk finds each, and nothing without it. An operator works alone with clients whose requests take no time; or stops
// after any of its requests, and another operator takes over; or a client is suspended at any of its steps during any step of the operator.
//
// Wrong bounds and half flips leave a map that covers some keys twice or not at all, which no reader takes. A half that is copied with the
// bounds of the whole, and keys that are not erased, lose nothing: they are rows in tables of other keys, which a split should have removed. Late
// rows that a merge mistakes for its own conflict with the guard rows of the other copy, and the merge ends. The others lose rows, or leave a
// range that cannot be written.

#include "range_world.hpp"

using namespace shard_world;

namespace {

/// Every suspension of a client. Without a defect shard_ranges.cpp walks through that.
std::string walk_of_client(range_order how, range_defect planted) {
    how.planted = planted;
    for (bool const behind : {false, true}) {
        for (std::size_t own = behind ? 1 : 0;; ++own) {
            suspended seen;
            for (std::size_t others = 0; !seen.operator_ended; ++others) {
                seen = suspend(how, own, others, behind);
                if (!seen.problem.empty()) { return seen.problem; }
            }
            if (seen.client_ended) { break; }
        }
    }
    return {};
}

/// In front of a client whose requests do not contain the end of the expected range.
struct boundless {
    using is_transport = void;
    any_store below;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, query_entities>) {
            if (request.table.starts_with("items")) {
                query_entities wider = request;
                wider.range.partition.upper = {};
                return below.execute(wider, context);
            }
        }
        return below.execute(request, context);
    }
};
void scans_beyond(any_store const& way, entitable::clock& time, scene& all, int life) {
    scans_all(any_store{boundless{way}}, time, all, life);
}

/// Whether a range is being moved without a mover.
std::string attempts_left(memory_backend const& store, scene const&) {
    auto const map = map_now(store).value();
    for (detail::shard_place const& place : map->places) {
        if (!place.row.attempt_owner.empty()) {
            return "nobody ends the attempt on range " + std::to_string(place.row.shard);
        }
    }
    return {};
}

/// With the defect there is a problem at the end, and without it none.
void found_alone(range_defect planted, range_order how) {
    CAPTURE(static_cast<int>(planted));
    CHECK(taking_turns(how, {}).problem == "");
    how.planted = planted;
    CHECK(taking_turns(how, {}).problem != "");
}
/// The same with two operators.
void found_in_turn(range_defect planted, range_order how, bool goes_on) {
    CHECK(walk_of_turns(how, goes_on) == "");
    how.planted = planted;
    CHECK(walk_of_turns(how, goes_on) != "");
}

} // namespace

TEST_CASE("range defects: planted defects in splits and in moves of halves are found") {
    range_order const how = splits();
    SECTION("a split keeps the old bound of the lower half") { found_alone(range_defect::keeps_bound, how); }
    SECTION("the upper half does not record whose tables it uses") { found_alone(range_defect::forgets_tables, how); }
    SECTION("a half is copied with the bounds of the whole range") { found_alone(range_defect::copies_whole, how); }
    SECTION("a half is switched with the bounds of the whole range") { found_alone(range_defect::flips_whole, how); }
    SECTION("a mover drops a table that another range uses") { found_alone(range_defect::drops_shared, how); }
    SECTION("a mover erases keys that another range uses") { found_alone(range_defect::erases_used, how); }
    SECTION("a mover leaves behind keys that no range uses") { found_alone(range_defect::erases_nothing, how); }
    SECTION("a number is used twice") {
        range_order again = merges();
        again.operators.front().push_back(split_at("p"));
        found_alone(range_defect::takes_used_number, again);
    }
    SECTION("a range is split while it is being moved") {
        range_order both = merges();
        both.operators.push_back({split_at("c")});
        found_in_turn(range_defect::splits_attempts, both, true);
    }
}

TEST_CASE("range defects: planted defects in merges are found") {
    range_order const how = merges();
    SECTION("only one of the two ranges is copied") { found_alone(range_defect::copies_one, how); }
    SECTION("late rows of one range are mistaken for rows of the other range") {
        range_order late = splits();
        late.operators.front().push_back(merge_to(0, 1, "s2"));
        late.late_rows = true;
        found_alone(range_defect::copies_late_rows, late);
    }
    SECTION("only the lower row is switched") { found_alone(range_defect::keeps_upper, how); }
    SECTION("only the upper row is switched") { found_alone(range_defect::loses_upper, how); }
    SECTION("both ranges use the old tables of the lower range") {
        found_alone(range_defect::keeps_tables, how);
        range_order again = how;
        again.planted = range_defect::keeps_tables;
        CHECK(taking_turns(again, {}).problem.starts_with("a table has got keys"));
    }
    SECTION("only one row is taken over") {
        range_order both = how;
        both.operators.push_back({move_to(1, "s2")});
        both.end = attempts_left;
        found_in_turn(range_defect::ends_one, both, false);
    }
    SECTION("only one of the two ranges is closed") {
        CHECK(walk_of_client(merges(inserts_both), range_defect::closes_one) != "");
    }
}

TEST_CASE("range defects: a client that counts all rows of a table as rows of its range is detected") {
    CHECK(walk_of_client(splits(scans_beyond), range_defect::none) != "");
}
