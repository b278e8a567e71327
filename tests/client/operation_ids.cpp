// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A call was applied, its answer was lost, and it is repeated under its operation id and fails at each of its requests: no error claims
// that nothing was applied.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>
#include <entitable/wide.hpp>

#include <support/catch.hpp>

using namespace entitable;

namespace {

struct order {
    std::string shop;
    std::int32_t number{};
    std::string day;
    std::int64_t cents{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), width(number, 4)), properties(day, cents))
struct by_day : order {};
ENTITABLE(by_day, partition_key(shop), row_key(literal("DAY:"), day, width(number, 4)), properties())
struct by_cents : order {};
ENTITABLE(by_cents, partition_key(cents), row_key(shop), properties(number))
struct sales {
    std::string shop;
    std::string day;
    std::int64_t cents{};
    static sales key(order const& of) { return {of.shop, of.day}; }
    void add(order const& one) { cents += one.cents; }
    void subtract(order const& one) { cents -= one.cents; }
};
ENTITABLE(sales, partition_key(shop), row_key(literal("SALES:"), day), properties(cents))

using indexed_orders = table<order, by_day>;
using unique_orders = table<order, by_day, elsewhere<unique<by_cents>>>;
using summed_orders = table<order, sales>;

order const first{"kiel", 1, "mon", 5};
order const second{"kiel", 2, "tue", 7};

struct verb {
    std::string name;
    std::function<void(any_store const&)> begin;
    std::function<result<void>(any_store const&, call_options const&)> call;
};

template <class T>
result<void> outcome_of(result<T> made) {
    return made ? result<void>{} : result<void>{failure{made.error()}};
}

void with_first(any_store const& store) {
    table<order> const orders{store, "orders"};
    orders.create().value();
    orders.insert(first).value();
}
template <class Table, class... Places>
void open(any_store const& store, Places const&... places) {
    Table const orders{store, "orders", places...};
    orders.create().value();
    orders.insert(first).value();
}

std::vector<verb> verbs() {
    auto const plain = [](any_store const& way, call_options const& how) { return table<order>{way, "orders", how}; };
    auto const place = [](any_store const& way) { return in_table<by_cents>{way, "cents"}; };
    std::vector<verb> all;
    auto const add = [&](std::string name, auto begin, auto call) {
        all.push_back({std::move(name), begin,
            [call](any_store const& way, call_options const& how) { return outcome_of(call(way, how)); }});
    };
    add("insert", with_first, [=](auto const& way, auto const& how) { return plain(way, how).insert(second); });
    add("replace", with_first,
        [=](auto const& way, auto const& how) { return plain(way, how).replace(first, any_etag); });
    add("merge", with_first, [=](auto const& way, auto const& how) { return plain(way, how).merge(first, any_etag); });
    add("insert_or_replace", with_first,
        [=](auto const& way, auto const& how) { return plain(way, how).insert_or_replace(second); });
    add("remove", with_first,
        [=](auto const& way, auto const& how) { return plain(way, how).remove(first, any_etag); });
    add("update", with_first, [=](auto const& way, auto const& how) {
        return plain(way, how).update("kiel", 1, [](order& one) { ++one.cents; });
    });
    add("batch", with_first,
        [=](auto const& way, auto const& how) { return plain(way, how).batch().insert(second).submit(); });
    add("transact", with_first, [=](auto const& way, auto const& how) {
        return plain(way, how).transact("kiel", [](transaction<order>& in) -> result<void> {
            in.insert(second);
            return {};
        });
    });
    auto const open_indexed = [](any_store const& store) { open<indexed_orders>(store); };
    auto const open_unique = [=](any_store const& store) { open<unique_orders>(store, place(store)); };
    auto const open_summed = [](any_store const& store) { open<summed_orders>(store); };
    add("indexed insert", open_indexed,
        [](auto const& way, auto const& how) { return indexed_orders{way, "orders", how}.insert(second); });
    add("indexed remove", open_indexed, [](auto const& way, auto const& how) {
        return indexed_orders{way, "orders", how}.remove("kiel", 1, any_etag);
    });
    add("indexed elsewhere insert", open_unique,
        [=](auto const& way, auto const& how) { return unique_orders{way, "orders", how, place(way)}.insert(second); });
    add("indexed batch", open_indexed, [](auto const& way, auto const& how) {
        return indexed_orders{way, "orders", how}.batch().insert(second).submit();
    });
    add("sum insert", open_summed,
        [](auto const& way, auto const& how) { return summed_orders{way, "orders", how}.insert(second); });
    add("sum remove", open_summed,
        [](auto const& way, auto const& how) { return summed_orders{way, "orders", how}.remove("kiel", 1, any_etag); });
    return all;
}

} // namespace

TEST_CASE("operation id: after a call was applied, no later error claims that nothing was written") {
    for (verb const& each : verbs()) {
        for (auto const& fault : {testing::fault::busy(), testing::fault::lost_before(), testing::fault::refused()}) {
            memory_backend const store;
            each.begin(store);
            testing::manual_clock time;
            auto const once_only = [&](testing::faulty<memory_backend> const& service) {
                return retrying{
                    service, {.policy = {.max_attempts = 1}, .operation_rows = true, .time = &time, .seed = 1}};
            };
            call_options how;
            how.operation_id = "click-1";
            // Lost after the request that carries the operation row.
            bool applied = false;
            for (std::uint64_t number = 1; number < 4 && !applied; ++number) {
                testing::faulty const service{store};
                service.plan({testing::fault::lost_after(), number, "transact"});
                auto const made = each.call(once_only(service), how);
                applied = made || made.error().effect == effect::unknown; // a settled call found its row
            }
            CAPTURE(each.name);
            CHECK(applied);
            {
                call_options stopped = how;
                cancellation_source stop;
                stop.cancel();
                stopped.cancellation = stop.token();
                auto const again = each.call(once_only(testing::faulty{store}), stopped);
                REQUIRE(!again);
                INFO(again.error().to_string());
                CHECK(again.error().effect == effect::unknown);
            }
            for (std::uint64_t number = 1;; ++number) {
                CAPTURE(number);
                testing::faulty const service{store};
                service.plan({fault, number, {}});
                auto const again = each.call(once_only(service), how);
                if (again) {
                    CHECK(number > 1);
                    break;
                }
                INFO(again.error().to_string());
                if (again.error().code == error_code::operation_id_taken) {
                    break; // the operation row was read: the applied write had other values
                }
                CHECK(again.error().effect == effect::unknown);
                REQUIRE(number < 20);
            }
        }
    }
}
