// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What an index in the same partition adds to the transaction that a program writes by hand: insert, and an update that moves the index row. In
// memory; requests of both are the same. The time of `verify` compared with two plain scans of all rows. And the time of `build` for a million entities
// compared with a bulk insert of the same index rows by hand.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/indexes.cpp -o indexes -lpthread && ./indexes
//
// With `insert ours`, `insert hand`, `update ours` or `update hand` it does only that, 20,000 times: for callgrind.

#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

#include <benchmarks/support/measure.hpp>
#include <support/around.hpp>

#include <cstdio>
#include <string>
#include <string_view>

namespace benchmark_indexes {

struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
    std::int32_t age{};
    std::string club;
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), width(bib, 7)), properties(name, age, club))

struct by_age : runner {};
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), width(bib, 7)), properties(name))

} // namespace benchmark_indexes

using namespace entitable;
using namespace benchmark_indexes;

namespace {

using indexed_runners = table<runner, by_age>;

runner numbered(std::int32_t bib) { return {"NYC", bib, "a name of some length", 20 + bib % 60, "Ajax"}; }

by_age index_row_of(runner const& one) {
    by_age made;
    static_cast<runner&>(made) = one;
    return made;
}

constexpr std::int32_t count = 20'000;

void insert_by_hand(any_store const& store) {
    table<runner, as_entity<by_age>> const both{store, "runners"};
    for (std::int32_t bib = 0; bib < count; ++bib) {
        runner const one = numbered(bib);
        auto pair = both.batch();
        pair.insert(one).insert_or_replace(index_row_of(one));
        pair.submit().value();
    }
}

void insert_ours(any_store const& store) {
    indexed_runners const runners{store, "runners"};
    for (std::int32_t bib = 0; bib < count; ++bib) { runners.insert(numbered(bib)).value(); }
}

void update_by_hand(any_store const& store) {
    table<runner, as_entity<by_age>> const both{store, "runners"};
    for (std::int32_t bib = 0; bib < count; ++bib) {
        auto found = both.get_stored<runner>("NYC", bib).value();
        by_age const before = index_row_of(found.entity);
        found.entity.age += 1;
        auto all = both.batch();
        all.replace(found.entity, found.etag).remove(before, any_etag).insert_or_replace(index_row_of(found.entity));
        all.submit().value();
    }
}

void update_ours(any_store const& store) {
    indexed_runners const runners{store, "runners"};
    for (std::int32_t bib = 0; bib < count; ++bib) {
        runners.update("NYC", bib, [](runner& each) { each.age += 1; }).value();
    }
}

memory_backend opened(bool filled) {
    memory_backend store;
    indexed_runners const runners{store, "runners"};
    runners.create().value();
    if (filled) { insert_ours(store); }
    return store;
}

/// A million entities in thousands of partitions, without an index.
memory_backend filled(std::int32_t entities) {
    memory_backend store;
    table<runner> const plain{store, "runners"};
    plain.create().value();
    std::vector<runner> some;
    for (std::int32_t bib = 0; bib < entities; ++bib) {
        some.push_back(numbered(bib));
        some.back().race = "race" + std::to_string(bib / 1000);
        if (some.size() == 1000 || bib + 1 == entities) {
            bulk_insert(plain, some).value().all().value();
            some.clear();
        }
    }
    return store;
}

void show_build() {
    constexpr std::int32_t entities = 1'000'000;
    memory_backend const store = filled(entities);
    table<by_age> const by_hand{store, "byhand"};
    by_hand.create().value();
    double const hand = measure::timed(entities, [&] {
        bulk_copy(
            table<runner>{store, "runners"}.scan_table(), by_hand, [](runner const& one) { return index_row_of(one); })
            .value()
            .all()
            .value();
    });
    std::uint64_t requests = 0;
    entitable_test::around const counted{store, [&](std::string_view, bool) { ++requests; }};
    indexed_runners const runners{counted, "runners"};
    double const ours = measure::timed(entities, [&] { runners.build<by_age>().value(); });
    std::printf("build: hand %.0f ns a row, ours %.0f ns: %.2f times; %.4f requests an entity (limit 0.1)\n", hand,
        ours, ours / hand, static_cast<double>(requests) / entities);
}

template <class One>
double timed(bool filled, One const& one) {
    memory_backend const store = opened(filled);
    return measure::timed(count, [&] { one(store); });
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 3) {
        std::string_view const what{argv[1]};
        bool const ours = std::string_view{argv[2]} == "ours";
        memory_backend const store = opened(what == "update");
        what == "update" ? (ours ? update_ours(store) : update_by_hand(store))
                         : (ours ? insert_ours(store) : insert_by_hand(store));
        return 0;
    }
    std::printf("insert: hand %.0f ns, ours %.0f ns (limit 1.1 by instructions)\n", timed(false, insert_by_hand),
        timed(false, insert_ours));
    std::printf("update: hand %.0f ns, ours %.0f ns\n", timed(true, update_by_hand), timed(true, update_ours));
    memory_backend const store = opened(true);
    indexed_runners const runners{store, "runners"};
    std::uint64_t rows = 0;
    double const scans = measure::timed(1, [&] {
        runners.scan_table().for_each([&](runner const&) { ++rows; }).value();
        table<by_age>{store, "runners"}.scan_table().for_each([&](by_age const&) { ++rows; }).value();
    });
    double const verified = measure::timed(1, [&] { rows -= runners.verify()->indexes.index_rows * 2; });
    std::printf("verify: %.2f of the speed of two plain scans (limit 0.8)%s\n", scans / verified,
        rows == 0 ? "" : ", and rows are missing");
    show_build();
}
