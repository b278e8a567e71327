// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this query is sorted already: name all members in one order_by"

#include "registration.hpp"

using r = entitable::fields<registration>;

void use(entitable::table<registration> const& runners) {
    auto const boston = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)boston.order_by(r::age).order_by(r::name);
#else
    (void)boston.order_by(r::age, r::name);
#endif
}
