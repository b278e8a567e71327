// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "select(...) of an index needs fields of the index"

#include "runners.hpp"

struct by_age : runner {};
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), width(bib, 5)), properties())
void use(entitable::table<runner, by_age> const& runners) {
    using a = entitable::fields<by_age>;
#if defined(BROKEN)
    using field = entitable::fields<runner>;
    (void)runners.by<by_age>().where(a::race == "NYC").select(field::club);
#else
    (void)runners.by<by_age>().where(a::race == "NYC").select(a::age);
#endif
}
