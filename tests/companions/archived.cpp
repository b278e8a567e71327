// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Archived removals: the entity is removed, and its sums stay. Sums are those of what was archived and of the entities that are stored.

#include "companions/opened.hpp"
#include "support/catch.hpp"
#include <entitable/bulk.hpp>
#include <entitable/copy.hpp>
#include <entitable/expiry.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing.hpp>
#include <entitable/unit_of_work.hpp>

using namespace companion_tests;

namespace {

struct opened : opened_books {
    void check_sums(std::int64_t cents, std::int64_t invoices) const {
        CHECK(books.sum(daily_sales{"ACME", "mon"})->cents == cents);
        CHECK(books.sum(daily_sales{"ACME", "mon"})->invoices == invoices);
        CHECK(books.sum(balance{"ACME"})->cents == cents);
        check();
    }
    [[nodiscard]] std::size_t archive_rows() const {
        std::size_t rows = 0;
        row_table{store, "books"}
            .for_each(
                {}, {}, [&](entity const& each) { rows += each.row_key().starts_with(system_row::sum) ? 1U : 0U; },
                system_rows::shown)
            .value();
        return rows;
    }
};

} // namespace

TEST_CASE("archived: the entity and its index rows are removed, and its sums stay") {
    opened const in;
    CHECK(in.books.remove(first, any_etag, removal::archived));
    in.check_sums(350, 2);
    CHECK_FALSE(in.books.find<invoice>("ACME", 1).value());
    CHECK(in.books.by<by_customer>().where(of_customer::tenant == "ACME").to()->size() == 1);
    CHECK(in.books.by<by_account>().where(of_account::account == "red").to()->size() == 1);
    CHECK(in.books.remove<invoice>("ACME", 2, any_etag, removal::archived));
    in.check_sums(350, 2);
    CHECK(in.books.insert(first)); // counts once more
    in.check_sums(450, 3);
    CHECK(in.books.remove(first, any_etag)); // and no longer
    in.check_sums(350, 2);
    CHECK(in.books.remove(first, any_etag, removal::archived).error().code == error_code::resource_not_found);
    in.check_sums(350, 2);
}

TEST_CASE("archived: batches, transactions and units of work archive what they remove") {
    opened const in;
    invoice third = first;
    third.number = 3;
    third.cents = 70; // a unique key
    in.books.insert(third).value();
    auto changes = in.books.batch();
    changes.remove(first, any_etag, removal::archived).insert_or_replace(counter{"ACME", 1});
    CHECK(changes.submit());
    in.check_sums(420, 3);
    CHECK(in.books.transact("ACME", [&](transaction<counter, invoice, refund>& all) -> result<void> {
        ENTITABLE_TRY(auto const read, all.get<invoice>(2));
        all.remove(read, removal::archived).remove(third, any_etag);
        return {};
    }));
    in.check_sums(350, 2);
    in.books.insert(third).value();
    unit_of_work work{in.books};
    work.remove(*work.find<invoice>("ACME", 3).value(), removal::archived);
    CHECK(work.save_all());
    in.check_sums(420, 3);
    CHECK_FALSE(in.books.find<invoice>("ACME", 3).value());
    work.attach(third, any_etag); // a removal that is not archived, after one that was
    in.books.insert(third).value();
    in.check_sums(490, 4);
    work.remove(third);
    CHECK(work.save_all());
    in.check_sums(420, 3);
}

TEST_CASE("archived: a removal under an ETag archives only the version that was read") {
    opened const in;
    auto const read = in.books.get_stored<invoice>("ACME", 1).value();
    CHECK(in.books.update<invoice>("ACME", 1, [](invoice& one) { one.cents = 150; }));
    CHECK(in.books.remove(first, read.etag, removal::archived).error().code ==
        error_code::update_condition_not_satisfied);
    in.check_sums(400, 2);
    CHECK(in.archive_rows() == 0);
    auto const now = in.books.get_stored<invoice>("ACME", 1).value();
    CHECK(in.books.remove<invoice>("ACME", 1, now.etag, removal::archived));
    in.check_sums(400, 2);
}

