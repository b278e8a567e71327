// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "needs a field of the query's entity" "computed"

#include "registration.hpp"

using r = entitable::fields<registration>;

void use(entitable::table<registration> const& runners) {
    auto const boston = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)boston.distinct(entitable::computed([](int age) { return age / 10; }, r::name));
#else
    (void)boston.distinct(entitable::computed([](int age) { return age / 10; }, r::age));
#endif
}
