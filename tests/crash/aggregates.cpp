// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Eight processes write through one table with sums and refresh one view on a file, and are killed at any time: the sums equal a
// recomputation at every read, and nobody sees half of the view.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/tables.hpp>
#include <entitable/views.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/entities.hpp>
#include <support/long.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <random>

using namespace entitable;
using namespace entitable_test;

namespace {

using s = fields<sale>;

struct day_sum {
    std::string shop;
    std::string day;
    std::int64_t cents{};
    std::int64_t sales{};

    static day_sum key(sale const& of) { return {of.shop, of.day}; }
    void add(sale const& one) { cents += one.cents, ++sales; }
    void subtract(sale const& one) { cents -= one.cents, --sales; }
};
ENTITABLE(day_sum, partition_key(shop), row_key(literal("SUM:"), day), properties(cents, sales))

/// A view in many partitions, so that it takes many transactions. Its sales never change, so that all of its generations are equal.
struct by_tail {
    std::string tail;
    std::int64_t sales{};

    static by_tail key(sale const& of) { return {std::to_string(of.number % 30), 0}; }
    void add(sale const&) { ++sales; }
};
ENTITABLE(by_tail, partition_key(tail), row_key(literal("all")), properties(sales))

using sales_table = table<sale, day_sum>;

/// One change; its outcome is ignored: the cents of each sale are 7 times its number.
void change_one(sales_table const& sales, std::mt19937& random) {
    auto const number = static_cast<std::int32_t>(random() % 12);
    sale const made{"kiel", number, "d" + std::to_string(random() % 4), number * 7};
    switch (random() % 4) {
        case 0: (void)sales.insert(made); break;
        case 1: (void)sales.remove("kiel", number, any_etag); break;
        case 2: (void)sales.insert_or_replace(made); break;
        default: (void)sales.update("kiel", number, [&](sale& each) { each.day = made.day; });
    }
}

} // namespace

TEST_CASE("sums and a view are correct after processes were killed") {
    constexpr unsigned writers = 8;
    temporary_folder const folder{temporary_folder::memory()};
    std::string const path = folder / "sales.db";
    {
        file_backend const store{path};
        sales_table{store, "sales"}.create().value();
        materialized_view<by_tail> const view{store, "tails"};
        view.create().value();
        table<sale> const all{store, "sales"};
        for (std::int32_t number = 0; number < 60; ++number) { all.insert({"museum", number, "d1", 1}).value(); }
        view.refresh(all.where(s::shop == "museum")).value();
    }
    struct counted_steps {
        std::atomic<std::uint64_t> changes, refreshes;
    };
    shared_memory<counted_steps> const told;
    std::size_t const kills = rounds(5, 300, 30);
    std::mt19937 random{11};
    for (std::size_t round = 0; round < kills; ++round) {
        std::vector<child_process> children;
        for (unsigned number = 0; number < writers; ++number) {
            children.emplace_back([&, seed = static_cast<unsigned>(round * writers) + number + 1] {
                file_backend const store{path};
                sales_table const sales{store, "sales", {.max_attempts = 1000, .seed = seed}};
                materialized_view<by_tail> const view{store, "tails"};
                std::mt19937 own{seed};
                for (;;) {
                    if (seed % writers == 1) { // one of them
                        told->refreshes += view.refresh(sales.where(s::shop == "museum")) ? 1U : 0U;
                    } else {
                        change_one(sales, own);
                        ++told->changes;
                    }
                }
                return true;
            });
        }
        file_backend const store{path};
        sales_table const sales{store, "sales"};
        materialized_view<by_tail> const view{store, "tails"};
        for (int look = 0; look < 3; ++look) { // concurrently with the writers
            ::usleep(static_cast<useconds_t>(10'000 + random() % 20'000));
            CHECK(sales.verify<day_sum>("kiel").value().good());
            auto const seen = view.read([](auto const& rows) { return rows.scan_table().page_size(4).to(); }).value();
            CHECK(seen.value.size() == 30);
            CHECK(
                std::all_of(seen.value.begin(), seen.value.end(), [](by_tail const& each) { return each.sales == 2; }));
        }
        children.clear(); // kill -9
        CHECK(sales.verify<day_sum>("kiel").value().good());
        CHECK(view.refresh(sales.where(s::shop == "museum")).value().shown);
        CHECK((view.verify)(sales.where(s::shop == "museum")).value().same());
    }
    std::printf("sums, kill -9: %zu rounds of %u processes, %llu changes, %llu refreshes of a view\n", kills, writers,
        static_cast<unsigned long long>(told->changes), static_cast<unsigned long long>(told->refreshes));
    CHECK(told->changes > kills);
}
