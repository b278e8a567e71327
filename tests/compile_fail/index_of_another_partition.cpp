// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the partition key of this index differs from that of its entity"

#include "runners.hpp"

struct by_club : runner {};
ENTITABLE(by_club, partition_key(club), row_key(literal("CLUB:"), race, width(bib, 5)), properties())
#if defined(BROKEN)
using by_clubs = entitable::table<runner, by_club>;
#else
using by_clubs = entitable::table<runner, entitable::elsewhere<by_club>>;
#endif
entitable::result<entitable::written> use(by_clubs const& runners) { return runners.insert({}); }
