// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Features built on tables, called again after an error at each of their requests: a call fails or completes
// everything.

#include <entitable/bulk.hpp>
#include <entitable/client/row_table.hpp>
#include <entitable/copy.hpp>
#include <entitable/expiry.hpp>
#include <entitable/fleet.hpp>
#include <entitable/messaging.hpp>
#include <entitable/once.hpp>
#include <entitable/sequence.hpp>
#include <entitable/sync.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/views.hpp>
#include <entitable/wide.hpp>

#include <support/asked_again.hpp>
#include <support/sales.hpp>

#include <set>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

constexpr std::int32_t number_of_sales = 9;

/// Sales of three shops over three days.
table<sale> sales_in(any_store const& store, std::string name = "sales") {
    table<sale> const all{store, std::move(name)};
    all.create().value();
    for (std::int32_t number = 0; number < number_of_sales; ++number) {
        all.insert({"shop" + std::to_string(number % 3), number, "day" + std::to_string(number / 3), number}).value();
    }
    return all;
}

bulk_options quick(entitable::clock& time) {
    bulk_options how;
    how.time = &time;
    how.seed = 7;
    return how;
}

} // namespace

TEST_CASE("repeated requests: bulk copies and expiry can be repeated") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        testing::manual_clock time;
        auto const from = sales_in(store);
        table<sale> const to{store, "copies"};
        to.create().value();
        plan();
        for (int asked = 0;; ++asked) {
            auto const copied = bulk_copy(from.scan_table().page_size(4), to, quick(time));
            if (copied && copied->all()) { break; }
            REQUIRE(asked < 5);
        }
        CHECK(asked_until_success([&] { return to.scan_table().to(); })->size() == number_of_sales);
        time.advance(48h);
        for (int asked = 0;; ++asked) {
            auto const gone = expire(from, from.scan_table().page_size(4), -100 * 24h, quick(system_clock()));
            if (gone && gone->all()) { break; }
            REQUIRE(asked < 5);
        }
        CHECK(asked_until_success([&] { return from.scan_table().to(); })->empty());
    });
}

TEST_CASE("repeated requests: a table is copied") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        auto const from = sales_in(store);
        table<sale> const to{store, "copies"};
        to.create().value();
        plan();
        static_cast<void>(asked_until_success([&] { return copy(from, to); }));
        CHECK(asked_until_success([&] { return to.scan_table().to(); })->size() == number_of_sales);
    });
}

TEST_CASE("repeated requests: a view is refreshed, verified and read") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        testing::manual_clock time;
        auto const all = sales_in(store);
        view_options how;
        how.load = quick(time);
        materialized_view<day_sum> const sums{store, "sums", how};
        sums.create().value();
        plan();
        static_cast<void>(asked_until_success([&] { return sums.refresh(all.scan_table().page_size(4)); }));
        auto const audit = asked_until_success([&] { return (sums.verify)(all.scan_table().page_size(4)); });
        CHECK(audit->missing + audit->dangling + audit->different == 0);
        auto const seen = asked_until_success(
            [&] { return sums.read([](reader<day_sum> const& of) { return of.scan_table().page_size(4).to(); }); });
        CHECK(seen->value.size() == number_of_sales);
    });
}

TEST_CASE("repeated requests: an index is queried and maintained") {
    using sales_table = table<sale, by_day, elsewhere<by_cents>>;
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        sales_table const sales{store, "sales", in_table<by_cents>{store, "cents"}};
        sales.create().value();
        for (std::int32_t number = 0; number < 3; ++number) { sales.insert({"kiel", number, "mon", 3}).value(); }
        sales_table const others{store, "sales", in_table<by_cents>{store, "cents"}};
        plan();
        CHECK(asked_until_success([&] {
            return others.by<by_day>().where(d::shop == "kiel").page_size(2).to();
        })->size() == 3);
        CHECK(asked_until_success([&] {
            return others.by<by_cents>().where(c::cents == 3).page_size(2).to();
        })->size() == 3);
        // A failed write is completed by the next write or by a repair.
        for (int asked = 0; !sales.insert_or_replace({"kiel", 1, "tue", 4}) && asked < 5; ++asked) {}
        static_cast<void>(asked_until_success([&] { return sales.repair(); }));
        auto const seen = asked_until_success([&] { return (sales.verify)(); });
        CHECK(seen->good());
        CHECK(asked_until_success([&] { return others.by<by_cents>().where(c::cents == 3).to(); })->size() == 2);
        CHECK(asked_until_success([&] { return others.by<by_cents>().where(c::cents == 4).to(); })->size() == 1);
    });
}

