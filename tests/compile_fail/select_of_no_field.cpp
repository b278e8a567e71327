// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "needs fields of the query's entity"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
    auto const pack = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)pack.select(r::age >= 50);
#else
    (void)pack.select(r::age);
#endif
}
