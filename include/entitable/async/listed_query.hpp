// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `listed_query`: a query of an `async_table` of several types.

#include <entitable/async/detail/awaited_folds.hpp>
#include <entitable/async/detail/awaited_order.hpp>
#include <entitable/async/detail/listed_place.hpp>

#include <memory>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// The pages of a query of an `async_table` of several types; one page at a time is awaited. Copies are cheap; copies
/// and moves share the position.
template <class Place, class Make>
class listed_pages {
    using pages = decltype(std::declval<Make const&>()(std::declval<decltype(Place::books) const&>()).pages());

public:
    /// Used by `listed_query::pages`.
    listed_pages(detail::in_listed_place<Place> at, Make make)
        : at_(std::move(at)), make_(std::move(make)), begun_(std::make_shared<std::optional<pages>>()) {}
    listed_pages(listed_pages const&) = default;            ///< copies and moves share the position
    listed_pages& operator=(listed_pages const&) = default; ///< copies and moves share the position
    ~listed_pages() = default;

    /// Like `query_pages::next`: returns the next page that has rows; nullopt at the end.
    [[nodiscard]] auto next() const {
        return at_.template later<decltype(std::declval<pages&>().next())>(
            [make = make_, begun = begun_](auto const& books) {
                if (!*begun) { begun->emplace(make(books).pages()); }
                return (*begun)->next();
            });
    }

private:
    detail::in_listed_place<Place> at_;
    Make make_;
    std::shared_ptr<std::optional<pages>> begun_;
};

/// A query of an `async_table` of several types. It has the options of the blocking query. A terminal call (`to`, `count`, ...) is awaited:
/// it builds the query and runs it on its own stack. Copies are cheap, and a move copies. Thread safety: only the loop's thread.
template <class Place, class Make>
class listed_query : public detail::awaited_folds<listed_query<Place, Make>> {
    friend class detail::awaited_folds<listed_query>;
    using blocking = decltype(std::declval<Make const&>()(std::declval<decltype(Place::books) const&>()));

public:
    using value_type = typename blocking::value_type; ///< the type of its elements

    /// Made by a table: `make(table)` returns the blocking query.
    listed_query(detail::in_listed_place<Place> at, Make make) : at_(std::move(at)), make_(std::move(make)) {}
    listed_query(listed_query const&) = default;            ///< copies and moves share the place in the loop
    listed_query& operator=(listed_query const&) = default; ///< copies and moves share the place in the loop
    ~listed_query() = default;

    /// Like `query::take`.
    [[nodiscard]] auto take(std::uint64_t count) const {
        return changed([count](blocking const& all) { return all.take(count); });
    }
    /// Like `query::page_size`.
    [[nodiscard]] auto page_size(std::uint32_t rows) const {
        return changed([rows](blocking const& all) { return all.page_size(rows); });
    }
    /// Like `query::in_flight`.
    [[nodiscard]] auto in_flight(std::size_t reads) const {
        return changed([reads](blocking const& all) { return all.in_flight(reads); });
    }
    /// Like `query::resume`.
    [[nodiscard]] auto resume(std::string token) const {
        return changed([token](auto const& all) { return all.resume(token); });
    }
    /// Like `query::select`.
    template <class... Fields>
    [[nodiscard]] auto select(Fields... fields) const {
        return changed([fields...](blocking const& all) { return all.select(fields...); });
    }
    /// Like `indexed_query::unverified`.
    [[nodiscard]] auto unverified() const {
        return changed([](auto const& all) { return all.unverified(); });
    }

    /// Like `query::first`.
    [[nodiscard]] auto first() const {
        return ended([](auto const& all) { return all.first(); });
    }
    /// Like `query::count`.
    [[nodiscard]] auto count() const {
        return ended([](auto const& all) { return all.count(); });
    }
    /// Like `query::to`.
    template <class Container = std::vector<value_type>>
    [[nodiscard]] auto to() const {
        return ended([](auto const& all) { return all.template to<Container>(); });
    }
    /// The same as `to` without a container.
    [[nodiscard]] auto to_vector() const { return to(); }
    /// Returns the result page by page: `co_await pages.next()`.
    [[nodiscard]] auto pages() const { return listed_pages<Place, Make>{at_, make_}; }

private:
    /// The query with another option.
    template <class Change>
    [[nodiscard]] auto changed(Change change) const {
        return entitable::listed_query{at_, [make = make_, change](auto const& books) { return change(make(books)); }};
    }
    /// Makes the query and calls `ending(query, arguments...)` on a stack.
    template <class Ending, class... Given>
    [[nodiscard]] auto ended(Ending ending, Given... given) const {
        using made = decltype(ending(std::declval<blocking const&>(), given...));
        return at_.template later<made>(
            [make = make_, ending](auto const& books, auto&... each) { return ending(make(books), each...); },
            std::move(given)...);
    }

    detail::in_listed_place<Place> at_;
    Make make_;
};

/// The queries by an index of an `async_table` of several types.
template <class Place, class Index>
class listed_index {
public:
    explicit listed_index(detail::in_listed_place<Place> at) : at_(std::move(at)) {} ///< made by a table
    listed_index(listed_index const&) = default;            ///< copies and moves share the place in the loop
    listed_index& operator=(listed_index const&) = default; ///< copies and moves share the place in the loop
    ~listed_index() = default;

    /// Like `indexed_by::where`.
    template <class Condition>
    [[nodiscard]] auto where(Condition condition) const {
        return listed_query{
            at_, [condition](auto const& books) { return books.template by<Index>().where(condition); }};
    }
    /// Like `indexed_by::scan_index`.
    template <class... Condition>
    [[nodiscard]] auto scan_index(Condition... condition) const {
        return listed_query{
            at_, [condition...](auto const& books) { return books.template by<Index>().scan_index(condition...); }};
    }

private:
    detail::in_listed_place<Place> at_;
};

ENTITABLE_END_NAMESPACE
