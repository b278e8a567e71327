// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The permitted results of a copy's change.

#include <entitable/client/mapping/codec.hpp>

#include <concepts>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Converts the result of a change to a row; nullopt skips the entity.
template <class Target, class Made>
[[nodiscard]] result<std::optional<row>> row_of_change(Made const& made) {
    static_assert(std::same_as<Made, Target>,
        "the change function of a copy must return an entity of the target table, an optional entity, or a result of "
        "either");
    if constexpr (std::same_as<Made, Target>) {
        auto written = to_row(made);
        return written ? result<std::optional<row>>{*std::move(written)} : std::move(written).as_failure();
    } else {
        return std::optional<row>{};
    }
}
template <class Target, class Made>
[[nodiscard]] result<std::optional<row>> row_of_change(std::optional<Made> const& made) {
    return made ? row_of_change<Target>(*made) : std::optional<row>{};
}
template <class Target, class Made>
[[nodiscard]] result<std::optional<row>> row_of_change(result<Made> made) {
    return made ? row_of_change<Target>(*made) : std::move(made).as_failure();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
