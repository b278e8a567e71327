// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Features built on tables, moved from: indexes, sums, views, units of work, queues, checkpoints.

#include <entitable/advice.hpp>
#include <entitable/advice/measured/stress_test.hpp>
#include <entitable/bulk.hpp>
#include <entitable/client/row_table.hpp>
#include <entitable/copy.hpp>
#include <entitable/expiry.hpp>
#include <entitable/feed.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/sync.hpp>
#include <entitable/tables.hpp>
#include <entitable/unit_of_work.hpp>
#include <entitable/views.hpp>

#include <support/moved_from.hpp>
#include <support/runners.hpp>
#include <support/sales.hpp>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

sale const first{"kiel", 1, "mon", 250};
auto const in_kiel = s::shop == "kiel";

} // namespace

TEST_CASE("moved from: a table with indexes and its batch, indexed_by, indexed_query") {
    using sales_table = table<sale, by_day, elsewhere<by_cents>>;
    memory_backend const store;
    sales_table sales{store, "sales", in_table<by_cents>{store, "cents"}};
    sales.create().value();
    sales.insert(first).value();
    auto by = sales.by<by_day>();
    auto asked = by.where(d::shop == "kiel");
    auto changes = sales.batch();

    auto kept_query = moved(asked);
    CHECK(kept_query.to().value().size() == 1);
    CHECK_GONE(asked.to());
    CHECK_GONE(asked.first());
    CHECK_GONE(asked.for_each([](sale const&) {}));
    CHECK_GONE(asked.explain());
    CHECK_GONE(asked.unverified().to());
    CHECK_GONE(asked.select(d::cents).to());
    CHECK_GONE(asked.take(1).page_size(1).in_flight(1).to());
    auto const kept_by = moved(by);
    CHECK_GONE(by.where(d::shop == "kiel").to());
    CHECK_GONE(by.scan_index().to());
    changes.insert(first);
    auto const kept_batch = moved(changes);
    CHECK(changes.submit().error().code == error_code::invalid_input);
    changes.insert(first);
    CHECK_GONE(changes.submit());

    auto const kept = moved(sales);
    CHECK(kept.get("kiel", 1).value().cents == 250);
    CHECK(sales.name().empty());
    CHECK_GONE(sales.create());
    CHECK_GONE(sales.create_if_absent());
    CHECK_GONE(sales.drop());
    CHECK_GONE(sales.insert(first));
    CHECK_GONE(sales.replace(first, any_etag));
    CHECK_GONE(sales.merge(first, any_etag));
    CHECK_GONE(sales.merge(at("kiel", 1), s::cents = 3, any_etag));
    CHECK_GONE(sales.insert_or_replace(first));
    CHECK_GONE(sales.insert_or_merge(first));
    CHECK_GONE(sales.rekey(first, sale{"kiel", 2, "mon", 1}));
    CHECK_GONE(sales.remove("kiel", 1, any_etag));
    CHECK_GONE(sales.update("kiel", 1, [](sale&) {}));
    CHECK_GONE(sales.transact("kiel", [](transaction<sale>& in) -> result<void> {
        in.insert(first);
        return {};
    }));
    CHECK_GONE(sales.get("kiel", 1));
    CHECK_GONE(sales.find("kiel", 1));
    CHECK_GONE(sales.get_stored("kiel", 1));
    CHECK_GONE(sales.batch().insert(first).submit());
    CHECK_GONE(sales.where(in_kiel).to());
    CHECK_GONE(sales.scan_table().to());
    CHECK_GONE(sales.by<by_day>().where(d::shop == "kiel").to());
    CHECK_GONE(sales.by<by_cents>().where(c::cents == 3).to());
    CHECK_GONE((sales.verify)());
    CHECK_GONE(sales.repair());
    CHECK_GONE(sales.apply_pending());
    CHECK_GONE(sales.violations());
    index_violation<sale> const two{"by_day", {"kiel", "DAY:mon"}, {{"kiel", "1"}, {"kiel", "2"}}};
    CHECK(sales.resolve_violation(two, two.entities.front()).error().code == error_code::invalid_input);
    CHECK_GONE(sales.build<by_day>());
    CHECK_GONE(sales.build<by_cents>());
    CHECK_GONE(sales.retire<by_day>());
    CHECK_GONE(sales.state<by_cents>());
}

