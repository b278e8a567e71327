// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "where(...) of an index needs fields of this index"

#include "runners.hpp"

struct by_age : runner {};
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), width(bib, 5)), properties())
void use(entitable::table<runner, by_age> const& runners) {
#if defined(BROKEN)
    using field = entitable::fields<runner>;
#else
    using field = entitable::fields<by_age>;
#endif
    (void)runners.by<by_age>().where(field::race == "NYC");
}
