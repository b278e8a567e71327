// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "companions/books.hpp"
#include "support/catch.hpp"

using namespace companion_tests;

namespace {

template <class Result>
void check_gone(Result const& answer) {
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == error_code::invalid_input);
    CHECK_THAT(answer.error().message, entitable_test::ContainsSubstring("moved from"));
}

} // namespace

TEST_CASE("moved from: a table with indexes and sums") {
    memory_backend const store;
    auto books = open_books(store);
    books.create().value();
    invoice const one{"ACME", 1, "ann", {}, "red", "mon", 5};
    auto const kept = std::move(books);
    check_gone(books.insert(one)); // NOLINT: tests the moved-from state
    check_gone(books.get<invoice>("ACME", 1));
    check_gone(books.update<invoice>("ACME", 1, [](invoice&) {}));
    check_gone(books.replace(one, any_etag));
    check_gone(books.insert_or_replace(one));
    check_gone(books.rekey(one, one));
    check_gone(books.remove(one, any_etag));
    check_gone(books.get<daily_sales>("ACME", "mon"));
    check_gone(books.batch().insert(one).submit());
    check_gone(books.where(i::tenant == "ACME").to());
    check_gone(books.by<by_customer>().where(of_customer::tenant == "ACME").to());
    check_gone(books.sum(daily_sales{"ACME", "mon"}));
    check_gone(books.of<invoice>().insert(one));
    check_gone(books.unmaintained<invoice>().insert(one));
    check_gone(books.with({}).insert(one));
    check_gone(books.create());
    check_gone(books.drop());
    check_gone((books.verify)());
    check_gone(books.verify<daily_sales>("ACME"));
    check_gone(books.rebuild<daily_sales>("ACME"));
    check_gone(books.repair());
    check_gone(books.apply_pending());
    check_gone(books.violations<invoice>());
    check_gone(books.build<daily_sales>());
    check_gone(books.build());
    check_gone(books.adopt());
    check_gone(books.remove(one, any_etag, removal::archived));
    check_gone(books.retire<daily_sales>());
    check_gone(books.state<daily_sales>());
    check_gone(books.transact("ACME", [&](auto& all) -> result<void> {
        all.insert(one);
        return {};
    }));
    CHECK(kept.insert(one));
    found_rows const found{store};
    CHECK(found.right());
}