TEST_CASE("moved from: materialized_view") {
    table<sale> const sales{memory_backend{}, "sales"};
    sales.create().value();
    sales.insert(first).value();
    materialized_view<day_sum> sums{sales.store(), "sums"};
    sums.create().value();
    auto const kept = moved(sums);
    CHECK_GONE(sums.create());
    CHECK_GONE(sums.create_if_absent());
    CHECK_GONE(sums.drop());
    CHECK_GONE(sums.refresh(sales.where(in_kiel)));
    CHECK_GONE((sums.verify)(sales.where(in_kiel)));
    CHECK_GONE(sums.open());
    CHECK_GONE(sums.read([](reader<day_sum> const& of) { return of.scan_table().to(); }));
}

TEST_CASE("moved from: unit_of_work") {
    table<sale> const sales{memory_backend{}, "sales"};
    sales.create().value();
    sales.insert(first).value();
    unit_of_work work{sales};
    sale& held = *work.find("kiel", 1).value();
    auto kept = moved(work);
    CHECK_GONE(work.find("kiel", 1));
    CHECK_GONE(work.find(merge_option::overwrite_changes, "kiel", 1));
    CHECK_GONE(work.track(sales.where(in_kiel)));
    CHECK_GONE(work.refresh(held));
    CHECK_GONE(work.save());
    CHECK(work.tracked("kiel", 1) == nullptr);
    CHECK(work.state_of(held) == entity_state::detached);
    CHECK(work.size() == 0);
    CHECK(work.pending().empty());
    CHECK(work.conflicts().empty());
    CHECK(work.conflict_of(held).value() == std::nullopt);
    work.detach(held);
    work.clear();
    CHECK_GONE(work.save());

    SECTION("entities are added and attached") {
        CHECK(work.add(sale{"kiel", 2, "mon", 1}).number == 2);
        CHECK(work.attach(sale{"kiel", 3, "mon", 1}, any_etag).number == 3);
    }
    SECTION("an entity is removed") { work.remove(held); }
    SECTION("a conflict is resolved") {
        work.resolve(held, keep::mine);
        work.resolve(held, first);
    }
    CHECK_GONE(work.find("kiel", 1));
    CHECK_GONE(work.save());
    CHECK_GONE(work.save());

    work = unit_of_work{sales}; // and it can be used again
    CHECK(work.find("kiel", 1).value()->cents == 250);
    CHECK(work.save());
    held.cents = 3;
    CHECK(kept.save().value().good());
}

TEST_CASE("moved from: feed, feed_batch") {
    memory_backend const store;
    table<sale, announced> sales{store, "sales"};
    sales.create().value();
    feed changes{sales, "search"};
    changes.create().value();
    sales.insert(first).value();
    auto batch = *changes.next().value();
    auto const done = moved(batch);
    CHECK_GONE(batch.done());
    CHECK(batch.partitions().empty());
    CHECK(done.done());
    auto const kept = moved(changes);
    CHECK_GONE(changes.create());
    CHECK_GONE(changes.leave());
    CHECK_GONE(changes.next());
    CHECK_GONE(changes.release());
    CHECK_GONE(changes.status());
    CHECK_GONE(changes.check_lag());
    CHECK_FALSE(kept.next().value());
    auto const other = moved(sales);
    CHECK_GONE(feed{sales, "search"}.create());
}

