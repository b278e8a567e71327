// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a value of its own type" "a different type"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
    auto const pack = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)runners.scan_table(r::age >= "fifty" || r::bib == 3);
#else
    (void)runners.scan_table(r::age >= 50 || r::bib == 3);
#endif
}
