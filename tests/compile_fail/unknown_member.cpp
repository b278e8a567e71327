// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: agee
// expect-gcc: "is not a member"
// expect-clang: "no member named"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
#if defined(BROKEN)
    (void)runners.scan_table(r::agee >= 50);
#else
    (void)runners.scan_table(r::age >= 50);
#endif
}
