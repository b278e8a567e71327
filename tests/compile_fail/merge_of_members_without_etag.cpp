// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "an update needs an ETag: pass the ETag that was read, or any_etag"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
#if defined(BROKEN)
    (void)runners.merge(entitable::at("Boston", "Full", 7), r::age = 31);
#else
    (void)runners.merge(entitable::at("Boston", "Full", 7), r::age = 31, entitable::any_etag);
#endif
}