TEST_CASE("repeated requests: sums are read and audited") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        table<sale, day_sum> const sales{store, "sales"};
        sales.create().value();
        plan();
        for (int asked = 0; asked < 5; ++asked) {
            if (sales.insert_or_replace({"kiel", 1, "mon", 3})) { break; }
        }
        CHECK(asked_until_success([&] { return sales.sum({"kiel", "mon"}); })->cents == 3);
        CHECK(asked_until_success([&] { return sales.verify<day_sum>("kiel"); })->good());
        CHECK(asked_until_success([&] { return sales.rebuild<day_sum>("kiel"); })->good());
    });
}

TEST_CASE("repeated requests: numbers are drawn from a sequence") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        testing::manual_clock time;
        sequence_options how;
        how.max_attempts = 1;
        how.block = 2;
        how.time = &time;
        sequence const numbers{store, "orders", how};
        plan();
        std::int64_t last = 0;
        for (int drawn = 0; drawn < 6; ++drawn) {
            auto const next = asked_until_success([&] { return numbers.next(); });
            CHECK(next->value > last);
            last = next->value;
        }
    });
}

TEST_CASE("repeated requests: a function is run once for each key") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        testing::manual_clock time;
        once_options how;
        how.max_attempts = 2;
        how.time = &time;
        how.seed = 7;
        once const mails{store, "mail", how};
        plan();
        for (char const* const key : {"ann", "bob"}) {
            int runs = 0;
            auto const run = [&] {
                return mails.run(key, [&](once_run const&) -> result<void> {
                    ++runs;
                    return {};
                });
            };
            auto done = run();
            for (int asked = 0; !done && done.error().code != error_code::store_busy; ++asked) {
                REQUIRE(asked < 5);
                done = run();
            }
            if (!done) { CHECK(runs <= 1); } // the claim, or the mark, was lost: the key stays claimed
            if (done) {
                CHECK(runs == 1);
                auto const again = run();
                CHECK_FALSE((again && again->ran));
                CHECK(runs == 1);
            }
        }
    });
}

TEST_CASE("repeated requests: a queue is claimed until it is empty, listed and filled from its outbox") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        testing::manual_clock time;
        queue_options how;
        how.lanes = 2;
        how.visibility = 10s;
        how.max_attempts = 1;
        how.time = &time;
        how.seed = 7;
        table_queue<sale> const queue{store, "queue", how};
        queue.create().value();
        auto const sales = sales_in(store);
        plan();
        for (std::int32_t number = 0; number < 5; ++number) {
            enqueue_options named;
            named.id = "id" + std::to_string(number);
            static_cast<void>(asked_until_success([&] { return queue.enqueue({"kiel", number, "mon", 1}, named); }));
        }
        for (int asked = 0; asked < 5; ++asked) {
            auto changes = sales.batch();
            changes.insert_or_replace({"shop1", 77, "mon", 1});
            queue.outbox(changes, {"kiel", 5, "mon", 1}, "outbox");
            auto const made = changes.submit();
            if (made || made.error().code == error_code::entity_already_exists) { // from the previous attempt
                break;
            }
        }
        static_cast<void>(asked_until_success([&] { return queue.relay(store, "sales"); }));
        CHECK(asked_until_success([&] { return queue.peek(); })->size() == 6);
        auto const size = asked_until_success([&] { return queue.approximate_size(); });
        CHECK(size->ready == 6);
        std::set<std::int32_t> done;
        for (int empty = 0; empty < 2;) {
            auto item = asked_until_success([&] { return queue.claim(); });
            if (!*item) {
                ++empty; // a message claimed without an answer becomes available again after a while
                time.advance(11s);
                continue;
            }
            static_cast<void>((*item)->complete()); // otherwise it is delivered again
            done.insert((*item)->message().number);
        }
        CHECK(done.size() == 6);
        CHECK(asked_until_success([&] { return queue.dead_letters(); })->empty());
        time.advance(48h);
        static_cast<void>(asked_until_success([&] { return queue.sweep(); }));
    });
}

