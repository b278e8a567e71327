// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a merge cannot remove a property" "write `member = absent`"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
#if defined(BROKEN)
    (void)runners.merge(entitable::at("Boston", "Full", 7), r::name = std::nullopt, entitable::any_etag);
#else
    (void)runners.merge(entitable::at("Boston", "Full", 7), r::name = "Ann", entitable::any_etag);
#endif
}
