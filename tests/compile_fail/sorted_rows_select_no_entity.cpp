// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "select(...) after order_by(...) needs an order of members"

#include "registration.hpp"

using r = entitable::fields<registration>;

void use(entitable::table<registration> const& runners) {
    auto const boston = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)boston.order_by([](registration const& one) { return one.age; }).select(r::name);
#else
    (void)boston.order_by(r::age).select(r::name);
#endif
}
