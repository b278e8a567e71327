// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `asio_query`: a query whose pages and ends are calls with completion tokens.

#include <entitable/async/asio/detail/asio_place.hpp>
#include <entitable/async/async_query.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The pages of an `asio_query`. One page is awaited at a time. Copies are cheap; copies and moves share the position.
template <class Entity, access_path Path, class Row>
class asio_pages {
public:
    /// Used by `asio_query::pages`.
    asio_pages(std::shared_ptr<detail::asio_place> at, query<Entity, Path, Row> asked)
        : at_(std::move(at)), begun_(std::make_shared<position>(std::move(asked))) {}
    asio_pages(asio_pages const&) = default;            ///< copies and moves share the position
    asio_pages& operator=(asio_pages const&) = default; ///< copies and moves share the position
    ~asio_pages() = default;

    /// Like `query_pages::next`: completes with the next page that has rows, an `optional<page_of<Row>>`; nullopt at the end. The arguments
    /// are those that end each call of `asio_table`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_next(Rest&&... diagnostics_and_token) const {
        return detail::asio_place::begin(
            at_,
            [begun = begun_](shared<detail::async_place> const& at) {
                if (!begun->pages) { begun->pages.emplace(async_query{at, begun->asked}.pages()); }
                return begun->pages->next();
            },
            std::forward<Rest>(diagnostics_and_token)...);
    }

private:
    struct position {
        explicit position(query<Entity, Path, Row> all) : asked(std::move(all)) {}

        query<Entity, Path, Row> asked;
        std::optional<async_pages<Entity, Row>> pages; ///< used on the strand
    };

    std::shared_ptr<detail::asio_place> at_;
    std::shared_ptr<position> begun_;
};

/// A query of `asio_table`. It has the options of `query`; its terminal calls take a completion token, as the calls of `asio_table` do.
/// Copies are cheap, and a move copies. Thread safety: safe to use from several threads, as the table is.
template <class Entity, access_path Path, class Row>
class asio_query {
public:
    /// Used by `asio_table`.
    asio_query(std::shared_ptr<detail::asio_place> at, query<Entity, Path, Row> asked)
        : at_(std::move(at)), asked_(std::move(asked)) {}
    asio_query(asio_query const&) = default;            ///< copies and moves share the query
    asio_query& operator=(asio_query const&) = default; ///< copies and moves share the query
    ~asio_query() = default;

    /// Like `query::take`.
    [[nodiscard]] asio_query take(std::uint64_t count) const { return {at_, asked_.take(count)}; }
    /// Like `query::page_size`.
    [[nodiscard]] asio_query page_size(std::uint32_t rows) const { return {at_, asked_.page_size(rows)}; }
    /// Like `query::resume`.
    [[nodiscard]] asio_query resume(std::string token) const { return {at_, asked_.resume(std::move(token))}; }
    /// Like `query::in_flight`.
    [[nodiscard]] asio_query in_flight(std::size_t ranges) const { return {at_, asked_.in_flight(ranges)}; }
    /// Like `query::select`.
    template <class... Fields>
    [[nodiscard]] auto select(Fields... fields) const {
        return entitable::asio_query{at_, asked_.select(fields...)};
    }
    /// Returns the result page by page.
    [[nodiscard]] asio_pages<Entity, Path, Row> pages() const { return {at_, asked_}; }

    /// Like `query::to_vector`: completes with all entities.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_to_vector(Rest&&... diagnostics_and_token) const {
        return async_end([](auto const& all) { return all.to_vector(); }, std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `query::first`: completes with the first entity, or nullopt.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_first(Rest&&... diagnostics_and_token) const {
        return async_end([](auto const& all) { return all.first(); }, std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `query::count`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_count(Rest&&... diagnostics_and_token) const {
        return async_end([](auto const& all) { return all.count(); }, std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `query::exists`.
    template <class... Rest>
        requires detail::call_completion<Rest...>
    auto async_exists(Rest&&... diagnostics_and_token) const {
        return async_end([](auto const& all) { return all.exists(); }, std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Like `query::for_each`. The function is called on the strand of the loop.
    template <class Function, class... Rest>
        requires detail::call_completion<Rest...>
    auto async_for_each(Function function, Rest&&... diagnostics_and_token) const {
        return async_end([function = std::move(function)](auto const& all) { return all.for_each(function); },
            std::forward<Rest>(diagnostics_and_token)...);
    }
    /// Ends the query in any other way: `ending(query)` is called on the strand with the `async_query`, and returns what is awaited:
    /// `[](auto const& all) { return all.sum(b::price); }`.
    template <class Ending, class... Rest>
        requires detail::call_completion<Rest...>
    auto async_end(Ending ending, Rest&&... diagnostics_and_token) const {
        return detail::asio_place::begin(
            at_,
            [ending = std::move(ending), asked = asked_](
                shared<detail::async_place> const& at) mutable { return ending(async_query{at, asked}); },
            std::forward<Rest>(diagnostics_and_token)...);
    }

private:
    std::shared_ptr<detail::asio_place> at_;
    query<Entity, Path, Row> asked_;
};

/// Deduces the types from the query.
template <class Entity, access_path Path, class Row>
asio_query(std::shared_ptr<detail::asio_place>, query<Entity, Path, Row>) -> asio_query<Entity, Path, Row>;

ENTITABLE_END_NAMESPACE