TEST_CASE("repeated requests: an entity that is stored in several rows is read") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        table<wide<sale>> const wide{store, "wide"};
        wide.create().value();
        plan();
        for (int asked = 0; asked < 5; ++asked) {
            if (wide.insert_or_replace({"kiel", 1, "mon", 3})) { break; }
        }
        CHECK(asked_until_success([&] { return wide.get("kiel", 1); })->cents == 3);
    });
}

TEST_CASE("repeated requests: period tables are created, listed and dropped") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        testing::manual_clock time;
        period_tables<sale> const days{store, "days", {.length = period::day, .keep = 24h, .time = &time}};
        plan();
        for (int day = 0; day < 3; ++day) {
            static_cast<void>(asked_until_success([&] { return days.at(time.now()); }));
            time.advance(24h);
        }
        date_time const now = time.now();
        auto const all =
            asked_until_success([&] { return days.between({now.ticks - 30 * 864'000'000'000}, {now.ticks + 1}); });
        CHECK(all->size() == 3);
        time.advance(30 * 24h);
        static_cast<void>(asked_until_success([&] { return days.drop_old(); }));
        CHECK(asked_until_success([&] {
            return days.between({now.ticks - 30 * 864'000'000'000}, {now.ticks + 1});
        })->empty());
    });
}

TEST_CASE("repeated requests: a table is synchronised, and the receipts of devices are removed") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        memory_backend const device;
        auto const local = sales_in(device);
        table<sale> const cloud{store, "sales"};
        cloud.create().value();
        sync_options how;
        how.whole_table = true;
        how.delays = {.base = {}, .least = {}, .most = {}, .jitter = 0};
        auto const synchronised = [&] {
            for (int asked = 0;; ++asked) {
                auto const done = synchronize(local, cloud, how);
                if (done) { CHECK(done->conflicts.empty()); }
                if (done && done->good()) { return; }
                REQUIRE(asked < 5);
            }
        };
        receipt_options receipts;
        receipts.whole_table = true;
        receipts.delays = how.delays;
        auto const number_of_receipts = [&] {
            std::size_t count = 0;
            auto const add = [&](entity const& each) { count += each.row_key().size() == 39 ? 1U : 0U; };
            auto const read = asked_until_success([&] {
                count = 0;
                return row_table{store, "sales"}.for_each({}, {}, add, system_rows::shown);
            });
            CHECK(read);
            return count;
        };
        plan();
        synchronised();
        CHECK(number_of_receipts() == 3);
        // Of any age: the age is that of `expire_receipts`.
        auto const expired = asked_until_success(
            [&] { return detail::expire_receipts_of(detail::table_core{store, "sales", {}}, -1h, receipts); });
        CHECK(expired->partitions == 3);
        CHECK(number_of_receipts() == 0);
        CHECK(asked_until_success([&] { return expire_receipts(cloud, 1h, receipts); })->removed == 0);
        synchronised();
        CHECK(local.scan_table().to()->size() == number_of_sales);
        CHECK(asked_until_success([&] { return cloud.scan_table().to(); })->size() == number_of_sales);
    });
}
