// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Makes the texts of both keys of an entity from their components.

#include <entitable/client/detail/keyed_operations.hpp>
#include <entitable/client/detail/keyed_texts.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Takes the components one by one.
template <class Entity, class PartitionComponents, class RowComponents>
struct key_views;

template <class Entity, class... P, class... R>
struct key_views<Entity, components<void, P...>, components<void, R...>>
    : keyed_texts<Entity, components<void, P...>, components<void, R...>> {
    static constexpr std::size_t count = sizeof...(P) + sizeof...(R);

    template <class Function>
    [[nodiscard]] static result<void> show(Function const& function,
        key_argument<typename P::value_type> const&... partition, key_argument<typename R::value_type> const&... rows) {
        auto const keys = key_views::sources_of(partition..., rows...);
        std::string partition_buffer;
        std::string row_buffer;
        ENTITABLE_TRY(auto const partition_key,
            key_text(partition_buffer, key_part::partition, mapping<Entity>::partition_layout, keys.partition));
        ENTITABLE_TRY(auto const row_key, key_text(row_buffer, key_part::row, mapping<Entity>::row_layout, keys.row));
        function(partition_key, row_key);
        return {};
    }
};

/// Calls `function(partition key, row key)` with the texts; returns an error if they cannot be written.
template <class Entity, class Function, class... Keys>
[[nodiscard]] result<void> with_keys(Function const& function, Keys const&... keys) {
    using views =
        key_views<Entity, typename mapping<Entity>::partition_components, typename mapping<Entity>::row_components>;
    constexpr bool complete = sizeof...(Keys) == views::count;
    static_assert(
        complete, "find(...) must be given all key components of the entity, those of the partition key first");
    if constexpr (complete) {
        return views::show(function, keys...);
    } else {
        return failure{error_code::invalid_input, {}}; // the reason was reported
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
