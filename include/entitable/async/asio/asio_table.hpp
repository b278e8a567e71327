// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `asio_table<E>`: a table whose calls are asynchronous operations of Boost.Asio.

#include <entitable/async/asio/asio_query.hpp>
#include <entitable/async/asio/detail/asio_keyed.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A table of entities of one type in a program of Boost.Asio: `books.async_get(shelf, isbn, token)`. Each call runs the operation of the
/// blocking call, with the same semantics and errors, in the loop of the table.
///
/// Each call ends with a completion token: a callback, `use_awaitable`, `use_future`, `deferred`, or any other. Its signature is
/// `void(boost::system::error_code, T)`, or `void(boost::system::error_code)`, where `result<T>` is the result of the blocking call; on
/// failure T is default-constructed. The code is in `error_category()`; a `call_diagnostics` in front of the token receives the whole error.
/// Executors, allocators, cancellation and its errors are described at `async_call`.
///
///     call_diagnostics whole;
///     books.async_get("art", "1", whole, [&](boost::system::error_code failed, book found) { ... });
///     book const found = co_await books.async_get("art", "1", asio::use_awaitable); // throws boost::system::system_error
///
/// Keys and entities are copied into the call. Copies of the table are cheap, and a move copies. A call on a table whose loop was destroyed
/// ends with Cancelled.
///
/// Thread safety: safe to use from several threads.
template <mapped_entity Entity>
class asio_table : public detail::asio_keyed<Entity, typename mapping<Entity>::partition_components,
                       typename mapping<Entity>::row_components> {
    using base = detail::asio_keyed<Entity, typename mapping<Entity>::partition_components,
        typename mapping<Entity>::row_components>;
    using base::at_;

public:
    using value_type = Entity;                          ///< entity type of the table
    using executor_type = boost::asio::any_io_executor; ///< type of the executor

    /// Uses any transport; sends nothing yet. Pass the same `any_store` to all tables of a store.
    asio_table(asio_loop const& loop, any_store through, std::string name, call_options options = {})
        : base(std::make_shared<detail::asio_place>(loop, std::move(through), std::move(name), std::move(options))) {
        detail::allow_alone<Entity>();
    }
    asio_table(asio_table const&) = default;            ///< copies and moves share the place in the loop
    asio_table& operator=(asio_table const&) = default; ///< copies and moves share the place in the loop
    ~asio_table() = default;

    /// Returns the strand of the loop, the executor of handlers without one.
    [[nodiscard]] executor_type get_executor() const { return at_->on(); }
    [[nodiscard]] std::string const& name() const noexcept { return at_->name; } ///< the table's name
    /// Returns its transport.
    [[nodiscard]] any_store const& store() const noexcept { return at_->store; }
    /// Returns the options of its calls.
    [[nodiscard]] call_options const& options() const noexcept { return at_->options; }

    /// Like `table::create`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_create(Rest&&... diagnostics_and_token) const {
        return call(
            [](async_table<Entity> const& all) { return all.create(); }, std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::create_if_absent`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_create_if_absent(Rest&&... diagnostics_and_token) const {
        return call([](async_table<Entity> const& all) { return all.create_if_absent(); },
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::drop`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_drop(Rest&&... diagnostics_and_token) const {
        return call(
            [](async_table<Entity> const& all) { return all.drop(); }, std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::drop_if_present`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_drop_if_present(Rest&&... diagnostics_and_token) const {
        return call([](async_table<Entity> const& all) { return all.drop_if_present(); },
            std::forward<Rest>(diagnostics_and_token)...);
    }

    /// Like `table::insert`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_insert(Entity entity, Rest&&... diagnostics_and_token) const {
        return call([entity = std::move(entity)](async_table<Entity> const& all) { return all.insert(entity); },
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::insert_or_replace`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_insert_or_replace(Entity entity, Rest&&... diagnostics_and_token) const {
        return call(
            [entity = std::move(entity)](async_table<Entity> const& all) { return all.insert_or_replace(entity); },
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::upsert`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_upsert(Entity entity, Rest&&... diagnostics_and_token) const {
        return call([entity = std::move(entity)](async_table<Entity> const& all) { return all.upsert(entity); },
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::insert_or_merge`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_insert_or_merge(Entity entity, Rest&&... diagnostics_and_token) const {
        return call(
            [entity = std::move(entity)](async_table<Entity> const& all) { return all.insert_or_merge(entity); },
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::replace`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_replace(Entity entity, etag_condition condition, Rest&&... diagnostics_and_token) const {
        return call([entity = std::move(entity), condition = std::move(condition)](
                        async_table<Entity> const& all) { return all.replace(entity, condition); },
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::merge` of an entity. To merge some members, use `async_call`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_merge(Entity entity, etag_condition condition, Rest&&... diagnostics_and_token) const {
        return call([entity = std::move(entity), condition = std::move(condition)](
                        async_table<Entity> const& all) { return all.merge(entity, condition); },
            std::forward<Rest>(diagnostics_and_token)...);
    }
    using base::async_remove;
    /// Like `table::remove`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_remove(Entity entity, etag_condition condition, Rest&&... diagnostics_and_token) const {
        return call([entity = std::move(entity), condition = std::move(condition)](
                        async_table<Entity> const& all) { return all.remove(entity, condition); },
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `batch::submit`.
    template <class... Entities, class... Rest>
        requires detail::call_completion<Rest...>
    auto async_submit(entitable::batch<Entities...> changes, Rest&&... diagnostics_and_token) const {
        return call([changes = std::move(changes)](async_table<Entity> const& all) { return all.submit(changes); },
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `table::partitions`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_partitions(Rest&&... diagnostics_and_token) const {
        return call([](async_table<Entity> const& all) { return all.partitions(); },
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Makes any other call: `function(table)` is called on the strand with the `async_table`, and returns what is awaited:
    /// `[keys](auto const& all) { return all.merge(keys, b::price = 7, any_etag); }`.
    template <class Function, class... Rest>
        requires detail::call_completion<Rest...>
    auto async_call(Function function, Rest&&... diagnostics_and_token) const {
        return call(std::move(function), std::forward<Rest>(diagnostics_and_token)...);
    }

    /// Returns an empty batch; it is sent by `async_submit`.
    [[nodiscard]] entitable::batch<Entity> batch() const { return blocking().batch(); }
    /// Like `table::where`.
    template <class Condition>
    [[nodiscard]] auto where(Condition const& condition) const {
        return asio_query{at_, blocking().where(condition)};
    }
    /// Like `table::scan_table`.
    [[nodiscard]] auto scan_table() const { return asio_query{at_, blocking().scan_table()}; }
    /// Like `table::scan_table`.
    template <class Condition>
    [[nodiscard]] auto scan_table(Condition const& condition) const {
        return asio_query{at_, blocking().scan_table(condition)};
    }

private:
    template <class Function, class... Rest>
    auto call(Function function, Rest&&... diagnostics_and_token) const {
        return this->begin(
            [function = std::move(function)](
                shared<detail::async_place> const& at) mutable { return function(async_table<Entity>{at}); },
            std::forward<Rest>(diagnostics_and_token)...);
    }
    [[nodiscard]] table<Entity> blocking() const { return {store(), name(), options()}; }
};

ENTITABLE_END_NAMESPACE
