// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The calls of `asio_table<E>` whose parameters are the components of its entity's keys.

#include <entitable/async/asio/detail/asio_place.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class Entity, class PartitionComponents, class RowComponents>
class asio_keyed;

template <class Entity, class... P, class... R>
class asio_keyed<Entity, components<void, P...>, components<void, R...>>
    : keyed_texts<Entity, components<void, P...>, components<void, R...>> {
    using of_keys = keyed_texts<Entity, components<void, P...>, components<void, R...>>;
    using of_keys::partition_key;
    using of_keys::row_key;

public:
    /// Like `table::get`: completes with the entity.
    template <class... Rest>
        requires call_completion<Rest...>
    auto async_get(key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row,
        Rest&&... diagnostics_and_token) const {
        return begin(reading<Entity>(partition_key(partition...), row_key(row...)),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::find`: completes with the entity, or nullopt if there is none.
    template <class... Rest>
        requires call_completion<Rest...>
    auto async_find(key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row,
        Rest&&... diagnostics_and_token) const {
        return begin(reading<std::optional<Entity>>(partition_key(partition...), row_key(row...)),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::get_stored`: completes with the entity, its ETag and its timestamp.
    template <class... Rest>
        requires call_completion<Rest...>
    auto async_get_stored(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, Rest&&... diagnostics_and_token) const {
        return begin(reading<stored<Entity>>(partition_key(partition...), row_key(row...)),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::get` of a reference.
    template <class... Rest>
        requires call_completion<Rest...>
    auto async_get(reference<Entity> const& named, Rest&&... diagnostics_and_token) const {
        return begin(reading<Entity>(named.partition_key, named.row_key), std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::find` of a reference.
    template <class... Rest>
        requires call_completion<Rest...>
    auto async_find(reference<Entity> const& named, Rest&&... diagnostics_and_token) const {
        return begin(reading<std::optional<Entity>>(named.partition_key, named.row_key),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::remove`.
    template <class... Rest>
        requires call_completion<Rest...>
    auto async_remove(key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row,
        etag_condition condition, Rest&&... diagnostics_and_token) const {
        return begin(removing<awaited<own_request<write_entity>>>(
                         partition_key(partition...), row_key(row...), std::move(condition)),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::remove_if_present`.
    template <class... Rest>
        requires call_completion<Rest...>
    auto async_remove_if_present(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, etag_condition condition, Rest&&... diagnostics_and_token) const {
        return begin(removing<awaited<concluded<own_request<write_entity>, if_present>>>(
                         partition_key(partition...), row_key(row...), std::move(condition)),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::update`. The call keeps the change, and calls it on the strand of the loop.
    template <class Change, class... Rest>
        requires call_completion<Rest...>
    auto async_update(key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row,
        Change change, Rest&&... diagnostics_and_token) const {
        return begin(changing<awaited<entity_update<Entity, Change>>>(
                         partition_key(partition...), row_key(row...), false, std::move(change), update_options{}),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::update`, with options; their `time` is ignored.
    template <class Change, class... Rest>
        requires call_completion<Rest...>
    auto async_update(key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row,
        Change change, update_options options, Rest&&... diagnostics_and_token) const {
        return begin(changing<awaited<entity_update<Entity, Change>>>(
                         partition_key(partition...), row_key(row...), false, std::move(change), std::move(options)),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::update`, whatever the version.
    template <class Change, class... Rest>
        requires call_completion<Rest...>
    auto async_update(key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row,
        any_etag_t, Change change, Rest&&... diagnostics_and_token) const {
        return begin(changing<awaited<entity_update<Entity, Change>>>(
                         partition_key(partition...), row_key(row...), true, std::move(change), update_options{}),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::update`, whatever the version, with options; their `time` is ignored.
    template <class Change, class... Rest>
        requires call_completion<Rest...>
    auto async_update(key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row,
        any_etag_t, Change change, update_options options, Rest&&... diagnostics_and_token) const {
        return begin(changing<awaited<entity_update<Entity, Change>>>(
                         partition_key(partition...), row_key(row...), true, std::move(change), std::move(options)),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::update_if_present`.
    template <class Change, class... Rest>
        requires call_completion<Rest...>
    auto async_update_if_present(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, Change change, Rest&&... diagnostics_and_token) const {
        return begin(changing<awaited<concluded<entity_update<Entity, Change>, if_present>>>(
                         partition_key(partition...), row_key(row...), false, std::move(change), update_options{}),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::update_if_present`, with options; their `time` is ignored.
    template <class Change, class... Rest>
        requires call_completion<Rest...>
    auto async_update_if_present(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, Change change, update_options options,
        Rest&&... diagnostics_and_token) const {
        return begin(changing<awaited<concluded<entity_update<Entity, Change>, if_present>>>(
                         partition_key(partition...), row_key(row...), false, std::move(change), std::move(options)),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::update_if_present`, whatever the version.
    template <class Change, class... Rest>
        requires call_completion<Rest...>
    auto async_update_if_present(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, any_etag_t, Change change, Rest&&... diagnostics_and_token) const {
        return begin(changing<awaited<concluded<entity_update<Entity, Change>, if_present>>>(
                         partition_key(partition...), row_key(row...), true, std::move(change), update_options{}),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::update_if_present`, whatever the version, with options; their `time` is ignored.
    template <class Change, class... Rest>
        requires call_completion<Rest...>
    auto async_update_if_present(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, any_etag_t, Change change, update_options options,
        Rest&&... diagnostics_and_token) const {
        return begin(changing<awaited<concluded<entity_update<Entity, Change>, if_present>>>(
                         partition_key(partition...), row_key(row...), true, std::move(change), std::move(options)),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::transact`. The body is blocking code, which runs on its own stack on the strand of the loop.
    template <class Body, class... Rest>
        requires call_completion<Rest...>
    auto async_transact(
        key_argument<typename P::value_type>... partition, Body body, Rest&&... diagnostics_and_token) const {
        return begin(transacting(partition_key(partition...), std::move(body), transaction_options{}),
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::transact`, with options; their `time` is ignored.
    template <class Body, class... Rest>
        requires call_completion<Rest...>
    auto async_transact(key_argument<typename P::value_type>... partition, Body body, transaction_options options,
        Rest&&... diagnostics_and_token) const {
        return begin(transacting(partition_key(partition...), std::move(body), std::move(options)),
            std::forward<Rest>(diagnostics_and_token)...);
    }

protected:
    explicit asio_keyed(std::shared_ptr<asio_place> at) noexcept : at_(std::move(at)) {}

    /// Starts a call: `make(place)` returns its awaitable.
    template <class Make, class... Rest>
    auto begin(Make make, Rest&&... diagnostics_and_token) const {
        return asio_place::begin(at_, std::move(make), std::forward<Rest>(diagnostics_and_token)...);
    }

    std::shared_ptr<asio_place> at_;

private:
    [[nodiscard]] static result<std::string_view> view_of(result<std::string> const& key) {
        return key ? result<std::string_view>{std::string_view{*key}} : result<std::string_view>{failure{key.error()}};
    }
    template <class Found>
    [[nodiscard]] static auto reading(result<std::string> partition, result<std::string> row) {
        return [partition = std::move(partition), row = std::move(row)](shared<async_place> const& at) {
            return calls_by_key<Entity>{at}.template read_keys<Found>(view_of(partition), view_of(row));
        };
    }
    template <class Awaited>
    [[nodiscard]] static auto removing(
        result<std::string> partition, result<std::string> row, etag_condition condition) {
        return [partition = std::move(partition), row = std::move(row), condition = std::move(condition)](
                   shared<async_place> const& at) {
            return calls_by_key<Entity>{at}.template remove_keys<Awaited>(partition, row, condition);
        };
    }
    template <class Awaited, class Change>
    [[nodiscard]] static auto changing(
        result<std::string> partition, result<std::string> row, bool forced, Change change, update_options options) {
        return [partition = std::move(partition), row = std::move(row), forced, change = std::move(change),
                   options = std::move(options)](shared<async_place> const& at) mutable {
            return calls_by_key<Entity>{at}.template change_entity<Awaited>(
                partition, row, forced, std::move(change), options);
        };
    }
    template <class Body>
    [[nodiscard]] static auto transacting(result<std::string> partition, Body body, transaction_options options) {
        return [partition = std::move(partition), body = std::move(body), options = std::move(options)](
                   shared<async_place> const& at) mutable {
            return calls_by_key<Entity>::transact_on_own_stack(
                at, std::move(partition), std::move(body), std::move(options));
        };
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
