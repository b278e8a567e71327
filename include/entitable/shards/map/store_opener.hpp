// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `store_opener`: opens a store by its name.

#include <entitable/core/result.hpp>
#include <entitable/core/transport/any_store.hpp>

#include <functional>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Opens the store with this name; called for each name until it succeeds.
using store_opener = std::function<result<any_store>(std::string_view store)>;

namespace detail {

/// Calls an opener. Errors: InvalidInput if it is empty.
[[nodiscard]] inline result<any_store> open_with(store_opener const& opener, std::string_view name) {
    if (opener == nullptr) {
        return failure{error_code::invalid_input, "the function that opens stores by name is empty"};
    }
    return opener(name);
}

} // namespace detail

ENTITABLE_END_NAMESPACE
