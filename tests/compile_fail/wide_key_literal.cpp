// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "an integer member" "a different type"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
#if defined(BROKEN)
    (void)runners.where(r::event == "Boston" && r::distance == "Full" && r::bib == 5'000'000'000);
#else
    (void)runners.where(r::event == "Boston" && r::distance == "Full" && r::bib == 5);
#endif
}
