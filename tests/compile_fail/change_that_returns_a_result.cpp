// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the change function must return void or bool"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
#if defined(BROKEN)
    (void)runners.update("Boston", "Full", 7, [](registration&) -> entitable::result<void> { return {}; });
#else
    (void)runners.update("Boston", "Full", 7, [](registration& found) { found.age = 30; });
#endif
}
