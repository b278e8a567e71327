// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A shared library that stores towns. Entities, handles, results and exceptions of entitable cross its border.

#include <entitable/entitable.hpp>

#include <cstdint>
#include <string>

struct town {
    std::string country;
    std::string name;
    std::int64_t people{};
};

ENTITABLE(town, partition_key(country), row_key(name), properties(people))

/// A handle of the store that the library opened.
entitable::any_store opened_towns();

/// Throws the library's error for a missing town.
town town_of(entitable::any_store const& towns, std::string const& country, std::string const& name);

/// Runs a query that was created on the other side of the border.
std::size_t count_towns(entitable::query<town, entitable::access_path::partition> towns);

/// The address of the library's system clock.
entitable::clock* clock_of_towns();

/// In the second file of the program.
entitable::result<town> town_as_value(
    entitable::any_store const& towns, std::string const& country, std::string const& name);
entitable::clock* clock_of_second();
