// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "indexed_table<E, I> is now table<E, I>"

#include <entitable/entitable.hpp>
#include <entitable/index.hpp>

struct runner {
    std::string race;
    std::int32_t bib{};
    std::int32_t age{};
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), width(bib, 5)), properties(age))
struct by_age : runner {};
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), width(bib, 5)), properties())

#if defined(BROKEN)
using runners_table = entitable::indexed_table<runner, by_age>;
#else
using runners_table = entitable::table<runner, by_age>;
#endif

void use(entitable::any_store const& store) { runners_table const runners{store, "runners"}; }