TEST_CASE("moved from: table_queue, claimed") {
    table_queue<sale> queue{memory_backend{}, "queue"};
    queue.create().value();
    queue.enqueue(first).value();
    queue.enqueue(first).value();
    auto item = queue.claim().value().value();
    auto const kept_item = moved(item);
    auto const spent = [](auto const& answer) {
        REQUIRE(!answer);
        CHECK(answer.error().code == error_code::invalid_input); // its receipt was moved along
    };
    spent(item.complete());
    spent(item.renew());
    spent(item.release());
    spent(item.fail("why"));
    spent(saga_for<sale>("one", step("step", [](sale const&) -> result<void> { return {}; })).resume(item));
    static_cast<void>(item.remaining());

    auto const kept = moved(queue);
    CHECK(queue.name().empty());
    CHECK_GONE(queue.create());
    CHECK_GONE(queue.enqueue(first));
    CHECK_GONE(queue.enqueue(first, {.delay = 3s}));
    CHECK_GONE(queue.enqueue_all(std::vector<sale>{first}));
    CHECK_GONE(queue.claim());
    CHECK_GONE(queue.claim({.wait = 1h})); // does not wait for a message that cannot come
    CHECK_GONE(queue.claim_some(3));
    CHECK_GONE(queue.relay(memory_backend{}, "sales"));
    CHECK_GONE(queue.peek());
    CHECK_GONE(queue.approximate_size());
    CHECK_GONE(queue.oldest_age());
    CHECK_GONE(queue.dead_letters());
    CHECK(!queue.requeue({})); // a letter with no content, in this test
    CHECK_GONE(queue.purge({}));
    CHECK_GONE(queue.sweep());
    // A message of an empty queue is not written next to an entity.
    table<sale> const sales{memory_backend{}, "sales"};
    sales.create().value();
    auto changes = sales.batch();
    changes.insert(first);
    static_cast<void>(queue.outbox(changes, first));
    CHECK_GONE(changes.submit());
    CHECK(sales.find("kiel", 1).value() == std::nullopt);

    auto other = kept.claim().value().value();
    std::vector<claimed<sale>> items;
    items.push_back(moved(other));
    CHECK_GONE(queue.complete_all(items));
}

TEST_CASE("moved from: bulk_checkpoint, file_checkpoint, row_checkpoint") {
    auto const check = [](auto const& gone) {
        CHECK_GONE(gone.load());
        CHECK_GONE(gone.save("text"));
        CHECK_GONE(gone.clear());
    };
    row_checkpoint in_row{memory_backend{}, "loads", "p", "one"};
    auto const kept_row = moved(in_row);
    check(in_row);
    file_checkpoint in_file{"/tmp/entitable_no_such_folder/a_path_that_no_small_string_holds"};
    auto const kept_file = moved(in_file);
    check(in_file);
    bulk_checkpoint any{kept_row};
    auto const kept = moved(any);
    check(any);
}

TEST_CASE("moved from: stress_test, and tables passed to functions") {
    stress_test<sale> test{memory_backend{}, "stress", {first}};
    test.reads(1);
    auto const kept = moved(test);
    auto const ran = test.run();
    REQUIRE(!ran);
    CHECK(ran.error().code == error_code::invalid_input); // it has neither calls nor entities
    table<sale> from{memory_backend{}, "sales"};
    auto const kept_table = moved(from);
    table<sale> const to{memory_backend{}, "sales"};
    to.create().value();
    CHECK_GONE(copy(from, to));
    CHECK_GONE(bulk_copy(from.scan_table(), to));
    to.insert(first).value();
    CHECK_GONE(copy(to, from));
    CHECK_GONE(bulk_copy(to.scan_table(), from));
    CHECK_GONE(expire(from, from.scan_table(), 24h));
    sync_options whole;
    whole.whole_table = true;
    CHECK_GONE(synchronize(from, to, whole));
    CHECK_GONE(synchronize(to, from, whole));
    receipt_options receipts;
    receipts.whole_table = true;
    CHECK_GONE(expire_receipts(from, 24h, receipts));
    receipts = {.partitions = {"kiel"}};
    CHECK_GONE(expire_receipts(from, 24h, receipts));
    row_table rows{memory_backend{}, "sales"};
    auto const kept_rows = moved(rows);
    CHECK_GONE(synchronize(rows, row_table{to.store(), "sales"}, whole));
}
