// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `async_table<E>`: a table whose calls are awaited.

#include <entitable/async/async_query.hpp>
#include <entitable/async/detail/async_keyed.hpp>
#include <entitable/client/detail/table_operations.hpp>
#include <entitable/client/table.hpp>

ENTITABLE_BEGIN_NAMESPACE

namespace detail {

/// Reports in one line why an `async_table` of these types cannot be used.
template <class... Types>
consteval bool refuse_async_table() {
    if constexpr (sizeof...(Types) > 1) {
        static_assert(
            sizeof...(Types) == 0, "async_table of several types requires #include <entitable/async_tables.hpp>");
        return true;
    } else {
        return refuse_table<Types...>();
    }
}

} // namespace detail

/// A table in a loop: `async_table<E>` of one type; `async_table<A, B, ...>` of several types, in `<entitable/async_tables.hpp>`.
template <class... Types>
class async_table {
    static_assert(detail::refuse_async_table<Types...>());
};

/// A table of entities of one type in a loop: the calls of `table<E>`, to be awaited. Each runs the operation of the blocking call, with
/// the same semantics and errors. Copies are cheap, and a move copies. The loop must outlive the table.
///
/// Keys and entities are copied into the awaitable, so `auto read = books.get(key); ... co_await read` is valid.
///
/// Thread safety: only the loop's thread.
template <mapped_entity Entity>
class async_table<Entity> : public detail::async_keyed<Entity, typename mapping<Entity>::partition_components,
                                typename mapping<Entity>::row_components> {
    using base = detail::async_keyed<Entity, typename mapping<Entity>::partition_components,
        typename mapping<Entity>::row_components>;
    using base::at_;
    using write_of_one = awaited<own_request<write_entity>>;

public:
    using value_type = Entity; ///< entity type of the table

    /// Uses any transport; sends nothing yet.
    async_table(event_loop& loop, any_store through, std::string name, call_options options = {})
        : base(
              shared<detail::async_place>::make(loop.core(), std::move(through), std::move(name), std::move(options))) {
        detail::allow_alone<Entity>();
    }
    explicit async_table(shared<detail::async_place> at) : base(std::move(at)) {} ///< made by a table of several types
    async_table(async_table const&) = default;            ///< copies and moves share the place in the loop
    async_table& operator=(async_table const&) = default; ///< copies and moves share the place in the loop
    ~async_table() = default;

    [[nodiscard]] std::string const& name() const noexcept { return at_->table.name(); } ///< the table's name
    /// Returns its transport.
    [[nodiscard]] any_store const& store() const noexcept { return at_->table.store(); }
    /// Returns the options of its calls.
    [[nodiscard]] call_options const& options() const noexcept { return at_->table.options(); }

    /// Like `table::create`.
    [[nodiscard]] awaited<detail::creation_of_table> create() const {
        return {at_, [this] { return at_->table.to_create(); }};
    }
    /// Like `table::create_if_absent`.
    [[nodiscard]] awaited<detail::creation_if_absent> create_if_absent() const {
        return {at_, [this] { return detail::creation_if_absent{at_->table.to_create(true)}; }};
    }
    /// Like `table::drop`.
    [[nodiscard]] awaited<detail::deletion_of_table> drop() const {
        return {at_, [this] { return at_->table.to_drop(); }};
    }
    /// Like `table::drop_if_present`.
    [[nodiscard]] awaited<detail::deletion_if_present> drop_if_present() const {
        return {at_, [this] { return detail::deletion_if_present{at_->table.to_drop(true)}; }};
    }

    /// Like `table::insert`.
    [[nodiscard]] write_of_one insert(Entity const& entity) const {
        return write(mutation_kind::insert, entity, any_etag);
    }
    /// Like `table::replace`.
    [[nodiscard]] write_of_one replace(Entity const& entity, etag_condition condition) const {
        return write(mutation_kind::replace, entity, std::move(condition));
    }
    /// Like `table::merge`.
    [[nodiscard]] write_of_one merge(Entity const& entity, etag_condition condition) const {
        detail::refuse_merge_beside_former_names<typename mapping<Entity>::properties>();
        return write(mutation_kind::merge, entity, std::move(condition));
    }
    /// Like `table::merge` of some members, but does not accept `absent`, which needs more than one request.
    template <class... Values, class... ChangesAndCondition>
    [[nodiscard]] write_of_one merge(
        keys_at<Values...> const& keys, ChangesAndCondition const&... changes_and_condition) const {
        static_assert(!detail::removes_members<ChangesAndCondition...>,
            "an awaited merge is one request and cannot remove a property: use update(...)");
        return {at_, [&] {
                    auto made = detail::partial_merge<Entity>(keys, changes_and_condition...);
                    return at_->table.to_write(mutation_kind::merge, std::move(made.entity), made.condition);
                }};
    }
    /// Like `table::insert_or_replace`.
    [[nodiscard]] write_of_one insert_or_replace(Entity const& entity) const {
        return write(mutation_kind::insert_or_replace, entity, any_etag);
    }
    /// Like `table::upsert`.
    [[nodiscard]] write_of_one upsert(Entity const& entity) const { return insert_or_replace(entity); }
    /// Like `table::insert_or_merge`.
    [[nodiscard]] write_of_one insert_or_merge(Entity const& entity) const {
        detail::refuse_merge_beside_former_names<typename mapping<Entity>::properties>();
        return write(mutation_kind::insert_or_merge, entity, any_etag);
    }
    using base::remove;
    /// Like `table::remove`.
    [[nodiscard]] write_of_one remove(Entity const& entity, etag_condition condition) const {
        return {at_, [&] {
                    return at_->table.to_write(
                        detail::removal(partition_key_of(entity), row_key_of(entity), std::move(condition)));
                }};
    }

    /// Returns an empty batch; it is sent by `submit`.
    [[nodiscard]] entitable::batch<Entity> batch() const { return entitable::batch<Entity>{at_->table}; }
    /// Like `batch::submit`, for a batch of any types. The awaitable keeps a copy; `submit(std::move(changes))` copies nothing.
    template <class... Entities>
    [[nodiscard]] awaited<detail::own_submission> submit(entitable::batch<Entities...> changes) const {
        return {at_, [&] { return std::move(changes).changes().to_submit(at_->table); }};
    }

    /// Like `table::partitions`.
    [[nodiscard]] awaited<detail::partition_search> partitions() const {
        return {at_, [this] { return at_->table.to_search_partitions(); }};
    }
    /// Like `table::where`.
    template <class Condition>
    [[nodiscard]] auto where(Condition const& condition) const {
        return async_query{at_, blocking().where(condition)};
    }
    /// Like `table::scan_table`.
    [[nodiscard]] auto scan_table() const { return async_query{at_, blocking().scan_table()}; }
    /// Like `table::scan_table`.
    template <class Condition>
    [[nodiscard]] auto scan_table(Condition const& condition) const {
        return async_query{at_, blocking().scan_table(condition)};
    }

private:
    [[nodiscard]] table<Entity> blocking() const { return {store(), name(), options()}; }
    [[nodiscard]] write_of_one write(mutation_kind kind, Entity const& entity, etag_condition condition) const {
        return {at_, [&] { return at_->table.to_write(kind, to_row(entity), condition); }};
    }
};

ENTITABLE_END_NAMESPACE
