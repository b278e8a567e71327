// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "only an optional member can be compared with nullopt"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
#if defined(BROKEN)
    (void)runners.scan_table(r::age == std::nullopt);
#else
    (void)runners.scan_table(present(r::age));
#endif
}
