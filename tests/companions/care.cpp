// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Care of a list: changes of keys, violations, pending writes, the sums of one partition; and the outcome of a write.

#include "companions/books.hpp"
#include "support/around.hpp"
#include "support/catch.hpp"
#include <entitable/testing.hpp>

using namespace companion_tests;
using entitable_test::around;

namespace {

invoice const first{"ACME", 1, "ann", {}, "red", "mon", 100};
invoice const second{"ACME", 2, "bob", {}, "red", "tue", 40};

struct opened {
    memory_backend store;
    all_books books{open_books(store)};

    opened() {
        books.create().value();
        books.insert(first).value();
        books.insert(second).value();
    }
    void check() const {
        found_rows const found{store};
        CHECK(found.right());
        CHECK((books.verify)().value().good());
    }
};

} // namespace

TEST_CASE("companions: rekey() moves an entity with its index rows and sums") {
    opened const in;
    invoice moved = first;
    moved.number = 9;
    moved.day = "sun";
    CHECK(in.books.rekey(first, moved).value().changed);
    CHECK_FALSE(in.books.find<invoice>("ACME", 1).value());
    CHECK(in.books.get<invoice>("ACME", 9).value().day == "sun");
    in.check();
    moved.cents = 7;
    in.books.rekey(moved, moved).value(); // the same keys
    CHECK(in.books.get<invoice>("ACME", 9).value().cents == 7);
    CHECK(in.books.rekey(first, second).error().code == error_code::resource_not_found);
    CHECK(in.books.rekey(moved, second).error().code == error_code::entity_already_exists);
    invoice away = moved;
    away.tenant = "Orion";
    CHECK(in.books.rekey(moved, away).error().code == error_code::commands_in_batch_act_on_different_partitions);
    invoice unstorable = moved;
    unstorable.tenant = std::string(2000, 'x');
    CHECK(in.books.rekey(moved, unstorable).error().effect == effect::none);
    CHECK(in.books.rekey(unstorable, moved).error().effect == effect::none);
    in.check();
    // A list of entities only.
    memory_backend const store;
    table<counter, invoice> const plain{store, "plain"};
    plain.create().value();
    plain.insert(first).value();
    plain.rekey(first, invoice{"ACME", 3, "ann", {}, "red", "mon", 1}).value();
    CHECK(plain.get<invoice>("ACME", 3).value().cents == 1);
    CHECK_FALSE(plain.find<invoice>("ACME", 1).value());
}

namespace {

struct refund_of_day : refund {};
ENTITABLE(refund_of_day, partition_key(tenant), row_key(literal("DAY:"), day), properties(number))

} // namespace

TEST_CASE("companions: violations() lists the entities of one type, and resolving them changes sums") {
    memory_backend const store;
    using two_unique = table<invoice, refund, unique<by_reference>, unique<refund_of_day>, daily_sales>;
    two_unique const books{store, "books"};
    books.create().value();
    books.insert(first).value();
    books.insert(refund{"ACME", 1, "mon", 5}).value();
    books.unmaintained<invoice>().insert({"ACME", 7, "gus", {}, "red", "sun", first.cents}).value();
    books.unmaintained<refund>().insert({"ACME", 8, "mon", 5}).value();
    books.unmaintained<refund>().insert({"ACME", 9, "mon", 6}).value();
    books.build<daily_sales>().value();
    auto const of_invoices = books.violations<invoice>().value();
    REQUIRE(of_invoices.size() == 1);
    CHECK(of_invoices.front().index == "by_reference");
    CHECK(books.get(of_invoices.front().entities.at(0)).value().number == 1); // the one that the index finds
    CHECK(books.get(of_invoices.front().entities.at(1)).value().number == 7);
    auto const of_refunds = books.violations<refund>().value();
    REQUIRE(of_refunds.size() == 1);
    CHECK(of_refunds.front().entities.size() == 3);
    CHECK(books.sum({"ACME", "sun"}).value().cents == first.cents);
    CHECK(books.resolve_violation(of_invoices.front(), of_invoices.front().entities.front()).value() == 1);
    CHECK(books.sum({"ACME", "sun"}).value().cents == 0); // the removed one no longer counts
    CHECK(books.resolve_violation(of_refunds.front(), of_refunds.front().entities.at(2)).value() == 2);
    CHECK(books.violations<invoice>().value().empty());
    CHECK(books.violations<refund>().value().empty());
    CHECK((books.verify)().value().good());
}

TEST_CASE("companions: apply_pending() completes a write whose program ended") {
    opened const in;
    testing::faulty const nasty{in.store};
    auto const ends = open_books(nasty);
    CHECK(ends.get<invoice>("ACME", 1).has_value());
    std::uint64_t intents = 0;
    std::uint16_t unsettled = 0;
    for (std::uint64_t number = 1; number < 20; ++number) {
        nasty.plan({testing::fault::refused(), number, {}});
        auto const made =
            ends.update<invoice>("ACME", 1, [&](invoice& one) { one.account = "account" + std::to_string(number); });
        unsettled = static_cast<std::uint16_t>(unsettled + (made ? made->unsettled : 0));
        intents += in.books.apply_pending().value().intents;
        in.books.repair().value();
        in.check();
    }
    CHECK(intents > 0);
    CHECK(unsettled > 0);
}

