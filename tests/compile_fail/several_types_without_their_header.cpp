// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a table of several types: include <entitable/tables.hpp>"

#include "registration.hpp"
#include <entitable/entitable.hpp>

struct order {
    std::string customer;
    std::int32_t id{};
};
ENTITABLE(order, partition_key(customer), row_key(literal("order:"), id))

struct visit {
    std::string customer;
    std::int32_t day{};
};
ENTITABLE(visit, partition_key(customer), row_key(literal("visit:"), day))

#if !defined(BROKEN)
#include <entitable/tables.hpp>
#endif

void use(entitable::any_transport const& store) {
    entitable::table<order, visit> const shop{store, "shop"};
    (void)shop.name();
}
