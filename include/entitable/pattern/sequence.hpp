// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `sequence`: 1, 2, 3 ... for the entities of a table, from a counter row.
///
///     entitable::sequence tickets{store, "tickets"};
///     auto const number = tickets.next().value().value;
///
/// A number as a key: `row_key(number)` sorts ascending, `row_key(descending(number))` has the newest first, so that
/// `.take(10)` of a partition is the last ten and reads no more.

#include <entitable/client/update.hpp>
#include <entitable/core/atomic.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/pattern/detail/reservation.hpp>
#include <entitable/transport/any_transport.hpp>

#include <mutex>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a sequence: how it counts, and where its row is. The row's format is in docs/stored_formats.md.
struct sequence_options {
    std::string table{"identities"};         ///< created if it does not exist
    std::string partition_key{"identities"}; ///< of the row; its RowKey is the name of what is counted
    std::int64_t start{1};                   ///< the first number of a counter that has no row yet; not negative
    std::int64_t step{1};                    ///< from one number to the next; 1 at least
    std::uint32_t block{1};                  ///< numbers taken with one write, which `next()` hands out one by one
    /// Including the first one; another follows a write that another writer was faster than, or whose answer was lost. 1 at least.
    std::uint32_t max_attempts{50};
    backoff delays{contention_backoff};  ///< the waits between attempts
    call_options calls{};                ///< of each `next()` and `reserve()`
    clock* time{&system_clock()};        ///< must outlive the sequence
    std::optional<std::uint64_t> seed{}; ///< of the waits; by default one that no other process has
};

namespace detail {

/// OutOfRangeInput for invalid options.
[[nodiscard]] ENTITABLE_DECL result<void> check_sequence(sequence_options const& options);

} // namespace detail

/// A number of a sequence.
struct sequence_number {
    std::int64_t value{};     ///< the number
    std::uint32_t attempts{}; ///< writes that it took; 0 for a number of a block taken earlier
};

/// Numbers of a sequence that were taken with one write: first, first + step, ...
struct number_block {
    std::int64_t first{};     ///< the first number
    std::int64_t step{1};     ///< from one number to the next
    std::uint32_t count{};    ///< how many
    std::uint32_t attempts{}; ///< writes that it took

    /// A number that was taken; from `count` on it ends the program, by `ENTITABLE_ASSERT`.
    [[nodiscard]] std::int64_t operator[](std::uint32_t index) const {
        ENTITABLE_ASSERT(index < count, "a block of numbers has none at this index",
            detail::misuse("count says how many there are"));
        return first + step * std::int64_t{index};
    }
};

/// A counter that many programs draw from, under optimistic concurrency on one row.
///
/// What is promised:
/// - No number is ever given twice, as long as nobody removes the row or sets it back. A child process made by `fork` takes
///   numbers of its own: its parent keeps the rest of the block.
/// - With a block of 1 numbers keep real-time order: a call that begins after another returned gets a greater number. The same holds for
///   the first numbers of blocks from `reserve`.
/// - With a larger block `next()` promises uniqueness only: numbers of one `sequence` and its copies ascend, those of
///   several are mixed.
/// - Numbers that nobody gets: those of a write whose answer was lost (`count` each), and the rest of a block when the
///   last copy is destroyed or the program ends, fewer than `block`.
/// - It does not wrap: a block that would end above the greatest Int64, or the greatest Int32 in an Int32 row, is refused with
///   OutOfRangeInput, and nothing is taken.
///
/// Errors: UpdateConditionNotSatisfied or EntityAlreadyExists when others were faster in every attempt; RowMismatch when the row's Value is
/// no number; OutOfRangeInput for invalid options, from every call; those of the transport. A lost answer is followed by another attempt,
/// which takes fresh numbers; that of the last attempt is the error. ServerBusy is not retried here: put a `retrying` below.
///
/// Cost: a read and a write for each block. Thread safety: safe to use from several threads, which take turns. A cheap handle: copies
/// share the block. One that was moved from answers InvalidInput.
class sequence {
public:
    /// Counts in the row named `counted`. Sends nothing yet.
    sequence(any_transport through, std::string counted, sequence_options options = {});

    /// The next number.
    [[nodiscard]] result<sequence_number> next() const;
    /// `count` numbers, 1 or more, with one write. None of them comes from a block of `next()`.
    [[nodiscard]] result<number_block> reserve(std::uint32_t count) const;

private:
    /// What threads take turns with. It belongs to one process: after a fork, numbers and a locked mutex are the parent's.
    struct turns {
        std::uint64_t forks;   ///< of the process that it belongs to
        turns* of_parent{};    ///< what this process must not use
        std::mutex turn{};     ///< one thread counts, the others wait: they would only be in its way
        number_block block{};  ///< guarded by turn
        std::uint32_t given{}; ///< of the block; guarded by turn
    };
    struct state : counted {
        state(any_transport below, sequence_options how, std::string name);
        ~state();
        state(state const&) = delete;
        state& operator=(state const&) = delete;
        [[nodiscard]] result<number_block> take(std::uint32_t count);
        [[nodiscard]] turns& own_turns();

        any_transport through;
        sequence_options options;
        detail::counter_row counter;
        random_source random;
        result<void> usable;
        atomic<turns*> now;
    };
    shared<state> state_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/pattern/impl/sequence.ipp>
#endif
