// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "track(...) needs a query of whole entities, without select"

#include "registration.hpp"
#include <entitable/unit_of_work.hpp>

using r = entitable::fields<registration>;

void use(entitable::unit_of_work<registration>& work, entitable::table<registration> const& runners) {
    auto const all = runners.where(r::event == "Boston" && r::distance == "Full");
#if defined(BROKEN)
    (void)work.track(all.select(r::name));
#else
    (void)work.track(all);
#endif
}