TEST_CASE("archived: a build computes sums from archive rows and from entities") {
    opened const in;
    CHECK(in.books.remove(first, any_etag, removal::archived));
    table<daily_sales> const sums{in.store, "books"};
    sums.insert_or_replace(daily_sales{"ACME", "mon", 1, 1}).value(); // wrong
    CHECK((in.books.verify)().value().wrong_sums == 1);
    CHECK(in.books.build<daily_sales>()->written == 1);
    in.check_sums(350, 2);
    sums.remove("ACME", "mon", any_etag).value();
    CHECK((in.books.verify)().value().wrong_sums == 1);
    CHECK(in.books.build<daily_sales>()->written == 1);
    in.check_sums(350, 2);
    CHECK(in.books.build<daily_sales>()->written == 0);
}

TEST_CASE("archived: a build covers a partition that has only archive rows") {
    opened const in;
    CHECK(in.books.remove(first, any_etag, removal::archived));
    CHECK(in.books.remove(second, any_etag, removal::archived));
    auto const past = table<as_entity<daily_sales>, as_entity<balance>>{in.store, "books"};
    CHECK(past.remove<daily_sales>("ACME", "mon", any_etag));
    for (balance const& each : past.scan_table<balance>().to().value()) { CHECK(past.remove(each, any_etag)); }
    CHECK(in.books.partitions()->empty());
    CHECK((in.books.verify)().value().wrong_sums == 3); // two parts of the balance
    CHECK(in.books.build<daily_sales>()->written == 1);
    CHECK(in.books.build<balance>()->written == 2);
    in.check_sums(350, 2);
}

TEST_CASE("archived: readers of entity types do not see archive rows") {
    opened const in;
    CHECK(in.books.remove(first, any_etag, removal::archived));
    CHECK(in.archive_rows() == 2); // of the day, and of one part of the balance
    CHECK(in.books.where(fields<daily_sales>::tenant == "ACME").count().value() == 1);
    CHECK(in.books.scan_table<daily_sales>().count().value() == 1);
    CHECK(in.books.scan_table<balance>().to()->size() == 2);
    CHECK(in.books.scan_table<invoice>().count().value() == 1);
    CHECK(table<daily_sales>{in.store, "books"}.scan_table().count().value() == 1);
    CHECK(table<invoice>{in.store, "books"}.scan_table().count().value() == 6); // rows of all types, no system rows
    std::size_t seen = 0;
    in.books.for_each_in_partition("ACME", [&](auto const&) { ++seen; }).value();
    CHECK(seen == 1);
}

TEST_CASE("archived: salted sums have an archive row for each part") {
    opened const in;
    for (std::int32_t number = 10; number < 30; ++number) {
        CHECK(in.books.insert(invoice{"ACME", number, "ann", {}, "red", "tue", number}));
    }
    CHECK(in.books.insert(refund{"ACME", 1, "mon", 40}));
    auto const before = in.books.sum(balance{"ACME"})->cents;
    bulk_options archiving;
    archiving.sums = removal::archived;
    CHECK(bulk_remove(in.books.of<invoice>(), in.books.where(i::tenant == "ACME"), archiving)->written == 22);
    CHECK(in.books.of<refund>().remove("ACME", 1, any_etag, removal::archived));
    in.check();
    CHECK(in.books.sum(balance{"ACME"})->cents == before);
    CHECK(in.books.sum(daily_sales{"ACME", "tue"})->invoices == 20);
    CHECK(in.books.scan_table<invoice>().count().value() == 0);
    CHECK(in.archive_rows() == 2 + 3); // two days, three parts
    CHECK(in.books.build<balance>()->written == 0);
    // A load without the option subtracts.
    CHECK(in.books.insert(first));
    CHECK(bulk_remove(in.books.of<invoice>(), in.books.where(i::tenant == "ACME"))->written == 1);
    CHECK(in.books.sum(balance{"ACME"})->cents == before);
    in.check();
}

