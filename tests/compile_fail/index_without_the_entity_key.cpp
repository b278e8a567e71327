// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a row of this index does not identify its entity"

#include "runners.hpp"

struct by_age : runner {};
#if defined(BROKEN)
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3)), properties())
#else
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), width(bib, 5)), properties())
#endif
using table_by_age = entitable::table<runner, by_age>;
entitable::result<entitable::written> use(table_by_age const& runners) { return runners.insert({}); }
