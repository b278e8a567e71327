// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "an integer key component must be given a value of its own type"

#include "registration.hpp"

struct town {
    std::string country;
    std::int32_t people{};
};

ENTITABLE(town, partition_key(country), row_key(literal("town")), properties(people))

using t = entitable::fields<town>;
using r = entitable::fields<registration>;

void use(entitable::table<registration> const& runners) {
    auto const boston = r::event == "Boston" && r::distance == "Full";
#if defined(BROKEN)
    (void)runners.get("Boston", "Full", "5");
#else
    (void)runners.get("Boston", "Full", 5);
#endif
}
