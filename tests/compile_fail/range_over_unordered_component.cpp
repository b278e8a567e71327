// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "does not preserve the order" "last component"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
#if defined(BROKEN)
    (void)runners.where(r::event >= "A" && r::event < "B");
#else
    (void)runners.where(r::event == "Boston" && r::distance >= "A" && r::distance < "B");
#endif
}
