// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "day(member) needs a member of type date_time"

#include "registration.hpp"

using r = entitable::fields<registration>;

void use(entitable::table<registration> const& runners) {
    auto const boston = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)boston.distinct(entitable::day(r::age));
#else
    (void)boston.distinct(r::age);
#endif
}
