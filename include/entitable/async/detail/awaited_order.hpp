// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `awaited_order`: an awaited query whose rows the client sorts.

#include <entitable/async/detail/awaited_folds.hpp>
#include <entitable/client/ordered_query.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Has the options and terminal calls of `ordered_query`; each terminal call runs the blocking call on its own stack. `All`: the awaited
/// query; `make(blocking query)` returns the ordered one. Copies are cheap.
template <class All, class Make>
class awaited_order : public awaited_folds<awaited_order<All, Make>> {
    friend class awaited_folds<awaited_order>;

public:
    awaited_order(All all, Make make) : all_(std::move(all)), make_(std::move(make)) {}

    /// Like `ordered_query::take`.
    [[nodiscard]] auto take(std::uint64_t count) const {
        return changed([count](auto const& sorted) { return sorted.take(count); });
    }
    /// Like `ordered_query::most_rows`.
    [[nodiscard]] auto most_rows(std::uint64_t rows) const {
        return changed([rows](auto const& sorted) { return sorted.most_rows(rows); });
    }
    /// Like `query::page_size`.
    [[nodiscard]] auto page_size(std::uint32_t rows) const {
        return changed([rows](auto const& sorted) { return sorted.page_size(rows); });
    }
    /// Like `query::in_flight`.
    [[nodiscard]] auto in_flight(std::size_t ranges) const {
        return changed([ranges](auto const& sorted) { return sorted.in_flight(ranges); });
    }
    /// Like `ordered_query::select`.
    template <class... Fields>
    [[nodiscard]] auto select(Fields... fields) const {
        return changed([fields...](auto const& sorted) { return sorted.select(fields...); });
    }
    /// Like `ordered_query::to`.
    [[nodiscard]] auto to() const {
        return ended([](auto const& sorted) { return sorted.to(); });
    }
    /// Like `ordered_query::first`.
    [[nodiscard]] auto first() const {
        return ended([](auto const& sorted) { return sorted.first(); });
    }
    /// Like `ordered_query::count`.
    [[nodiscard]] auto count() const {
        return ended([](auto const& sorted) { return sorted.count(); });
    }
    /// Does not compile: see `ordered_query::pages`.
    template <class... Arguments>
    void pages(Arguments const&...) const {
        static_assert(sizeof...(Arguments) > 1000,
            "a sorted query has no pages and no token, because the client sorts all rows: use take(n), or an index "
            "with "
            "this order");
    }
    /// Does not compile: see `ordered_query::pages`.
    template <class... Arguments>
    void resume(Arguments const&...) const {
        pages();
    }

private:
    template <class Change>
    [[nodiscard]] auto changed(Change change) const {
        auto make = [make = make_, change](auto const& all) { return change(make(all)); };
        return awaited_order<All, decltype(make)>{all_, std::move(make)};
    }
    template <class Ending, class... Given>
    [[nodiscard]] auto ended(Ending ending, Given... given) const {
        return awaited_folds<All>::run_on(
            all_, [make = make_, ending](auto const& all, auto&... each) { return ending(make(all), each...); },
            std::move(given)...);
    }

    All all_;
    Make make_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
