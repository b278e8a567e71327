// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `query_reading`: the resumable operation of every query. It asks for the pages in key order, those of several ranges at once if
/// wanted. Only the continuation says whether there is more.

#include <entitable/query/plan.hpp>
#include <entitable/request/operation.hpp>
#include <entitable/request/requests.hpp>
#include <entitable/row/system_rows.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// The cost of a run so far.
struct query_cost {
    std::uint64_t requests{};   ///< sent to the service
    std::uint64_t examined{};   ///< rows the service looked at, where it tells
    std::uint64_t received{};   ///< rows it returned
    std::uint64_t accepted{};   ///< rows that satisfied the whole predicate
    std::uint64_t partitions{}; ///< partitions that the received rows came from

    /// The part of the examined rows that was accepted; 1 where the transport does not tell how many were examined.
    [[nodiscard]] double selectivity() const noexcept {
        return examined == 0 ? 1.0 : static_cast<double>(accepted) / static_cast<double>(examined);
    }
    /// One line a figure.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const;

    friend bool operator==(query_cost const&, query_cost const&) = default;
};

/// Where a query can be resumed: a key range, and a position in it.
struct query_position {
    std::size_t range{};                     ///< the number of the key range, from 0
    std::uint64_t taken{};                   ///< rows before it
    std::optional<std::string> continuation; ///< where in the range; none for its beginning
};

/// A planned query.
struct query_parts {
    std::string table;           ///< the table asked
    query_plan plan;             ///< how it is asked
    key_layout partition_layout; ///< of the partition key
    key_layout row_layout;       ///< of the row key
};

/// A position as printable text, version 1 (docs/stored_formats.md). It belongs to one table, predicate and projection.
ENTITABLE_LAZY [[nodiscard]] std::string make_token(
    query_parts const& parts, projection const& select, query_position const& position);
/// Reads a token. Errors: ContinuationInvalid for everything that `make_token` has not made for the same query.
ENTITABLE_LAZY [[nodiscard]] result<query_position> read_token(
    query_parts const& parts, projection const& select, std::string_view token);

/// Reads a query page by page: each page is one operation, begun again until `at_end()`. A failed page ends the reading, after the pages
/// before it in key order, in whatever order they were answered.
class query_reading {
public:
    /// `parts` must outlive the reading. Keeps up to `in_flight` pages, each of another range.
    ENTITABLE_LAZY query_reading(query_parts const& parts, projection select, std::size_t in_flight);
    query_reading(query_reading&& other) noexcept;            ///< what is left may only be destroyed or assigned to
    query_reading& operator=(query_reading&& other) noexcept; ///< as the constructor
    ~query_reading();

    /// Whether all pages were read, or one has failed.
    [[nodiscard]] bool at_end() const noexcept { return range_ == end_; }
    [[nodiscard]] query_cost const& cost() const noexcept { return cost_; } ///< of all pages so far
    /// Limits the rows of the pages that are requested from now on.
    void set_page_size(std::uint32_t rows) noexcept { page_size_ = rows; }
    /// The properties that are requested; none for all of them.
    [[nodiscard]] projection const& select() const noexcept { return select_; }
    /// Continues at this position.
    ENTITABLE_LAZY void go_to(query_position position);
    /// The page that comes next; its `taken` is for the caller to fill.
    ENTITABLE_LAZY [[nodiscard]] query_position position() const;

    // The operation: one page of rows that satisfy the whole predicate; possibly none although there is more.
    /// Whether the page was answered, or never will be.
    ENTITABLE_LAZY [[nodiscard]] bool page_is_here() const noexcept;
    /// The next step.
    ENTITABLE_LAZY [[nodiscard]] operation_step next();
    /// Takes the answer.
    ENTITABLE_LAZY void answer(result<query_entities::response> response, steady_time);
    /// The next page, for a transport that passes rows to a visitor. Only while no page is here and one range at a time is read.
    ENTITABLE_LAZY [[nodiscard]] query_entities const& page_to_show();
    /// Removes rows from the front of a run of that page, up to and including the first that does not satisfy the whole predicate.
    /// Returns those before it, possibly none. `run` is not empty.
    ENTITABLE_LAZY [[nodiscard]] std::span<row_view const> accept(std::span<row_view const>& run);
    /// Takes the answer to that page; an error ends the reading.
    ENTITABLE_LAZY [[nodiscard]] result<void> finish(result<read_entities::response> response);
    /// Ends the operation with an error instead of an answer.
    ENTITABLE_LAZY void abandon(error const& reason);
    /// The page, or why there is none.
    ENTITABLE_LAZY [[nodiscard]] result<page> finish();

    // The same for several requests under way: a round asks once for the next page of each range that has none.
    /// Begins a round.
    ENTITABLE_LAZY void begin_round() noexcept;
    /// The next request of the round, and the slot of its answer; null when there is none.
    ENTITABLE_LAZY [[nodiscard]] query_entities const* next_request(std::size_t& index);
    /// Takes the answer of a slot.
    ENTITABLE_LAZY void answer(std::size_t index, result<query_entities::response> response);

private:
    /// Counts partitions in rows that come in key order.
    struct partition_count {
        std::uint64_t count{};
        std::string first;
        std::string last;

        ENTITABLE_LAZY void add(std::string_view partition_key);
        ENTITABLE_LAZY void add(partition_count const& behind);
    };
    struct slot;

    ENTITABLE_LAZY query_entities& prepare(std::size_t range);

    query_parts const* parts_;
    projection select_;
    std::uint32_t page_size_{1000};
    std::vector<slot> slots_;
    std::size_t range_{};
    std::size_t end_{};                   ///< no range from here on is read
    std::uint64_t refused_{};             ///< of the rows of a page that is being shown
    partition_count* partitions_shown_{}; ///< of that page, where it may have several
    query_cost cost_;
    partition_count partitions_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/query/impl/reading.ipp>
#include <entitable/query/impl/token.ipp>
#endif
