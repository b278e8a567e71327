// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "these are fields of an index: by<by_customer>().where(...)"

#include "registration.hpp"
#include <entitable/tables.hpp>

struct order {
    std::string customer;
    std::int32_t id{};
    std::int64_t cents{};
};
ENTITABLE(order, partition_key(customer), row_key(literal("order:"), id), properties(cents))

struct by_price : order {};
ENTITABLE(by_price, partition_key(customer), row_key(literal("price:"), cents, id))

void use(entitable::table<order, by_price> const& shop) {
    using p = entitable::fields<by_price>;
#if defined(BROKEN)
    (void)shop.where(p::customer == "ann");
#else
    (void)shop.by<by_price>().where(p::customer == "ann");
#endif
}
