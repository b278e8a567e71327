// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The table of several types that the programs in this folder misuse.

#include <entitable/entitable.hpp>
#include <entitable/tables.hpp>

#include <vector>

struct order {
    std::string shop;
    std::int32_t number{};
    std::string customer;
    std::int64_t cents{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number), properties(customer, cents))

struct by_customer : order {};
ENTITABLE(by_customer, partition_key(shop), row_key(literal("CUSTOMER:"), escaped(customer), number), properties(cents))

struct sales {
    std::string shop;
    std::int64_t cents{};
    static sales key(order const& of) { return {of.shop}; }
    void add(order const& one) { cents += one.cents; }
    void subtract(order const& one) { cents -= one.cents; }
};
ENTITABLE(sales, partition_key(shop), row_key(literal("SALES")), properties(cents))

using orders_table = entitable::table<order, by_customer, sales>;
using orders_reader = entitable::reader<order, by_customer, sales>;
