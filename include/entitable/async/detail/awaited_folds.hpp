// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `awaited_folds`: the terminal calls of awaited queries that run the blocking call on a stack of their own.

#include <entitable/client/detail/refused_calls.hpp>
#include <entitable/client/ordering.hpp>
#include <entitable/core/config.hpp>

#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class All, class Make>
class awaited_order;

/// Base of an awaited query, which defines `ended(call, arguments...)`: runs `call(blocking query, arguments...)` on a stack.
template <class Query>
class awaited_folds : public refused_query_names<Query> {
public:
    /// Like `query::explain`.
    [[nodiscard]] auto explain() const {
        return own().ended([](auto const& all) { return all.explain(); });
    }
    /// Like `query::for_each`. The function is called on the stack, where it may block.
    template <class Function>
    [[nodiscard]] auto for_each(Function function) const {
        return own().ended([](auto const& all, auto& each) { return all.for_each(each); }, std::move(function));
    }
    /// Like `query::fold`: of an initial value and a function, or of aggregates.
    template <class... Given>
    [[nodiscard]] auto fold(Given... given) const {
        return own().ended([](auto const& all, auto&... each) { return all.fold(each...); }, std::move(given)...);
    }
    /// Like `query::group_by`.
    template <class... Given>
    [[nodiscard]] auto group_by(Given... given) const {
        return own().ended([](auto const& all, auto&... each) { return all.group_by(each...); }, std::move(given)...);
    }
    /// Like `query::min`.
    template <class Field>
    [[nodiscard]] auto(min)(Field field) const {
        return own().ended([](auto const& all, auto& of) { return (all.min)(of); }, field);
    }
    /// Like `query::max`.
    template <class Field>
    [[nodiscard]] auto(max)(Field field) const {
        return own().ended([](auto const& all, auto& of) { return (all.max)(of); }, field);
    }
    /// Like `query::sum`.
    template <class Field>
    [[nodiscard]] auto sum(Field field) const {
        return own().ended([](auto const& all, auto& of) { return all.sum(of); }, field);
    }

    /// Like `query::exists`.
    [[nodiscard]] auto exists() const {
        return own().ended([](auto const& all) { return all.exists(); });
    }
    /// Like `query::distinct`.
    template <class By>
    [[nodiscard]] auto distinct(By by) const {
        return own().ended([](auto const& all, auto& each) { return all.distinct(each); }, std::move(by));
    }
    /// Like `query::order_by`: the terminal calls of the result are awaited.
    template <class... Terms>
    [[nodiscard]] auto order_by(Terms... terms) const {
        return ordered([held = std::tuple{std::move(terms)...}](auto const& all) {
            return std::apply([&](auto const&... each) { return all.order_by(each...); }, held);
        });
    }
    /// Like `query::top`.
    template <class By>
    [[nodiscard]] auto top(std::uint64_t count, By by) const {
        return order_by(entitable::descending(std::move(by))).take(count);
    }
    /// Like `query::bottom`.
    template <class By>
    [[nodiscard]] auto bottom(std::uint64_t count, By by) const {
        return order_by(entitable::ascending(std::move(by))).take(count);
    }

private:
    friend Query;
    template <class, class>
    friend class awaited_order;
    awaited_folds() = default;

    template <class Ending, class... Given>
    [[nodiscard]] static auto run_on(Query const& all, Ending ending, Given... given) {
        return all.ended(std::move(ending), std::move(given)...);
    }
    template <class Make>
    [[nodiscard]] auto ordered(Make make) const {
        return awaited_order<Query, Make>{own(), std::move(make)};
    }

    [[nodiscard]] Query const& own() const noexcept { return static_cast<Query const&>(*this); }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
