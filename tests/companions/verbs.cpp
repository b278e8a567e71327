// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Each verb of a table with indexes and sums: after it, every companion is what the entities alone say.

#include "companions/opened.hpp"
#include "support/catch.hpp"
#include <entitable/bulk.hpp>
#include <entitable/expiry.hpp>
#include <entitable/messaging.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/unit_of_work.hpp>

using namespace companion_tests;

namespace {

struct opened : opened_books {
    [[nodiscard]] std::size_t of_ann() const {
        return books.by<by_customer>()
            .where(of_customer::tenant == "ACME" && of_customer::customer == "ann")
            .to()
            ->size();
    }
};

} // namespace

TEST_CASE("companions: an insert writes index rows and sums") {
    opened const in;
    in.check();
    CHECK(in.of_ann() == 1);
    CHECK(in.books.by<by_account>().where(of_account::account == "red").to()->size() == 2);
    CHECK(in.books.sum(daily_sales{"ACME", "mon"})->cents == 350);
    CHECK(in.books.sum(daily_sales{"ACME", "mon"})->invoices == 2);
    CHECK(in.books.sum(balance{"ACME"})->cents == 350);
    CHECK(in.books.get<daily_sales>("ACME", "mon")->cents == 350);
    CHECK(in.books.where(fields<daily_sales>::tenant == "ACME").count().value() == 1);
    CHECK(in.books.where(i::tenant == "ACME").count().value() == 2);
    auto const again = in.books.insert(first);
    CHECK(again.error().code == error_code::entity_already_exists);
    auto taken = first;
    taken.number = 3;
    CHECK(in.books.insert(taken).error().code == error_code::entity_already_exists); // its unique key
    in.check();
}

TEST_CASE("companions: replacements, merges, updates and removals change index rows and sums") {
    opened const in;
    auto changed = first;
    changed.customer = "cid";
    changed.cents = 70;
    changed.account = "blue";
    changed.day = "tue";
    auto const replaced = in.books.replace(changed, any_etag).value();
    CHECK(in.books.get_stored<invoice>("ACME", 1)->etag == replaced.etag);
    in.check();
    CHECK(in.of_ann() == 0);
    CHECK(in.books.sum(daily_sales{"ACME", "tue"})->cents == 70);
    CHECK(in.books.replace(first, etag{"W/\"wrong\""}).error().code == error_code::update_condition_not_satisfied);
    in.check();
    CHECK(in.books.replace(first, replaced.etag));
    in.check();
    CHECK(in.books.merge(at("ACME", 1), i::cents = std::int64_t{90}, i::reference = "r1", any_etag));
    in.check();
    CHECK(in.books.get<invoice>("ACME", 1)->reference == "r1");
    CHECK(in.books.merge(at("ACME", 1), i::reference = absent, i::day = "wed", any_etag));
    CHECK_FALSE(in.books.get<invoice>("ACME", 1)->reference);
    in.check();
    auto const updated = in.books.update<invoice>("ACME", 1, [](invoice& one) { one.cents += 5; }).value();
    CHECK(updated.entity.cents == 95);
    CHECK(updated.etag == in.books.get_stored<invoice>("ACME", 1)->etag);
    in.check();
    CHECK_FALSE(in.books.update_if_present<invoice>("ACME", 9, [](invoice&) {}).value());
    CHECK(in.books.insert_or_replace(invoice{"ACME", 3, "dan", {}, "red", "mon", 7}));
    CHECK(in.books.insert_or_merge(invoice{"ACME", 3, "dan", "x", "blue", "mon", 8}));
    in.check();
    CHECK(in.books.remove<invoice>("ACME", 3, any_etag));
    CHECK(in.books.remove(first, any_etag));
    CHECK_FALSE(in.books.remove_if_present<invoice>("ACME", 1, any_etag).value());
    in.check();
    CHECK(in.books.sum(balance{"ACME"})->cents == 250);
}

TEST_CASE("companions: one sum can count entities of several types") {
    opened const in;
    CHECK(in.books.insert(refund{"ACME", 1, "mon", 30}));
    in.check();
    CHECK(in.books.sum(balance{"ACME"})->cents == 320);
    CHECK(in.books.update<refund>("ACME", 1, [](refund& one) { one.cents = 50; }));
    in.check();
    CHECK(in.books.remove<refund>("ACME", 1, any_etag));
    in.check();
    CHECK(in.books.sum(balance{"ACME"})->cents == 350);
}

