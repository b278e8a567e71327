// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "does not preserve the order" "last component"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
    auto const pack = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)runners.where(between(r::event, "A", "B"));
#else
    (void)runners.where(r::event == "A" && between(r::distance, "A", "B"));
#endif
}
