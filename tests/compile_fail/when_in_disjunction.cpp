// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "may be disabled at run time" "&& only"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
    auto const pack = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)runners.where(r::event == "Boston" && r::distance == "Full" && (when(true, r::age >= 50) || r::age < 20));
#else
    (void)runners.where(r::event == "Boston" && r::distance == "Full" && (when(true, r::age >= 50) && r::age < 20));
#endif
}