TEST_CASE("companions: a batch of several types is one transaction with all companions") {
    opened const in;
    auto all = in.books.batch();
    auto moved = second;
    moved.cents = 100; // the key of the unique index passes from the first invoice to the second
    all.remove(first, any_etag)
        .replace(moved, any_etag)
        .insert(refund{"ACME", 4, "mon", 1})
        .insert(counter{"ACME", 7})
        .merge(at("ACME", 2), i::day = "thu", any_etag);
    CHECK(all.submit().error().code == error_code::invalid_duplicate_row);
    in.check();
    auto good = in.books.batch();
    good.remove(first, any_etag)
        .replace(moved, any_etag)
        .insert(refund{"ACME", 4, "mon", 1})
        .insert(counter{"ACME", 7});
    auto const done = good.submit().value();
    REQUIRE(done.size() == 4);
    CHECK(done[0].etag.empty());
    CHECK(done[1].etag == in.books.get_stored<invoice>("ACME", 2)->etag);
    CHECK(done[3].etag == in.books.get_stored<counter>("ACME")->etag);
    in.check();
    auto removes = in.books.batch();
    removes.merge(at("ACME", 2), i::reference = absent, i::cents = std::int64_t{4}, any_etag);
    CHECK(removes.submit());
    in.check();
    auto refused = in.books.batch();
    refused.insert(invoice{"ACME", 8, "eve", {}, "red", "fri", 8}).insert(refund{"ACME", 4, "mon", 1});
    auto const why = refused.submit();
    CHECK(why.error().code == error_code::entity_already_exists);
    CHECK(why.error().operation_index == 1U);
    in.check();
    auto elsewhere_batch = in.books.batch();
    elsewhere_batch.insert(refund{"ACME", 5, "mon", 1}).insert(refund{"Other", 5, "mon", 1});
    CHECK(elsewhere_batch.submit().error().code == error_code::commands_in_batch_act_on_different_partitions);
    CHECK(in.books.batch().submit().error().code == error_code::invalid_input);
}

TEST_CASE("companions: a transaction that changes entities of two types maintains index rows and sums") {
    opened const in;
    in.books.insert(counter{"ACME", 2}).value();
    auto const bill = [&](std::string const& customer, std::int64_t cents) {
        return in.books.transact("ACME", [&](transaction<counter, invoice, refund>& all) -> result<void> {
            ENTITABLE_TRY(auto next, all.get<counter>());
            ++next.last;
            all.replace(next).insert(
                invoice{"ACME", static_cast<std::int32_t>(next.last), customer, {}, "green", "mon", cents});
            return {};
        });
    };
    CHECK(bill("ann", 5)->changed);
    CHECK(bill("fay", 6)->changed);
    CHECK(bill("fay", 6).error().code == error_code::entity_already_exists);
    in.check();
    CHECK(in.of_ann() == 2);
    CHECK(in.books.sum(daily_sales{"ACME", "mon"})->cents == 361);
    CHECK(in.books.get<counter>("ACME")->last == 4);
}

TEST_CASE("companions: an index row without an entity is reported, removed by repair() and skipped by reads") {
    opened const in;
    auto const core = table<by_customer>{in.store, "books"};
    by_customer stray;
    static_cast<invoice&>(stray) = invoice{"ACME", 9, "nobody", {}, "red", "mon", 1};
    CHECK(core.insert(stray)); // by a program that does not know the table
    CHECK((in.books.verify)().value().indexes.dangling == 1);
    CHECK(in.books.repair().value().removed == 1);
    in.check();
    std::size_t seen = 0;
    in.books.for_each_in_partition("ACME", [&](auto const& each) { seen += each.index() == 1 ? 1U : 100U; }).value();
    CHECK(seen == 2);
}

TEST_CASE("companions: writes that bypass the table are found and corrected") {
    opened const in;
    auto const past = in.books.unmaintained<invoice>();
    past.insert({"ACME", 5, "gus", {}, "red", "sun", 11}).value();
    past.remove(second, any_etag).value();
    auto const found = (in.books.verify)().value();
    CHECK(found.indexes.missing == 3);
    CHECK(found.indexes.dangling == 3);
    CHECK(found.wrong_sums >= 3);
    in.books.repair().value();
    in.books.build<daily_sales>().value();
    in.books.build<balance>().value();
    in.check();
}

