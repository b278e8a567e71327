// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "only an optional member can be absent"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
#if defined(BROKEN)
    (void)runners.merge(entitable::at("Boston", "Full", 7), r::name = entitable::absent, entitable::any_etag);
#else
    (void)runners.merge(entitable::at("Boston", "Full", 7), r::name = "Ann", entitable::any_etag);
#endif
}