TEST_CASE("companions: the sums of a single partition can be verified and rebuilt") {
    opened const in;
    in.books.insert(refund{"ACME", 1, "mon", 30}).value();
    in.books.insert(invoice{"Orion", 1, "eve", {}, "red", "mon", 8}).value();
    for (char const* const tenant : {"ACME", "Orion"}) {
        in.books.unmaintained<invoice>().insert({tenant, 5, "gus", {}, "red", "mon", 11}).value();
        in.books.unmaintained<refund>().insert({tenant, 5, "mon", 3}).value();
    }
    in.books.repair().value();
    auto const seen = in.books.verify<daily_sales>("ACME").value();
    CHECK(seen.wrong_sums == 1);
    CHECK(seen.sums == 1);
    CHECK(seen.indexes.entities == 3);
    CHECK_FALSE(seen.good());
    REQUIRE(seen.wrong_sums_first.size() == 1);
    CHECK(seen.wrong_sums_first.front() == row_keys{"ACME", "SALES:mon"});
    CHECK(in.books.rebuild<daily_sales>("ACME").value().wrong_sums == 1);
    CHECK(in.books.verify<daily_sales>("ACME").value().good());
    CHECK_FALSE(in.books.verify<daily_sales>("Orion").value().good()); // another partition
    CHECK(in.books.rebuild<balance>("ACME").value().wrong_sums > 0);   // of both entity types
    CHECK(in.books.sum(balance{"ACME"}).value().cents == 100 + 40 + 11 - 30 - 3);
    CHECK(in.books.verify<balance>("ACME").value().good());
    in.books.rebuild<daily_sales>("Orion").value();
    in.books.rebuild<balance>("Orion").value();
    in.check();
    CHECK(in.books.verify<daily_sales>(std::string(2000, 'x')).value().good()); // nothing can be there
}

TEST_CASE("companions: a write reports its attempts and the missing index rows") {
    opened const in;
    CHECK(in.books.insert(invoice{"ACME", 3, "cid", {}, "red", "mon", 1}).value().attempts == 1);
    in.books.unmaintained<by_customer>().remove("ACME", "ann", 1, any_etag).value();
    invoice changed = first;
    changed.customer = "eve";
    CHECK(in.books.replace(changed, any_etag).value().healed == 1);
    in.books.unmaintained<by_customer>().remove("ACME", "eve", 1, any_etag).value();
    CHECK(in.books.update<invoice>("ACME", 1, [](invoice& one) { one.customer = "zoe"; }).value().healed == 1);
    in.books.unmaintained<by_customer>().remove("ACME", "zoe", 1, any_etag).value();
    auto const made = in.books.transact("ACME", [&](auto& all) -> result<void> {
        all.remove(changed, any_etag);
        return {};
    });
    CHECK(made.value().healed == 1);
    in.check();
}

TEST_CASE("companions: transactions and updates use the attempt limit and the clock of the table, unless they have "
          "their own") {
    memory_backend const store;
    open_books(store).create().value();
    open_books(store).insert(first).value();
    auto const other = open_books(store);
    around const beaten{
        store, [&](std::string_view name, bool) {
            if (name == "transact") { // another writer is always faster
                other.unmaintained<invoice>().merge(at("ACME", 1), i::reference = "x", any_etag).value();
            }
        }};
    testing::manual_clock time;
    table_options how;
    how.max_attempts = 3;
    how.time = &time;
    how.delays = backoff{{}, std::chrono::seconds{10}, std::chrono::seconds{10}, 0};
    auto const books = open_books(beaten, how);
    auto const begun = time.steady();
    auto const change = [](invoice& one) { ++one.cents; };
    auto const updated = books.update<invoice>("ACME", 1, change);
    REQUIRE(!updated);
    CHECK_THAT(updated.error().message, entitable_test::ContainsSubstring("lost to other writers 3 times"));
    CHECK(time.steady() - begun == std::chrono::seconds{20});
    auto const body = [&](auto& all) -> result<void> {
        ENTITABLE_CHECK(all.template update<invoice>(1, change));
        return {};
    };
    CHECK_THAT(books.transact("ACME", body).error().message,
        entitable_test::ContainsSubstring("lost to other writers 3 times"));
    CHECK(time.steady() - begun == std::chrono::seconds{40});
    CHECK_THAT(books.transact("ACME", body, {.max_attempts = 2}).error().message,
        entitable_test::ContainsSubstring("lost to other writers 2 times"));
    CHECK_THAT(books.update<invoice>("ACME", 1, change, update_options{.max_attempts = 2}).error().message,
        entitable_test::ContainsSubstring("lost to other writers 2 times"));
    CHECK(time.steady() - begun == std::chrono::seconds{60});
    CHECK_THAT(books.replace(first, any_etag).error().message,
        entitable_test::ContainsSubstring("lost to other writers 3 times"));
}
