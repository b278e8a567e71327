// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What crosses the borders of two shared libraries that hide all but these functions.

#include <entitable/entitable.hpp>

#include <string>

struct town {
    std::string country;
    std::string name;
};

ENTITABLE(town, partition_key(country), row_key(name), properties())

/// An empty table of towns, from the one library.
__attribute__((visibility("default"))) entitable::any_transport opened();

/// Throws the error that there is no such town, from the other.
__attribute__((visibility("default"))) town found(entitable::any_transport const& towns, std::string const& name);

/// Takes the error out of a result, which the caller destroys.
__attribute__((visibility("default"))) entitable::error error_of(entitable::result<town>& failed);
