// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "name all key components of the entity" "partition_key(event, distance)" "row_key(bib)"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
#if defined(BROKEN)
    (void)runners.get("Boston", 7);
#else
    (void)runners.get("Boston", "Full", 7);
#endif
}
