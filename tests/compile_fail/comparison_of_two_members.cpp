// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "not with another member"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
#if defined(BROKEN)
    (void)runners.scan_table(r::age == r::bib);
#else
    (void)runners.scan_table(r::age == 7 && r::bib == 7);
#endif
}
