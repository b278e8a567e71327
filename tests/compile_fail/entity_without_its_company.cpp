// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the lives_with of this entity requires other types: use table<runner, by_age, daily_sales>"

#include <entitable/entitable.hpp>
#include <entitable/tables.hpp>

struct by_age;
struct entries;
struct runner {
    using lives_with = entitable::types<by_age, entries>;
    std::string race;
    std::int32_t bib{};
    std::int32_t age{};
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), width(bib, 5)), properties(age))

struct by_age : runner {};
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), width(bib, 5)), properties())

struct entries {
    std::string race;
    std::int64_t runners{};
    static entries key(runner const& of) { return {of.race, 0}; }
    void add(runner const&) { ++runners; }
    void subtract(runner const&) { --runners; }
};
ENTITABLE(entries, partition_key(race), row_key(literal("ENTRIES")), properties(runners))

void use(entitable::any_store const& store) {
    runner const one{"Boston", 7, 31}; // still an aggregate
    entitable::reader<runner> const shown{store, "runners"};
    entitable::reader<runner, by_age> const both{store, "runners"};
    (void)shown.get("Boston", one.bib);
    (void)both.get<runner>("Boston", one.bib);
#if defined(BROKEN)
    entitable::table<runner> const runners{store, "runners"};
#else
    entitable::table<runner, entitable::unique<by_age>, entries> const runners{store, "runners"};
#endif
    (void)runners.insert(one);
}
