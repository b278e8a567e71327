// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What the change of a copy may give.

#include <entitable/mapping/codec.hpp>

#include <concepts>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What a change made of an entity, as a row; nothing to leave it out.
template <class Target, class Made>
[[nodiscard]] result<std::optional<row>> row_of_change(Made const& made) {
    static_assert(std::same_as<Made, Target>,
        "the change of a copy makes an entity of the target table, an optional of one, or a result of either");
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
