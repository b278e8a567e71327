// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Each field stands once in select(...): a row has one value of it.
// expect: "select(...) must name each field once"
#include "registration.hpp"

void ask(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
    auto const query = runners.where(r::event == "NYC" && r::distance == "Full");
#if defined(BROKEN)
    auto const asked = query.select(r::age, r::name, r::age);
#else
    auto const asked = query.select(r::age, r::name);
#endif
    static_cast<void>(asked);
}
