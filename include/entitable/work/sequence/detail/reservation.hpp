// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `reservation`: takes a block of numbers from a counter row, as a resumable operation.

#include <entitable/core/backoff.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/operation.hpp>
#include <entitable/core/request/requests.hpp>

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
    std::int32_t shards{0}; ///< shard count that the row must agree with; 0 for a counter that is not sharded
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

/// Reads the row, increases its count, and writes the row under the ETag that was read. A block of 0 numbers makes the
/// row if it is missing, checks it, and ends. If the row lacks the counter's rule, the rule is merged into it first,
/// under the ETag that was read. The row and the random source must outlive the operation.
///
/// Numbers are returned only after a definite success of the conditional write. A write whose response was lost is followed by a new read,
/// and the numbers that it may have taken are skipped. A missing row is created first, with a count of zero, so that two programs that
/// create it concurrently create the same row and take no number.
class reservation {
public:
    reservation(counter_row const& counter, std::uint32_t count, std::uint32_t max_attempts,
        entitable::backoff const& delays, random_source& random)
        : counter_(counter), count_(count), max_attempts_(max_attempts), delays_(delays), random_(random) {
        reading_ = {counter.table, counter.partition_key, counter.row_key, {}};
        writing_.table = counter.table;
        creating_.table = counter.table;
        creating_.may_exist = true;
    }

    [[nodiscard]] operation_step next() const noexcept {
        return outcome_               ? operation_step{}
            : phase_ == phase::read   ? operation_step{reading_, not_before_, 0, because_}
            : phase_ == phase::create ? operation_step{creating_, not_before_, 0, because_}
                                      : operation_step{writing_, not_before_, 0, because_};
    }
    void answer(result<get_entity::response> found, steady_time now);
    void answer(result<written> done, steady_time now);
    void answer(result<create_table::response> created, steady_time now);
    void abandon(error const& reason) { end(failure{reason}); }
    [[nodiscard]] result<reserved> finish() { return *std::move(outcome_); }

private:
    enum class phase : std::uint8_t { read, insert, declare, add, create };

    void insert_row();
    /// Completes a row written by a program that stored neither start nor step.
    void declare(etag version);
    void add(value_view counted, etag version);
    /// Starts over after a wait, unless the attempts are used up.
    void repeat(failure beaten, steady_time now);
    void end(failure problem);

    counter_row const& counter_;
    std::uint32_t count_;
    std::uint32_t max_attempts_;
    entitable::backoff delays_;
    random_source& random_;
    get_entity reading_;
    write_entity writing_;
    create_table creating_;
    phase phase_{phase::read};
    bool created_{};
    std::int64_t first_{};
    std::uint32_t attempts_{};
    std::uint32_t beaten_{};
    steady_time not_before_{(steady_time::min)()};
    wait_cause because_{wait_cause::contention};
    std::optional<result<reserved>> outcome_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/sequence/impl/reservation.ipp>
#endif
