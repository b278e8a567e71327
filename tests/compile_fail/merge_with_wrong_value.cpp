// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a member must be assigned a value of its own type, or of a narrower type"

#include "registration.hpp"

void use(entitable::table<registration> const& runners, std::int64_t age) {
    using r = entitable::fields<registration>;
    (void)age;
#if defined(BROKEN)
    (void)runners.merge(entitable::at("Boston", "Full", 7), r::age = age, entitable::any_etag);
#else
    (void)runners.merge(entitable::at("Boston", "Full", 7), r::age = 31, entitable::any_etag);
#endif
}
