// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// bulk_report::all(): a success with refused rows becomes an error that names the first of them.

#include "books.hpp"
#include "support/catch.hpp"
#include <entitable/memory.hpp>

using namespace entitable;
using namespace bulk_test;
using entitable_test::ContainsSubstring;

namespace {

struct shelf {
    shelf() { books.create().value(); }

    memory_backend store;
    table<book> books{store, "books"};
};

} // namespace

TEST_CASE("all() of a bulk report returns the report if no row was refused") {
    shelf s;
    auto const report = bulk_insert(s.books, some_books(50)).value().all().value();
    CHECK(report.written == 50);
    CHECK(report.all()->read == 50);
}

TEST_CASE("all() of a bulk report returns the error of the first refused row") {
    shelf s;
    auto rows = some_books(50);
    auto const first = rows[20];
    s.books.insert({first.year, first.id, "another", {}}).value();
    s.books.insert({rows[30].year, rows[30].id, "another", {}}).value();
    auto const report = bulk_insert(s.books, rows).value();
    CHECK(report.written == 48);
    auto const whole = report.all();
    REQUIRE_FALSE(whole);
    CHECK(whole.error().code == error_code::entity_already_exists);
    CHECK(whole.error().effect == effect::none);
    CHECK_THAT(whole.error().message, ContainsSubstring("2 of 50 rows were refused, the first has index 20"));
    CHECK_THAT(whole.error().detail, ContainsSubstring(row_key_of(first).value()));
    CHECK(report.refusals.size() == 2); // the report is still available

    SECTION("even if the report keeps no refused rows") {
        auto const none = bulk_insert(s.books, rows, {.keep_refused = 0}).value().all();
        CHECK(none.error().code == error_code::other_service_error);
        CHECK_THAT(none.error().message, ContainsSubstring("2 of 50 rows were refused"));
    }
}

TEST_CASE("all() of a bulk report has an unknown effect if the effect of a refused row is unknown") {
    bulk_report made;
    made.read = made.refused = 2;
    made.refusals.push_back({0, "p", "1", error{error_code::invalid_input, "one"}});
    CHECK(made.all().error().effect == effect::none);
    made.refusals.push_back({1, "p", "2", error{error_code::transport_failed, "two"}});
    made.refusals.back().error.effect = effect::unknown;
    CHECK(made.all().error().code == error_code::invalid_input);
    CHECK(made.all().error().effect == effect::unknown);
}
