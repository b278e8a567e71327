// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "an index elsewhere needs a table"

#include "runners.hpp"

struct by_club : runner {};
ENTITABLE(by_club, partition_key(club), row_key(race, width(bib, 5)), properties())
using by_clubs = entitable::table<runner, entitable::elsewhere<by_club>>;
by_clubs use(entitable::any_store const& store) {
#if defined(BROKEN)
    return by_clubs{store, "runners"};
#else
    return by_clubs{store, "runners", entitable::in_table<by_club>{store, "clubs"}};
#endif
}
