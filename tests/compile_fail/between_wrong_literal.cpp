// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a value of its own type" "a different type"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
    auto const pack = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)runners.where(r::event == "Boston" && r::distance == "Full" && between(r::bib, 1, "two"));
#else
    (void)runners.where(r::event == "Boston" && r::distance == "Full" && between(r::bib, 1, 2));
#endif
}
