// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The orders and visits of shops that the programs in this folder misuse.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <vector>

struct order {
    std::string shop;
    std::int32_t number{};
    std::string customer;
    std::int64_t cents{};
    std::optional<double> weight;
    entitable::date_time at;
    bool paid{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number), properties(customer, cents, weight, at, paid))
using o = entitable::fields<order>;

struct visit {
    std::string shop;
    std::string who;
    std::int32_t day{};
};
ENTITABLE(visit, partition_key(shop), row_key(literal("VISIT:"), who, day), properties())
using v = entitable::fields<visit>;
