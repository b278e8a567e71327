// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The entities of the client tests.

#include <entitable/entitable.hpp>

namespace client_tests {

struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
    std::optional<std::int32_t> age;
};

ENTITABLE(runner,
    partition_key(race),
    row_key(bib),
    properties(name, age))

struct order {
    std::string customer;
    std::int32_t id{};
    double total{};
};

ENTITABLE(order,
    partition_key(customer),
    row_key(literal("order:"), id),
    properties(total))

struct address {
    std::string customer;
    std::string kind;
    std::string street;
};

ENTITABLE(address,
    partition_key(customer),
    row_key(literal("address:"), kind),
    properties(street))

} // namespace client_tests
