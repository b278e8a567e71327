// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "starts_with(field, prefix) needs a text field"

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
    auto const pack = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)runners.where(r::event == "Boston" && r::distance == "Full" && starts_with(r::bib, "12"));
#else
    (void)runners.where(r::event == "Boston" && r::distance == "Full" && starts_with(r::name, "J"));
#endif
}
