// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "computed(function, members...) needs fields of an entity"

#include "registration.hpp"

using r = entitable::fields<registration>;

void use(entitable::table<registration> const& runners) {
    auto const boston = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)boston.distinct(entitable::computed([](int age) { return age / 10; }, 5));
#else
    (void)boston.distinct(entitable::computed([](int age) { return age / 10; }, r::age));
#endif
}
