// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "must take the table's entity by reference" lost

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
#if defined(BROKEN)
    (void)runners.update("Boston", "Full", 7, [](auto found) { found.age = 30; });
#else
    (void)runners.update("Boston", "Full", 7, [](auto& found) { found.age = 30; });
#endif
}