TEST_CASE("archived: expiry removes entities and retains their sums") {
    opened const in;
    bulk_options archiving;
    archiving.sums = removal::archived;
    CHECK(expire(in.books.of<invoice>(), in.books.scan_table<invoice>(), std::chrono::nanoseconds{1}, archiving)
              ->written == 2);
    in.check_sums(350, 2);
    CHECK(in.books.scan_table<invoice>().count().value() == 0);
}

TEST_CASE("archived: in a table without sums, an archiving removal is a plain removal") {
    memory_backend const store;
    table<counter, invoice, by_customer> const listed{store, "listed"};
    listed.create().value();
    listed.insert(first).value();
    listed.insert(counter{"ACME", 1}).value();
    CHECK(listed.remove(first, any_etag, removal::archived));
    CHECK(listed.remove<counter>("ACME", any_etag, removal::archived));
    CHECK_FALSE(listed.remove_if_present<counter>("ACME", any_etag, removal::archived).value());
    table<invoice> const plain{store, "plain"};
    plain.create().value();
    plain.insert(first).value();
    plain.insert(second).value();
    CHECK(plain.remove(first, any_etag, removal::archived));
    CHECK(plain.remove("ACME", 2, any_etag, removal::archived));
    for (auto const* name : {"listed", "plain"}) {
        std::size_t rows = 0;
        auto const count = [&](entity const& each) { rows += each.partition_key() == "ACME" ? 1U : 0U; };
        row_table{store, name}.for_each({}, {}, count, system_rows::shown).value();
        CHECK(rows == 0);
    }
}

TEST_CASE("archived: a repeated write under one operation id archives once") {
    memory_backend const store;
    retrying const through{
        store, {.policy = retry_policy::fixed(3, std::chrono::milliseconds{1}), .operation_rows = true}};
    auto const books = open_books(through);
    books.create().value();
    books.insert(first).value();
    call_options once;
    once.operation_id = "archive-1";
    CHECK(books.with(once).remove(first, any_etag, removal::archived));
    CHECK(books.with(once).remove(first, any_etag, removal::archived));
    CHECK(books.sum(daily_sales{"ACME", "mon"})->invoices == 1);
    CHECK((books.verify)().value().good());
    CHECK(found_rows{store}.right());
}

TEST_CASE("archived: after a build, sums include an entity that was archived while their row was missing") {
    opened const in;
    table<daily_sales> const sums{in.store, "books"};
    sums.remove("ACME", "mon", any_etag).value();
    CHECK(in.books.remove(first, any_etag, removal::archived));
    CHECK(in.books.build<daily_sales>()->written == 1);
    in.check_sums(350, 2);
}

TEST_CASE("archived: the stored archive row matches its golden values") {
    opened const in;
    CHECK(in.books.remove(first, any_etag, removal::archived));
    call context;
    auto const found =
        any_store{in.store}.execute(get_entity{"books", "ACME", "~!sum!SALES:mon", {}}, context).value().entity;
    CHECK(found.view().find("cents")->as_int64() == 100);
    CHECK(found.view().find("invoices")->as_int64() == 1);
    std::size_t properties = 0;
    property_cursor cursor{found.view().payload};
    property_view property;
    while (cursor.next(property)) { ++properties; }
    CHECK(properties == 2);
}

TEST_CASE("archived: a copy of a table includes its archive rows") {
    opened const in;
    CHECK(in.books.remove(first, any_etag, removal::archived));
    memory_backend const target;
    row_table{target, "books"}.create().value();
    row_table{target, "accounts"}.create().value();
    CHECK(copy_rows(in.store, "books", target, "books"));
    CHECK(copy_rows(in.store, "accounts", target, "accounts"));
    auto const there = open_books(target);
    CHECK(there.sum(daily_sales{"ACME", "mon"})->cents == 350);
    CHECK((there.verify)().value().good());
    CHECK(there.build<daily_sales>()->written == 0);
}
