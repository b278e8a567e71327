// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
module;

#include <entitable/macros.hpp>

#include <cstdint>
#include <string>

export module shop.order;

export import entitable;

/// A module of a program, with an entity that other files use.
export namespace shop {

struct order {
    std::string customer;
    std::int64_t number{};
    std::string what;
};

ENTITABLE(order, partition_key(customer), row_key(number), properties(what))

} // namespace shop

ENTITABLE_EXTERN(shop::order)
