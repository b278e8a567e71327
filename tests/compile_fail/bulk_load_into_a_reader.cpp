// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this is a reader: pass the table that maintains its indexes and sums"

#include <entitable/bulk.hpp>
#include <entitable/tables.hpp>

struct runner {
    std::string race;
    std::int32_t bib{};
    std::int32_t age{};
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), width(bib, 5)), properties(age))
struct by_age : runner {};
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), width(bib, 5)), properties())
void use(entitable::table<runner, by_age> const& runners) {
#if defined(BROKEN)
    entitable::reader<runner> const table{runners.store(), "runners"};
#else
    auto const table = runners.unmaintained();
#endif
    std::vector<runner> const all{{"NYC", 1, 55}};
    (void)entitable::bulk_insert(table, all);
}
