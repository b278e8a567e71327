// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "sum needs a numeric member"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
    auto const pack = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)pack.sum(r::name);
#else
    (void)pack.sum(r::age);
#endif
}
