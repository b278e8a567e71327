// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a sorted query has no pages and no token"

#include "registration.hpp"

using r = entitable::fields<registration>;

void use(entitable::table<registration> const& runners) {
    auto const boston = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)boston.order_by(r::age).resume("token");
#else
    (void)boston.resume("token").order_by(r::age);
#endif
}
