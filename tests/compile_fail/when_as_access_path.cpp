// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "would scan the whole table" "event, distance" "scan_table()"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
    auto const pack = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)runners.where(when(true, r::event == "Boston" && r::distance == "Full"));
#else
    (void)runners.where(r::event == "Boston" && r::distance == "Full" && when(true, r::bib == 1));
#endif
}
