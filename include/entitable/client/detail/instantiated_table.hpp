// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `instantiated_table`: the calls of a table of one type, which ENTITABLE_INSTANTIATE compiles in one file. Their definitions are in
/// `keyed_operations.hpp`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/keyed_texts.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

template <class Entity>
struct stored;
template <class Entity>
struct updated;
struct update_options;

namespace detail {

struct entity_change;

/// Stands for a type that cannot be instantiated: its message is then the only message.
struct not_instantiated {};

template <class Entity>
struct components_of_keys {
    using partition = typename mapping<Entity>::partition_components;
    using row = typename mapping<Entity>::row_components;
};
template <>
struct components_of_keys<not_instantiated> {
    using partition = void;
    using row = void;
};

/// The calls without the types of the program. They are defined outside the class, as those of `instantiated_entity` are, so that a file with
/// ENTITABLE_EXTERN does not compile them.
template <class Entity, class PartitionComponents = typename components_of_keys<Entity>::partition,
    class RowComponents = typename components_of_keys<Entity>::row>
class instantiated_table;

template <>
class instantiated_table<not_instantiated, void, void> {};

template <class Entity, class... P, class... R>
class instantiated_table<Entity, components<void, P...>, components<void, R...>>
    : keyed_texts<Entity, components<void, P...>, components<void, R...>> {
    using of_keys = keyed_texts<Entity, components<void, P...>, components<void, R...>>;

public:
    /// Reads the entity with these keys. Errors: ResourceNotFound if it does not exist. A point query.
    [[nodiscard]] result<Entity> get(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const;

    /// Does the same; nullopt if it does not exist.
    [[nodiscard]] result<std::optional<Entity>> find(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const;

    /// Does the same, with ETag and Timestamp. Errors: ResourceNotFound if it does not exist.
    [[nodiscard]] result<stored<Entity>> get_stored(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const;

    /// Inserts an entity; EntityAlreadyExists if it exists.
    [[nodiscard]] result<written> insert(Entity const& entity) const;

    /// Replaces all properties of the stored entity, if it has the given version, or with `any_etag`: ResourceNotFound if it does not
    /// exist, UpdateConditionNotSatisfied if it was changed since.
    [[nodiscard]] result<written> replace(Entity const& entity, etag_condition condition) const;

    /// Inserts the entity, or replaces the stored entity: the last writer wins. The service has no conditional form of
    /// this write.
    [[nodiscard]] result<written> insert_or_replace(Entity const& entity) const;

    /// Removes the entity with these keys, if it has the given version. Errors: ResourceNotFound if it does not exist,
    /// UpdateConditionNotSatisfied if it was changed since. `removal::archived`: see `table<A, B, ...>::remove`.
    [[nodiscard]] result<written> remove(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, etag_condition condition, entitable::removal sums = {}) const;

    /// Does the same; nullopt, which is not an error, if it does not exist. With `retrying`, if the response to an
    /// earlier attempt was lost, an attempt that finds no entity counts as a removal (`written::after_retry`).
    [[nodiscard]] result<std::optional<written>> remove_if_present(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, etag_condition condition, entitable::removal sums = {}) const;

protected:
    explicit instantiated_table(table_core core);
    explicit instantiated_table(table_arguments const& from);

    using of_keys::partition_key;
    using of_keys::row_key;

    /// Does what `update` does.
    [[nodiscard]] result<updated<Entity>> change_entity(key_argument<typename P::value_type> const&... partition,
        key_argument<typename R::value_type> const&... row, bool forced, entity_change const& change,
        update_options const& options) const;

    table_core core_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
