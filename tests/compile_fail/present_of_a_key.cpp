// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A component of a key is always present: only a property may be absent.
// expect: "present(field) is for properties: a key component is always there"
#include "registration.hpp"

void ask(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
#if defined(BROKEN)
    auto const asked = runners.where(r::event == "NYC" && r::distance == "Full" && present(r::bib));
#else
    auto const asked = runners.where(r::event == "NYC" && r::distance == "Full" && present(r::age));
#endif
    static_cast<void>(asked);
}
