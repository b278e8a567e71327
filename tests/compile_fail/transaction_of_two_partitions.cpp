// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the entity types of a transaction must have the same partition key"

#include "registration.hpp"
#include <entitable/tables.hpp>

struct order {
    std::string customer;
    std::int32_t id{};
};
ENTITABLE(order, partition_key(customer), row_key(literal("order:"), id))

struct visit {
#if defined(BROKEN)
    std::int32_t customer{};
#else
    std::string customer;
#endif
    std::int32_t day{};
};
ENTITABLE(visit, partition_key(customer), row_key(literal("visit:"), day))

void use(entitable::table<order, visit> const& shop) {
    (void)shop.transact("ann", [](entitable::transaction<order, visit>& all) -> entitable::result<void> {
        all.require<order>(7);
        return {};
    });
}
