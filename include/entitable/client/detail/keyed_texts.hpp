// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The keys of an entity from the arguments of a call, for all that takes the components of its keys.

#include <entitable/client/table_core.hpp>
#include <entitable/mapping/component.hpp>
#include <entitable/mapping/detail/key_from.hpp>
#include <entitable/mapping/key_argument.hpp>
#include <entitable/mapping/mapping.hpp>
#include <entitable/mapping/reference.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A key, in `buffer` where it has to be made; one that is nothing but one text is not copied. `key_reserved` for a row key of system rows.
template <key_part Part, class... Components>
[[nodiscard]] result<std::string_view> key_text(
    std::string& buffer, key_layout layout, key_argument<typename Components::value_type> const&... values) {
    if constexpr (is_one_text<Components...>) {
        if (layout.size() == 1) {
            return borrowed_key(Part, values.value...);
        }
    }
    key_source const sources[] = {
        source_of<typename Components::codec, typename Components::value_type>(values)..., key_source{}};
    return written_key(buffer, Part, layout, sources);
}

/// Keys of one entity type.
template <class Entity, class PartitionComponents, class RowComponents>
struct keyed_texts;

template <class Entity, class... P, class... R>
struct keyed_texts<Entity, components<void, P...>, components<void, R...>> {
protected:
    [[nodiscard]] static result<std::string> partition_key(key_argument<typename P::value_type> const&... values) {
        return key_from<P...>(mapping<Entity>::partition_layout, values...);
    }
    [[nodiscard]] static result<std::string> row_key(key_argument<typename R::value_type> const&... values) {
        return checked_row_key(key_from<R...>(mapping<Entity>::row_layout, values...));
    }
    /// The same, not copied where that can be: see `key_text`.
    [[nodiscard]] static result<std::string_view> partition_text(
        std::string& buffer, key_argument<typename P::value_type> const&... values) {
        return key_text<key_part::partition, P...>(buffer, mapping<Entity>::partition_layout, values...);
    }
    [[nodiscard]] static result<std::string_view> row_text(
        std::string& buffer, key_argument<typename R::value_type> const&... values) {
        return key_text<key_part::row, R...>(buffer, mapping<Entity>::row_layout, values...);
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
