// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the body of a transaction must return entitable::result<void>"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
#if defined(BROKEN)
    (void)runners.transact("Boston", "Full", [](entitable::transaction<registration>& all) { all.require(7); });
#else
    (void)runners.transact("Boston", "Full", [](entitable::transaction<registration>& all) -> entitable::result<void> {
        all.require(7);
        return {};
    });
#endif
}
