// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The sales of some shops, with an index by day, one by cents in another table, and a sum for each day.

#include <entitable/entitable.hpp>

#include <support/entities.hpp>

namespace entitable_test {

using s = entitable::fields<sale>;

struct by_day : sale {};
ENTITABLE(by_day, partition_key(shop), row_key(literal("DAY:"), day, number), properties(cents))
using d = entitable::fields<by_day>;
struct by_cents : sale {};
ENTITABLE(by_cents, partition_key(cents), row_key(shop, number), properties(day))
using c = entitable::fields<by_cents>;

struct day_sum {
    std::string shop;
    std::string day;
    std::int64_t cents{};

    static day_sum key(sale const& of) { return {of.shop, of.day}; }
    void add(sale const& one) { cents += one.cents; }
    void subtract(sale const& one) { cents -= one.cents; }
};
ENTITABLE(day_sum, partition_key(shop), row_key(literal("SUM:"), day), properties(cents))

} // namespace entitable_test
