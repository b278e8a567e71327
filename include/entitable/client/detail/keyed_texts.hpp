// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Makes the keys of an entity from the arguments of a call, for all functions that take the components of its keys.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/component.hpp>
#include <entitable/client/mapping/detail/key_from.hpp>
#include <entitable/client/mapping/key_argument.hpp>
#include <entitable/client/mapping/mapping.hpp>
#include <entitable/client/mapping/reference.hpp>
#include <entitable/client/table_core.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// References to the values of both keys, for functions that do not depend on their types.
template <std::size_t OfPartition, std::size_t OfRow>
struct key_sources {
    key_source partition[OfPartition + 1]; // may be empty
    key_source row[OfRow + 1];
};

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
    [[nodiscard]] static key_sources<sizeof...(P), sizeof...(R)> sources_of(
        key_argument<typename P::value_type> const&... partition, key_argument<typename R::value_type> const&... row) {
        return {{source_of<typename P::codec, typename P::value_type>(partition)..., key_source{}},
            {source_of<typename R::codec, typename R::value_type>(row)..., key_source{}}};
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
