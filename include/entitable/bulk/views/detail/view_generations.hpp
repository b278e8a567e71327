// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The generations of a materialized view: the existing generations, and the current generation. Untyped, compiled once.
///
/// A generation is a table. The table with the name of the view contains one row that names the current generation, and one row for each
/// existing generation. Every refresh takes a ticket at its start, from a counter in the first of these rows: the refresh that started
/// later has the higher ticket, independent of clocks. The current generation is replaced only by a generation with a higher
/// ticket, under the version of that row. A generation with a lower ticket than the current generation can therefore never become current,
/// and any program may remove it.

#include <entitable/bulk/views/view_options.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/transport/contention.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads all entities and makes all rows of the view; counts the entities.
using view_maker = function_ref<result<std::vector<row>>(std::uint64_t& entities)>;

/// Compares keys in the order of services.
[[nodiscard]] bool view_row_less(row_view left, row_view right) noexcept;
/// Sorts rows by key. Errors: InvalidDuplicateRow if two rows have the same key.
[[nodiscard]] result<void> order_view_rows(std::vector<row>& rows);

/// Content of the row that names the current generation.
struct view_pointer {
    std::int64_t begun{};  ///< the last ticket
    std::int64_t ticket{}; ///< number of the current generation
    std::string table;     ///< table of the current generation; empty before the first refresh
    date_time from, until;
    etag version; ///< ETag of this row; empty if the row does not exist yet
};

/// One view. Safe to use from several threads; copies are cheap.
class view_generations {
public:
    view_generations(table_core core, view_options how);

    [[nodiscard]] table_core const& core() const noexcept { return core_; }
    [[nodiscard]] view_options const& options() const noexcept { return how_; }

    /// Returns the current generation. Errors: ViewNotReady before the first refresh.
    [[nodiscard]] result<view_pointer> shown() const;
    /// Makes a generation, and makes it current.
    [[nodiscard]] result<view_refresh> refresh(view_maker make) const;
    /// Compares the current generation with the rows that a refresh would make now.
    [[nodiscard]] result<view_audit> audit(view_maker make) const;
    /// Removes the view with all generations.
    [[nodiscard]] result<void> drop() const;

private:
    struct generation {
        std::string table;
        std::int64_t ticket{};
    };
    struct note; // the row of a generation

    template <class Request>
    [[nodiscard]] result<response_of<Request>> ask(Request const& request) const;
    [[nodiscard]] result<view_pointer> pointer() const;
    [[nodiscard]] result<void> wait(contention& rivals) const;
    [[nodiscard]] result<std::vector<note>> notes() const;
    [[nodiscard]] result<generation> begin() const;
    [[nodiscard]] result<void> create(generation const& own) const;
    [[nodiscard]] result<void> write(generation const& own, std::vector<row> rows) const;
    [[nodiscard]] result<view_refresh> show(generation const& own, date_time from, date_time until) const;
    [[nodiscard]] result<void> discard(std::string const& table) const;
    [[nodiscard]] result<void> sweep(view_pointer const& now) const;

    table_core core_;
    view_options how_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/views/impl/view_generations.ipp>
#endif
