// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `async_query`: a query whose pages are awaited.

#include <entitable/async/awaited.hpp>
#include <entitable/async/detail/awaited_folds.hpp>
#include <entitable/async/detail/awaited_order.hpp>
#include <entitable/async/own_stack.hpp>
#include <entitable/client/detail/query_rows.hpp>
#include <entitable/client/query.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The next page of a walk, decoded. `walk` may hold the error that prevented it.
template <class Entity, class Row>
class typed_page_reading {
public:
    using has_call_for_each_request = void; ///< marks the operation for its drivers

    explicit typed_page_reading(result<shared<row_walk>> walk) : walk_(std::move(walk)) {
        if (walk_) { reading_.emplace(**walk_); }
    }

    [[nodiscard]] operation_step next() { return reading_ ? reading_->next() : operation_step{}; }
    void answer(result<query_entities::response> response, steady_time now) {
        reading_->answer(std::move(response), now);
    }
    void abandon(error const& reason) { reading_->abandon(reason); }
    [[nodiscard]] result<std::optional<page_of<Row>>> finish() {
        if (!walk_) { return std::move(walk_).as_failure(); }
        return page_from<Entity, Row>(**walk_, reading_->finish());
    }

private:
    result<shared<row_walk>> walk_;
    std::optional<page_reading> reading_;
};

} // namespace detail

/// Reads a query page by page. Only one page is awaited at a time.
///
///     while (true) {
///         ENTITABLE_CO_TRY(auto page, co_await pages.next());
///         if (!page) { break; }
///         for (book const& each : *page) { ... }
///     }
template <class Entity, class Row>
class async_pages {
public:
    /// Used by `async_query::pages`.
    async_pages(shared<detail::async_place> at, result<shared<detail::row_walk>> walk)
        : at_(std::move(at)), walk_(std::move(walk)) {}
    async_pages(async_pages const&) = default;            ///< copies and moves share the position
    async_pages& operator=(async_pages const&) = default; ///< copies and moves share the position
    ~async_pages() = default;

    /// Like `query_pages::next`: returns the next page that has rows; nullopt at the end.
    [[nodiscard]] awaited<detail::typed_page_reading<Entity, Row>> next() {
        return {at_, [this] { return detail::typed_page_reading<Entity, Row>{walk_}; }};
    }

private:
    shared<detail::async_place> at_;
    result<shared<detail::row_walk>> walk_;
};

/// A query of `async_table`. It has the options of `query`; its terminal calls are awaited. Pages, `to`, `first` and `count` await one page
/// at a time; each other terminal call runs the blocking call on its own stack (`on_own_stack`). Copies are cheap, and a move copies.
template <class Entity, access_path Path, class Row>
class async_query : public detail::awaited_folds<async_query<Entity, Path, Row>> {
    friend class detail::awaited_folds<async_query>;

public:
    /// Runs a query on the transport of the table.
    async_query(shared<detail::async_place> at, query<Entity, Path, Row> asked)
        : at_(std::move(at)), asked_(std::move(asked)) {}
    async_query(async_query const&) = default;            ///< copies and moves share the query
    async_query& operator=(async_query const&) = default; ///< copies and moves share the query
    ~async_query() = default;

    /// Like `query::take`.
    [[nodiscard]] async_query take(std::uint64_t count) const { return {at_, asked_.take(count)}; }
    /// Like `query::page_size`.
    [[nodiscard]] async_query page_size(std::uint32_t rows) const { return {at_, asked_.page_size(rows)}; }
    /// Like `query::resume`.
    [[nodiscard]] async_query resume(std::string token) const { return {at_, asked_.resume(std::move(token))}; }
    /// Like `query::in_flight`, for terminal calls that run on their own stack.
    [[nodiscard]] async_query in_flight(std::size_t ranges) const { return {at_, asked_.in_flight(ranges)}; }
    /// Like `query::select`.
    template <class... Fields>
    [[nodiscard]] auto select(Fields... fields) const {
        return entitable::async_query{at_, asked_.select(fields...)};
    }

    /// Returns the result page by page.
    [[nodiscard]] async_pages<Entity, Row> pages() const { return {at_, detail::query_rows::of(asked_, false)}; }
    /// Like `query::to`: returns all entities.
    [[nodiscard]] task<result<std::vector<Row>>> to() const { return collect(pages()); }
    /// The same as `to`.
    [[nodiscard]] task<result<std::vector<Row>>> to_vector() const { return to(); }
    /// Like `query::first`: returns the first entity, or nullopt.
    [[nodiscard]] task<result<std::optional<Row>>> first() const { return first_of_pages(take(1).pages()); }
    /// Like `query::count`: returns the number of entities.
    [[nodiscard]] task<result<std::uint64_t>> count() const {
        return count_rows(at_, detail::query_rows::of(asked_, true));
    }

private:
    /// Calls `ending(query, arguments...)` on a stack.
    template <class Ending, class... Given>
    [[nodiscard]] auto ended(Ending ending, Given... given) const {
        auto const* const source = detail::query_rows::source_of(asked_);
        auto asked =
            source == nullptr ? asked_ : detail::query_rows::on(asked_, loop_transport{at_->core, source->through});
        return detail::on_own_stack(
            at_->core, [asked = std::move(asked), ending, held = std::tuple{std::move(given)...}]() mutable {
                return std::apply([&](auto&... each) { return ending(asked, each...); }, held);
            });
    }
    static task<result<std::vector<Row>>> collect(async_pages<Entity, Row> pages) {
        std::vector<Row> all;
        for (;;) {
            ENTITABLE_CO_TRY(auto page, co_await pages.next());
            if (!page) { co_return std::move(all); }
            for (Row& each : page->items) { all.push_back(std::move(each)); }
        }
    }
    static task<result<std::optional<Row>>> first_of_pages(async_pages<Entity, Row> pages) {
        std::optional<Row> found;
        ENTITABLE_CO_TRY(auto page, co_await pages.next());
        if (page) { found.emplace(std::move(page->items.front())); }
        co_return std::move(found);
    }
    static task<result<std::uint64_t>> count_rows(
        shared<detail::async_place> at, result<shared<detail::row_walk>> walk) {
        if (!walk) { co_return std::move(walk).as_failure(); }
        for (std::uint64_t rows = 0;; rows += (*walk)->size()) {
            awaited<detail::page_reading> page{at, [&] { return detail::page_reading{**walk}; }};
            ENTITABLE_CO_TRY(bool const more, co_await page);
            if (!more) { co_return rows; }
        }
    }

    shared<detail::async_place> at_;
    query<Entity, Path, Row> asked_;
};

/// Deduces the types from the query.
template <class Entity, access_path Path, class Row>
async_query(shared<detail::async_place>, query<Entity, Path, Row>) -> async_query<Entity, Path, Row>;

ENTITABLE_END_NAMESPACE
