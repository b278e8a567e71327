// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "was not selected" "select(...)"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
    auto const pack = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    int const age = pack.select(r::name).first().value().value()[r::age];
    (void)age;
#else
    int const age = pack.select(r::age).first().value().value()[r::age];
    (void)age;
#endif
}
