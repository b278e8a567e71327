// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The calls of `async_table<E>` whose parameters are the components of its entity's keys.

#include <entitable/async/awaited.hpp>
#include <entitable/client/detail/entity_read.hpp>
#include <entitable/client/detail/keyed_operations.hpp>
#include <entitable/client/detail/updating.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class Entity, class PartitionComponents, class RowComponents>
class async_keyed;

template <class Entity, class... P, class... R>
class async_keyed<Entity, components<void, P...>, components<void, R...>> {
    template <class Found>
    using read_of = awaited<entity_read<Entity, Found>>;
    template <class Change>
    using update_of = awaited<entity_update<Entity, std::decay_t<Change>>>;
    template <class Change>
    using update_if_present_of = awaited<concluded<entity_update<Entity, std::decay_t<Change>>, if_present>>;

public:
    /// As `table::get`.
    [[nodiscard]] read_of<Entity> get(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const {
        return read<Entity>(partition..., row...);
    }
    /// As `table::find`.
    [[nodiscard]] read_of<std::optional<Entity>> find(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const {
        return read<std::optional<Entity>>(partition..., row...);
    }
    /// As `table::get_stored`.
    [[nodiscard]] read_of<stored<Entity>> get_stored(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const {
        return read<stored<Entity>>(partition..., row...);
    }
    /// As `table::get` of a reference.
    [[nodiscard]] read_of<Entity> get(reference<Entity> const& named) const { return read_named<Entity>(named); }
    /// As `table::find` of a reference.
    [[nodiscard]] read_of<std::optional<Entity>> find(reference<Entity> const& named) const {
        return read_named<std::optional<Entity>>(named);
    }

    /// As `table::remove`.
    [[nodiscard]] awaited<own_request<write_entity>> remove(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, etag_condition condition) const {
        return {at_, [&] { return removing(partition..., row..., std::move(condition)); }};
    }
    /// As `table::remove_if_present`.
    [[nodiscard]] awaited<concluded<own_request<write_entity>, if_present>> remove_if_present(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row,
        etag_condition condition) const {
        return {at_, [&] {
                    return concluded<own_request<write_entity>, if_present>{
                        removing(partition..., row..., std::move(condition))};
                }};
    }

    /// As `table::update`. The change is kept in the awaitable, and called on the thread of the loop; `update_options::time` is not
    /// looked at.
    template <class Change>
    [[nodiscard]] update_of<Change> update(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, Change&& change, update_options const& options = {}) const {
        return change_entity<update_of<Change>>(
            partition_key(partition...), row_key(row...), false, std::forward<Change>(change), options);
    }
    template <class Change>
    [[nodiscard]] update_of<Change> update(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, any_etag_t, Change&& change,
        update_options const& options = {}) const {
        return change_entity<update_of<Change>>(
            partition_key(partition...), row_key(row...), true, std::forward<Change>(change), options);
    }
    /// As `table::update_if_present`.
    template <class Change>
    [[nodiscard]] update_if_present_of<Change> update_if_present(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, Change&& change, update_options const& options = {}) const {
        return change_entity<update_if_present_of<Change>>(
            partition_key(partition...), row_key(row...), false, std::forward<Change>(change), options);
    }
    template <class Change>
    [[nodiscard]] update_if_present_of<Change> update_if_present(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, any_etag_t, Change&& change,
        update_options const& options = {}) const {
        return change_entity<update_if_present_of<Change>>(
            partition_key(partition...), row_key(row...), true, std::forward<Change>(change), options);
    }

protected:
    explicit async_keyed(shared<async_place> at) noexcept : at_(std::move(at)) {}

    shared<async_place> at_;

private:
    [[nodiscard]] static result<std::string> partition_key(key_argument<typename P::value_type> const&... values) {
        return key_from<P...>(mapping<Entity>::partition_layout, values...);
    }
    [[nodiscard]] static result<std::string> row_key(key_argument<typename R::value_type> const&... values) {
        return checked_row_key(key_from<R...>(mapping<Entity>::row_layout, values...));
    }
    template <class Found>
    [[nodiscard]] read_of<Found> read(key_argument<typename P::value_type> const&... partition,
        key_argument<typename R::value_type> const&... row) const {
        std::string partition_buffer;
        std::string row_buffer;
        return read_keys<Found>(
            key_text<key_part::partition, P...>(partition_buffer, mapping<Entity>::partition_layout, partition...),
            key_text<key_part::row, R...>(row_buffer, mapping<Entity>::row_layout, row...));
    }
    template <class Found>
    [[nodiscard]] read_of<Found> read_named(reference<Entity> const& named) const {
        return read_keys<Found>(borrowed_key(key_part::partition, std::string_view{named.partition_key}),
            borrowed_key(key_part::row, std::string_view{named.row_key}));
    }
    template <class Found>
    [[nodiscard]] read_of<Found> read_keys(result<std::string_view>&& partition, result<std::string_view>&& row) const {
        return {at_, [&] { return entity_read<Entity, Found>{at_->table, std::move(partition), std::move(row)}; }};
    }
    [[nodiscard]] own_request<write_entity> removing(key_argument<typename P::value_type> const&... partition,
        key_argument<typename R::value_type> const&... row, etag_condition condition) const {
        return at_->table.to_write(removal(partition_key(partition...), row_key(row...), std::move(condition)));
    }
    template <class Awaited, class Change>
    [[nodiscard]] Awaited change_entity(result<std::string> partition, result<std::string> row, bool forced,
        Change&& change, update_options const& options) const {
        return {at_, [&] {
                    return typename Awaited::operation_type{
                        std::forward<Change>(change), at_->table.options().reading, [&](row_change of_row) {
                            return to_update(at_->table, partition, row, of_row, forced, options, at_->core.time());
                        }};
                }};
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
