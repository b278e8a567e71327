// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `reserve_numbers`: takes a block of numbers from a counter row, as a resumable operation.

#include <entitable/core/backoff.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/request/resumable.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The rule for a counter's numbers, which its row declares for all programs.
struct number_rule {
    std::int64_t start{1};
    std::int64_t step{1};

    friend bool operator==(number_rule const&, number_rule const&) = default;
};

/// The row of a counter, and its rule.
struct counter_row {
    std::string table;
    std::string partition_key;
    std::string row_key;
    std::int64_t start{1};
    std::int64_t step{1};
    edm_type type{edm_type::int64}; ///< type of the count in a new row
    std::int32_t shards{0};         ///< shard count that the row must agree with; 0 for a counter that is not sharded
    std::optional<number_rule> declared{}; ///< rule of the row; the first row of a sharded counter contains it
};

/// Returns the count in a stored row. Errors: RowMismatch unless the count is a number, and the row contains the same
/// number of shards, start and step. A row without a start or a step agrees with every declaration.
[[nodiscard]] result<value_view> counted_value(row_view stored, counter_row const& counter);

/// A block of numbers that belongs only to the caller.
struct reserved {
    std::int64_t first{};
    std::uint32_t attempts{}; ///< number of writes sent
};

using reservation = resumable<reserved>;

/// Reads the row, adds to its count, and writes it under the ETag that was read. A block of 0 numbers makes the row if it is missing,
/// checks it, and ends. If the row lacks the counter's rule, the rule is merged into it first, under the ETag that was read. The row and
/// the random source must outlive the operation.
///
/// Numbers are returned only after a definite success of the conditional write. A write whose response was lost is followed by a new read,
/// and the numbers that it may have taken are skipped. A missing row is created first, with a count of zero, so that two programs that
/// create it concurrently create the same row and take no number.
reservation reserve_numbers(counter_row const& counter, std::uint32_t count, std::uint32_t max_attempts,
    entitable::backoff delays, random_source& random);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/sequence/impl/reservation.ipp>
#endif
