// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A table of several types in a loop: the blocking table over a `loop_transport`, and calls of that table on their own stacks.

#include <entitable/async/async_table.hpp>
#include <entitable/client/companions/several_types.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The blocking table. Its core is public, for changes that were made before they are sent.
template <class... Types>
struct table_in_loop : table<Types...> {
    using table<Types...>::table;
    explicit table_in_loop(table<Types...> all) : table<Types...>(std::move(all)) {}
    [[nodiscard]] table_core const& core() const noexcept { return this->core_; }
};

/// Options whose delays use the clock of a loop.
template <class Options>
[[nodiscard]] Options on_stack_clock(Options how, loop_core& in) {
    how.time = &stack_clock_of(in);
    return how;
}
/// Shared by the table, its queries and its tasks, so that a task may outlive the table.
template <class... Types>
struct listed_place : counted {
    using entities = entities_of<Types...>;

    template <class... Indexes>
    listed_place(
        loop_core& in, any_store through, std::string name, table_options how, in_table<Indexes> const&... places)
        : core(in),
          rows(shared<async_place>::make(in, through, name, how.calls)),
          books(loop_transport{in, through}, std::move(name), on_stack_clock(std::move(how), in),
              in_table<Indexes>{loop_transport{in, places.through}, places.name}...) {}
    listed_place(listed_place const& other, call_options options)
        : core(other.core),
          rows(shared<async_place>::make(core, other.rows->table.store(), other.rows->table.name(), options)),
          books(other.books.with(std::move(options))) {}

    loop_core& core;
    shared<async_place> rows; ///< the table for operations, which need no stack
    table_in_loop<Types...> books;

    /// The rows of one type, without indexes and sums.
    template <class E>
    [[nodiscard]] async_table<E> rows_of() const {
        static_cast<void>(allow_read<E, entities, Types...>());
        return async_table<E>{rows};
    }
};

/// An argument that a task owns, with its text.
template <class T>
[[nodiscard]] auto owned_argument([[maybe_unused]] loop_core& in, T&& given) {
    using type = std::remove_cvref_t<T>;
    if constexpr (std::is_same_v<type, update_options> || std::is_same_v<type, transaction_options>) {
        return on_stack_clock(type{std::forward<T>(given)}, in);
    } else if constexpr (std::is_convertible_v<T const&, std::string_view> && !std::is_same_v<type, std::nullptr_t>) {
        return std::string{std::string_view{given}};
    } else {
        static_assert(std::is_constructible_v<std::decay_t<T>, T>,
            "an awaited call copies its arguments: pass an argument that cannot be copied with std::move");
        return std::decay_t<T>{std::forward<T>(given)};
    }
}

/// A handle of the place, and calls of its table on their own stacks.
template <class Place>
struct in_listed_place {
    shared<Place> at;

    /// Calls `verb(table, arguments...)` on a stack, with copies of the arguments.
    template <class Result, class Verb, class... Given>
    [[nodiscard]] task<Result> later(Verb verb, Given&&... given) const {
        auto held = std::tuple{owned_argument(at->core, std::forward<Given>(given))...};
        return on_own_stack(at->core, [at = at, verb, held = std::move(held)]() mutable -> Result {
            return std::apply([&](auto&... each) -> Result { return verb(at->books, each...); }, held);
        });
    }
    /// Does the same with options whose delays use the clock of the loop: the last argument, or new options; no options if `Options` is
    /// void.
    template <class Result, class Options, class Verb, class... Given>
    [[nodiscard]] task<Result> with_clock(Verb verb, Given&&... given) const {
        if constexpr ((std::is_void_v<Options> || ... || std::is_same_v<std::remove_cvref_t<Given>, Options>)) {
            return later<Result>(verb, std::forward<Given>(given)...);
        } else {
            return later<Result>(verb, std::forward<Given>(given)..., Options{});
        }
    }
};

/// The calls whose parameters are the components of the partition key. Empty if no entity is stored in one row.
template <class Place, class PartitionComponents>
class listed_partition {
protected:
    explicit listed_partition(shared<Place> at) noexcept : at_{std::move(at)} {}

    in_listed_place<Place> at_;
};

template <class Place, class... P>
class listed_partition<Place, components<void, P...>> {
public:
    /// Like `table::transact`. The body is ordinary blocking code, on the stack of the task; `transaction_options::time` is ignored.
    template <class Body>
    [[nodiscard]] task<result<transacted>> transact(
        key_argument<typename P::value_type>... partition, Body body, transaction_options options = {}) const {
        return at_.template later<result<transacted>>(
            [](auto const& books, auto&... each) { return books.transact(each...); }, partition..., std::move(body),
            std::move(options));
    }

protected:
    explicit listed_partition(shared<Place> at) noexcept : at_{std::move(at)} {}

    in_listed_place<Place> at_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
