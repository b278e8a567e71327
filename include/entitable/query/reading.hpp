// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `query_reading`: the resumable operation behind every query. It asks for the page that is due, range after range,
/// and knows when all was read. It looks at nothing but the continuation to know whether there is more.

#include <entitable/query/plan.hpp>
#include <entitable/request/operation.hpp>
#include <entitable/request/requests.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// What a run has cost so far.
struct query_cost {
    std::uint64_t requests{};
    std::uint64_t examined{}; ///< rows the service looked at, where it tells
    std::uint64_t received{}; ///< rows it returned
    std::uint64_t accepted{}; ///< rows that satisfied the whole predicate
};

/// Reads a plan page by page: each page is one operation, begun again until `at_end()`. A failed page ends the reading.
class query_reading {
public:
    using request = query_entities;

    ENTITABLE_LAZY query_reading(std::string table, query_plan plan, key_layout partition_layout, key_layout row_layout,
        std::uint32_t page_size);

    /// All pages were read, or one has failed.
    [[nodiscard]] bool at_end() const noexcept { return range_ == plan_.ranges.size(); }
    [[nodiscard]] query_cost const& cost() const noexcept { return cost_; }
    [[nodiscard]] query_plan const& plan() const noexcept { return plan_; }
    /// Rows at most on the following pages.
    void set_page_size(std::uint32_t rows) noexcept { request_.page_size = rows; }

    // The operation: one page of rows that satisfy the whole predicate, maybe none although there is more.
    [[nodiscard]] next_step next() const noexcept { return answer_ || at_end() ? next_step::done : next_step::send; }
    [[nodiscard]] steady_time wakes_at() const noexcept { return {}; }
    template <class Visitor>
    void visit(Visitor&& visitor) {
        visitor(std::as_const(request_));
    }
    ENTITABLE_LAZY void answer(result<query_entities::response> response);
    ENTITABLE_LAZY void abandon(error const& reason);
    ENTITABLE_LAZY [[nodiscard]] result<page> finish();

private:
    ENTITABLE_LAZY void begin_range();

    query_plan plan_;
    key_layout partition_layout_;
    key_layout row_layout_;
    query_entities request_;
    std::size_t range_{};
    std::optional<result<page>> answer_;
    query_cost cost_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/query/impl/reading.ipp>
#endif
