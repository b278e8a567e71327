// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this entity type does not belong to the transaction"

#include "registration.hpp"

struct marshal {
    std::string event;
    std::string distance;
    std::string name;
};
ENTITABLE(marshal, partition_key(event, distance), row_key(literal("marshal:"), name))

void use(entitable::table<registration> const& runners) {
    (void)runners.transact("Boston", "Full", [](entitable::transaction<registration>& all) -> entitable::result<void> {
#if defined(BROKEN)
        all.insert(marshal{"Boston", "Full", "Ann"});
#else
        all.insert({"Boston", "Full", 7, "Ann", 31});
#endif
        return {};
    });
}
