// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The interface between two shared libraries that hide everything but these functions.

#include <entitable/entitable.hpp>

#include <string>

struct town {
    std::string country;
    std::string name;
};

ENTITABLE(town, partition_key(country), row_key(name), properties())

/// An empty table of towns, from one library.
__attribute__((visibility("default"))) entitable::any_store opened();

/// Throws the error for a missing town, from the other library.
__attribute__((visibility("default"))) town found(entitable::any_store const& towns, std::string const& name);

/// Moves the error out of a result, which the caller destroys.
__attribute__((visibility("default"))) entitable::error error_of(entitable::result<town>& failed);
