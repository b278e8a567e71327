// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "needs a list or a range of values"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
    auto const pack = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)runners.where(r::event == "Boston" && r::distance == "Full" && in(r::age, 50));
#else
    (void)runners.where(r::event == "Boston" && r::distance == "Full" && in(r::age, {50}));
#endif
}
