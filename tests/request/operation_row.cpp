// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/request/operation_row.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>

using namespace entitable;
using testing::make_row;

namespace {

std::vector<mutation> two_changes() {
    return {mutation::insert(make_row("p", "1", {{"Age", 55}})),
        mutation::merge(make_row("p", "2", {{"Name", "John"}}), etag::of(date_time{7}))};
}

} // namespace

TEST_CASE("operation row: has its documented form") {
    row const made = operation_row::make("p", "0123abc", -7);
    CHECK(made.partition_key() == "p");
    CHECK(made.row_key() == "~!op!0123abc");
    REQUIRE(made.view().find("OperationVersion"));
    CHECK(*made.view().find("OperationVersion") == value_view{1});
    CHECK(*made.view().find("OperationContent") == value_view{std::int64_t{-7}});
    CHECK(operation_row::is_one(made));
    CHECK(operation_row::content_of(two_changes()) == 8433266317626102095);
    CHECK(operation_row::content_of({}) == -3750763034362895580);
}

TEST_CASE("operation row: depends on every part of a write except the Timestamp") {
    auto const content = operation_row::content_of(two_changes());
    auto changed = two_changes();
    changed[0].kind = mutation_kind::insert_or_replace;
    CHECK(operation_row::content_of(changed) != content);
    changed = two_changes();
    changed[0].entity = make_row("p", "1", {{"Age", 56}});
    CHECK(operation_row::content_of(changed) != content);
    changed[0].entity = make_row("p", "3", {{"Age", 55}});
    CHECK(operation_row::content_of(changed) != content);
    changed = two_changes();
    changed[1].condition = any_etag;
    CHECK(operation_row::content_of(changed) != content);
    changed = two_changes();
    changed.pop_back();
    CHECK(operation_row::content_of(changed) != content);
    changed = two_changes();
    std::string payload{changed[0].entity.payload()};
    set_timestamp(payload, date_time{99});
    changed[0].entity = row{"p", "1", payload};
    CHECK(operation_row::content_of(changed) == content);
}

TEST_CASE("operation row: other rows are not recognized as operation rows") {
    CHECK_FALSE(operation_row::is_one(make_row("p", "r", {{"OperationVersion", 1}})));
    CHECK_FALSE(operation_row::is_one(make_row("p", "~!op!x")));
    CHECK_FALSE(operation_row::is_one(make_row("p", "~!op!x", {{"OperationVersion", 2}})));
    CHECK_FALSE(operation_row::is_one(make_row("p", "~!op!x", {{"OperationVersion", std::int64_t{1}}})));
    CHECK_FALSE(operation_row::is_one(row{"p", "~!op!x", {}}));
}

TEST_CASE("operation row: a void row has no content and means that nothing was applied") {
    row const given_up = operation_row::make_void("p", "0123abc");
    CHECK(given_up.partition_key() == "p");
    CHECK(given_up.row_key() == "~!op!0123abc");
    CHECK(given_up.view().find("OperationVersion")->as_int32() == 1);
    CHECK(given_up.view().find("OperationVoid")->as_boolean());
    CHECK_FALSE(given_up.view().find("OperationContent"));
    CHECK(operation_row::is_one(given_up));
    CHECK(operation_row::is_void(given_up));
    CHECK_FALSE(operation_row::is_void(operation_row::make("p", "0123abc", 7)));
}
