// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The calls of `async_table<E>` whose parameters are the components of its entity's keys.

#include <entitable/async/awaited.hpp>
#include <entitable/async/own_stack.hpp>
#include <entitable/client/detail/entity_read.hpp>
#include <entitable/client/detail/keyed_operations.hpp>
#include <entitable/client/detail/updating.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class Entity, class PartitionComponents, class RowComponents>
class async_keyed;

template <class Entity, class... P, class... R>
class async_keyed<Entity, components<void, P...>, components<void, R...>>
    : keyed_texts<Entity, components<void, P...>, components<void, R...>> {
    using of_keys = keyed_texts<Entity, components<void, P...>, components<void, R...>>;
    using of_keys::partition_key;
    using of_keys::row_key;

    template <class Found>
    using read_of = awaited<entity_read<Entity, Found>>;
    template <class Change>
    using update_of = awaited<entity_update<Entity, std::decay_t<Change>>>;
    template <class Change>
    using update_if_present_of = awaited<concluded<entity_update<Entity, std::decay_t<Change>>, if_present>>;

public:
    /// Like `table::get`.
    [[nodiscard]] read_of<Entity> get(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const {
        return read<Entity>(partition..., row...);
    }
    /// Like `table::find`.
    [[nodiscard]] read_of<std::optional<Entity>> find(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const {
        return read<std::optional<Entity>>(partition..., row...);
    }
    /// Like `table::get_stored`.
    [[nodiscard]] read_of<stored<Entity>> get_stored(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const {
        return read<stored<Entity>>(partition..., row...);
    }
    /// Like `table::get` of a reference.
    [[nodiscard]] read_of<Entity> get(reference<Entity> const& named) const { return read_named<Entity>(named); }
    /// Like `table::find` of a reference.
    [[nodiscard]] read_of<std::optional<Entity>> find(reference<Entity> const& named) const {
        return read_named<std::optional<Entity>>(named);
    }

    /// Like `table::remove`.
    [[nodiscard]] awaited<own_request<write_entity>> remove(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, etag_condition condition) const {
        return remove_keys<awaited<own_request<write_entity>>>(
            partition_key(partition...), row_key(row...), std::move(condition));
    }
    /// Like `table::remove_if_present`.
    [[nodiscard]] awaited<concluded<own_request<write_entity>, if_present>> remove_if_present(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row,
        etag_condition condition) const {
        return remove_keys<awaited<concluded<own_request<write_entity>, if_present>>>(
            partition_key(partition...), row_key(row...), std::move(condition));
    }

    /// Like `table::update`. The awaitable holds the change, and calls it on the thread of the loop; `update_options::time` is ignored.
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
    /// Like `table::update_if_present`.
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

    /// Like `table::transact`. The body is ordinary blocking code: the task holds it and runs it on its own stack (`on_own_stack`), so that
    /// other tasks continue while it reads. `transaction_options::time` is ignored.
    template <class Body>
    [[nodiscard]] task<result<transacted>> transact(
        key_argument<typename P::value_type>... partition, Body body, transaction_options options = {}) const {
        return transact_on_own_stack(at_, partition_key(partition...), std::move(body), std::move(options));
    }

protected:
    explicit async_keyed(shared<async_place> at) noexcept : at_(std::move(at)) {}

    // The calls by key strings.
    template <class Found>
    [[nodiscard]] read_of<Found> read_keys(result<std::string_view>&& partition, result<std::string_view>&& row) const {
        return {at_, [&] { return entity_read<Entity, Found>{at_->table, std::move(partition), std::move(row)}; }};
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
    template <class Body>
    static task<result<transacted>> transact_on_own_stack(
        shared<async_place> at, result<std::string> partition, Body body, transaction_options options) {
        transacting<Body> const work{at.get(), &partition, &body, &options};
        co_return co_await on_own_stack(at->core, work);
    }
    template <class Awaited>
    [[nodiscard]] Awaited remove_keys(
        result<std::string> partition, result<std::string> row, etag_condition condition) const {
        return {at_, [&] {
                    return typename Awaited::operation_type{
                        at_->table.to_write(removal(std::move(partition), std::move(row), std::move(condition)))};
                }};
    }

    shared<async_place> at_;

private:
    /// Runs the transaction on the calling stack.
    template <class Body>
    struct transacting { // not a lambda, because GCC 12 gives lambdas of a coroutine no linkage
        async_place* at;
        result<std::string>* partition;
        Body* body;
        transaction_options* options;

        result<transacted> operator()() const {
            options->time = &stack_clock_of(at->core);
            table_core const through{
                loop_transport{at->core, at->table.store()}, at->table.name(), at->table.options()};
            return transact_entities<Entity>(through, std::move(*partition), *body, *options);
        }
    };
    template <class Found>
    [[nodiscard]] read_of<Found> read(key_argument<typename P::value_type> const&... partition,
        key_argument<typename R::value_type> const&... row) const {
        auto const keys = of_keys::sources_of(partition..., row...);
        std::string partition_buffer;
        std::string row_buffer;
        return read_keys<Found>(
            key_text(partition_buffer, key_part::partition, mapping<Entity>::partition_layout, keys.partition),
            key_text(row_buffer, key_part::row, mapping<Entity>::row_layout, keys.row));
    }
    template <class Found>
    [[nodiscard]] read_of<Found> read_named(reference<Entity> const& named) const {
        return read_keys<Found>(borrowed_key(key_part::partition, std::string_view{named.partition_key}),
            borrowed_key(key_part::row, std::string_view{named.row_key}));
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