TEST_CASE("companions: a program with a different list is refused") {
    opened const in;
    table<counter, invoice, by_customer> const fewer{in.store, "books"};
    CHECK(fewer.insert(invoice{"ACME", 6, "x", {}, "red", "mon", 9}).error().code == error_code::declaration_differs);
    CHECK(fewer.insert(counter{"ACME", 6}).error().code == error_code::declaration_differs);
    CHECK(fewer.where(i::tenant == "ACME").count().value() == 2);
    in.check();
    memory_backend const empty;
    table<counter, invoice, by_customer> const bare{empty, "books"};
    table<invoice>{empty, "books"}.create().value();
    CHECK(bare.insert(first).error().code == error_code::declaration_missing);
    CHECK(bare.create_if_absent().has_value());
    CHECK(bare.insert(first));
}

TEST_CASE("companions: a table with other call options still maintains indexes and sums") {
    opened const in;
    auto const quick = in.books.with({.timeout = std::chrono::seconds{5}});
    CHECK(quick.options().timeout == std::chrono::seconds{5});
    CHECK(quick.insert(invoice{"ACME", 6, "x", {}, "red", "mon", 9}));
    in.check();
}

TEST_CASE("companions: loads, expiry and units of work maintain index rows and sums") {
    opened const in;
    std::vector<invoice> many;
    for (std::int32_t number = 10; number < 60; ++number) {
        many.push_back({"ACME", number, "ann", {}, number % 2 == 0 ? "red" : "blue", "sun", 1'000 + number});
    }
    CHECK(bulk_insert(in.books, many)->written == 50);
    in.check();
    CHECK(in.of_ann() == 51);
    for (invoice& each : many) { each.day = "mon"; }
    CHECK(bulk_upsert(in.books, many)->written == 50);
    in.check();
    CHECK(bulk_update(in.books, in.books.where(i::tenant == "ACME" && i::number >= 50), [](invoice& one) {
        one.customer = "old";
    })->written == 10);
    in.check();
    CHECK(bulk_remove(in.books, in.books.where(i::tenant == "ACME" && i::number >= 40))->written == 20);
    in.check();
    unit_of_work work{in.books};
    invoice& one = *work.find<invoice>("ACME", 1).value();
    one.cents = 3;
    one.account = "green";
    work.add(refund{"ACME", 7, "mon", 2});
    work.remove(*work.find<invoice>("ACME", 2).value());
    CHECK(work.save_all(save_mode::batch));
    in.check();
    CHECK(in.books.get<invoice>("ACME", 1)->cents == 3);
    one.cents = 4;
    in.books.update<invoice>("ACME", 1, [](invoice& each) { each.cents = 5; }).value(); // by another program
    auto const saved = work.save().value();
    CHECK(saved.failed.size() == 1);
    CHECK(work.conflict_of(one).value()->theirs->cents == 5);
    work.resolve(one, keep::mine);
    CHECK(work.save_all());
    in.check();
    CHECK(expire(in.books, in.books.scan_table<invoice>(), std::chrono::nanoseconds{1})->written == 31);
    in.check();
    CHECK(in.books.sum(balance{"ACME"})->cents == -2); // the refund stays
}

TEST_CASE("companions: sums are built for a table that already has entities, while writes by a program with a "
          "different declaration are refused") {
    memory_backend const store;
    testing::manual_clock time;
    table_options how;
    how.time = &time;
    using narrow = table<counter, invoice, by_customer>;
    using wider = table<counter, invoice, by_customer, daily_sales>;
    narrow const before{store, "books", how};
    before.create().value();
    before.insert(first).value();
    wider const after{store, "books", how};
    CHECK(after.insert(second));
    CHECK(after.state<daily_sales>().value() == index_state::absent);
    CHECK(after.sum(daily_sales{"ACME", "mon"}).error().code == error_code::index_not_ready);
    CHECK(after.where(fields<daily_sales>::tenant == "ACME").count().error().code == error_code::index_not_ready);
    auto const started = time.steady();
    CHECK(after.build<daily_sales>());
    CHECK(time.steady() - started >= std::chrono::seconds{150}); // the leases of other programs
    CHECK(after.state<daily_sales>().value() == index_state::ready);
    CHECK(after.sum(daily_sales{"ACME", "mon"})->cents == 350);
    auto const refused = before.insert(invoice{"ACME", 3, "x", {}, "red", "mon", 1});
    CHECK(refused.error().code == error_code::declaration_differs);
    CHECK_THAT(refused.error().message, entitable_test::ContainsSubstring("daily_sales"));
    CHECK(before.retire("daily_sales"));
    CHECK(before.insert(invoice{"ACME", 3, "x", {}, "red", "mon", 1}));
    CHECK(after.sum(daily_sales{"ACME", "mon"}).error().code == error_code::index_not_ready);
    CHECK(after.build<daily_sales>());
    CHECK(after.sum(daily_sales{"ACME", "mon"})->cents == 351);
    CHECK((after.verify)().value().good());
}

TEST_CASE("companions: the stored declaration matches its golden values") {
    opened const in;
    call context;
    auto const stored = [&](std::string const& name) {
        return any_store{in.store}
            .execute(get_entity{"books", "~!index!", "~!index!" + name, {}}, context)
            .value()
            .entity;
    };
    auto const sums = stored("daily_sales");
    CHECK(sums.view().find("State")->bytes() == "ready");
    CHECK(sums.view().find("Definition")->as_int64() == 4629785163755478556);
    CHECK(sums.view().find("Kind")->bytes() == "sum");
    CHECK(sums.view().find("Entities")->bytes().empty());
    auto const index = stored("by_customer");
    CHECK(index.view().find("Definition")->as_int64() == 4545378282546417783);
    CHECK_FALSE(index.view().find("Kind"));
}

TEST_CASE("companions: a batch that contains a message maintains index rows and sums") {
    opened const in;
    table_queue<refund> const queue{in.store, "messages"};
    queue.create().value();
    auto const send = [&](auto batch) {
        batch.insert(invoice{"ACME", 70, "ann", {}, "red", "mon", 70});
        queue.outbox(batch, refund{"ACME", 70, "mon", 1});
        CHECK(batch.submit());
    };
    send(in.books.batch());
    in.check();
    CHECK(in.books.remove<invoice>("ACME", 70, any_etag));
    send(in.books.of<invoice>().batch());
    in.check();
    CHECK(queue.relay(in.store, "books").value() == 2);
}

TEST_CASE("companions: a repeated write under one operation id is applied once, even if it creates sum rows") {
    memory_backend const store;
    retrying const through{
        store, {.policy = retry_policy::fixed(3, std::chrono::milliseconds{1}), .operation_rows = true}};
    auto const books = open_books(through);
    books.create().value();
    call_options once;
    once.operation_id = "invoice-1";
    CHECK(books.with(once).insert(first));
    CHECK(books.with(once).insert(first));
    CHECK(books.sum(daily_sales{"ACME", "mon"})->invoices == 1);
    CHECK(books.with(once).of<invoice>().insert(second).error().code == error_code::not_supported);
    CHECK((books.verify)().value().good());
}

namespace {

struct by_payer : invoice {}; // in other partitions of the same table
ENTITABLE(by_payer, partition_key(account), row_key(literal("PAYER:"), escaped(tenant), number), properties(cents))

} // namespace

TEST_CASE("companions: an index with a different partition key can be in the table itself") {
    memory_backend const store;
    table<invoice, elsewhere<by_payer>, daily_sales> const books{store, "books"};
    books.create().value();
    books.insert(first).value();
    books.insert(invoice{"red", 2, "bob", {}, "ACME", "mon", 9}).value(); // both partitions have rows of both types
    auto const of_red = [&] { return books.by<by_payer>().where(fields<by_payer>::account == "red").to()->size(); };
    CHECK(of_red() == 1);
    CHECK(books.scan_table<invoice>().count().value() == 2);
    books.update<invoice>("ACME", 1, [](invoice& one) { one.account = "blue"; }).value();
    CHECK(of_red() == 0);
    CHECK((books.verify)().value().good());
    std::size_t seen = 0;
    books.for_each_in_partition("red", [&](auto const& each) { seen += each.index() == 0 ? 1U : 100U; }).value();
    CHECK(seen == 1);
}
