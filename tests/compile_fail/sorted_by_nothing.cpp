// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "order_by(...) needs fields of the query's entity"

#include "registration.hpp"

using r = entitable::fields<registration>;

void use(entitable::table<registration> const& runners) {
    auto const boston = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)boston.order_by();
#else
    (void)boston.order_by(r::age);
#endif
}
