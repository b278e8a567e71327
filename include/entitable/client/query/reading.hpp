// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `query_reading`: the resumable operation of every query. It requests pages in key order, optionally for several ranges at once.
/// Only the continuation shows whether there are more rows.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/key_pattern.hpp>
#include <entitable/client/query/plan.hpp>
#include <entitable/core/request/operation.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/row/system_rows.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// Cost of a run so far.
struct query_cost {
    std::uint64_t requests{};   ///< requests sent to the service
    std::uint64_t examined{};   ///< rows examined by the service, if known
    std::uint64_t received{};   ///< rows that the service returned
    std::uint64_t accepted{};   ///< rows that satisfied the whole predicate
    std::uint64_t partitions{}; ///< partitions of the received rows
    std::uint64_t stale{};      ///< responses of a secondary location, which may not be the latest
    double request_charge{};    ///< request units, if the service reports them

    /// Fraction of the examined rows that were accepted; 1 if the transport does not report the number examined.
    [[nodiscard]] double selectivity() const noexcept {
        return examined == 0 ? 1.0 : static_cast<double>(accepted) / static_cast<double>(examined);
    }
    /// Formats one line per figure.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const;

    friend bool operator==(query_cost const&, query_cost const&) = default;
};

/// A position at which a query can be resumed: a key range, and a position in it.
struct query_position {
    std::size_t range{};                     ///< the number of the key range, from 0
    std::uint64_t taken{};                   ///< rows taken before the position
    std::optional<std::string> continuation; ///< position in the range; nullopt for its beginning
};

/// A planned query.
struct query_parts {
    std::string table;                  ///< table to query
    query_plan plan;                    ///< plan of the query
    key_layout partition_layout;        ///< layout of the PartitionKey
    key_layout row_layout;              ///< layout of the RowKey
    detail::type_pattern const* type{}; ///< skips rows of other types, if the table has several
};

/// Makes a position printable, version 1 (docs/stored_formats.md). The token belongs to one table, predicate and projection.
ENTITABLE_LAZY [[nodiscard]] std::string make_token(
    query_parts const& parts, projection const& select, query_position const& position);
/// Parses a token. Errors: ContinuationInvalid unless `make_token` made it for the same query.
ENTITABLE_LAZY [[nodiscard]] result<query_position> read_token(
    query_parts const& parts, projection const& select, std::string_view token);

/// Reads a query page by page: each page is one operation; start the next operation until `at_end()` is true. A failed
/// page ends the reading after the pages before it in key order, whatever the order of their responses.
class query_reading {
public:
    /// `parts` must outlive the reading. Prefetches up to `in_flight` pages, each from a different range.
    ENTITABLE_LAZY query_reading(query_parts const& parts, projection select, std::size_t in_flight);
    query_reading(query_reading&& other) noexcept;            ///< the source may only be destroyed or assigned to
    query_reading& operator=(query_reading&& other) noexcept; ///< same as the move constructor
    ~query_reading();

    /// Whether all pages were read, or a page has failed.
    [[nodiscard]] bool at_end() const noexcept { return range_ == end_; }
    [[nodiscard]] query_cost const& cost() const noexcept { return cost_; } ///< cost of all pages so far
    /// Limits the rows of pages requested from now on.
    void set_page_size(std::uint32_t rows) noexcept { page_size_ = rows; }
    /// The properties that are requested; empty for all.
    [[nodiscard]] projection const& select() const noexcept { return select_; }
    /// Continues at this position.
    ENTITABLE_LAZY void go_to(query_position position);
    /// Position of the next page; the caller sets its `taken`.
    ENTITABLE_LAZY [[nodiscard]] query_position position() const;

    // The operation: one page of rows that satisfy the whole predicate; it may be empty although there are more rows.
    /// Whether the page has arrived, or can no longer arrive.
    ENTITABLE_LAZY [[nodiscard]] bool page_is_here() const noexcept;
    /// The next step.
    ENTITABLE_LAZY [[nodiscard]] operation_step next();
    /// Takes the response.
    ENTITABLE_LAZY void answer(result<query_entities::response> response, steady_time);
    /// Returns the request for the next page, for a transport that passes rows to a visitor. Valid only if no page has arrived and one
    /// range is read at a time.
    ENTITABLE_LAZY [[nodiscard]] query_entities const& page_to_show();
    /// Removes rows from the front of a run of that page, up to and including the first that does not satisfy the whole predicate. Returns
    /// the rows before it, possibly none. `run` must not be empty.
    ENTITABLE_LAZY [[nodiscard]] std::span<row_view const> accept(std::span<row_view const>& run);
    /// Returns how many rows of the current page `accept` has skipped.
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
    /// Takes the response for that page; an error ends the reading.
    ENTITABLE_LAZY [[nodiscard]] result<void> finish(result<read_entities::response> response);
    /// Ends the operation with an error.
    ENTITABLE_LAZY void abandon(error const& reason);
    /// Returns the page, or the error.
    ENTITABLE_LAZY [[nodiscard]] result<page> finish();

    // Used for concurrent requests: a round requests the next page of each range without a page.
    /// Starts a round.
    ENTITABLE_LAZY void begin_round() noexcept;
    /// Returns the next request of the round, and the slot of its response; null if there is none.
    ENTITABLE_LAZY [[nodiscard]] query_entities const* next_request(std::size_t& index);
    /// Takes the response of a slot.
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
    /// Whether the row has the type of the query.
    [[nodiscard]] bool is_of_type(row_view const& each) const noexcept {
        return parts_->type == nullptr || parts_->type->matches(each.partition_key, each.row_key);
    }

    query_parts const* parts_;
    projection select_;
    std::uint32_t page_size_{1000};
    std::vector<slot> slots_;
    std::size_t range_{};
    std::size_t end_{};                   ///< end of the ranges to read, exclusive
    std::uint64_t refused_{};             ///< among the rows of the page being passed to a visitor
    partition_count* partitions_shown_{}; ///< partitions of that page, if it may have several
    query_cost cost_;
    partition_count partitions_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/query/impl/reading.ipp>
#include <entitable/client/query/impl/token.ipp>
#endif

#endif
