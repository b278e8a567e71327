// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `sequence`: 1, 2, 3 ... for the entities of a table, from a counter row. `sharded_sequence`: numbers from several counters, for a rate that
/// one row cannot sustain.
///
///     entitable::sequence tickets{store, "tickets"};
///     auto const number = tickets.next().value().value;
///
/// A number as a key: `row_key(number)` sorts ascending, `row_key(descending(number))` puts the newest first, so that
/// `.take(10)` of a partition reads only the last ten.

#include <entitable/client/update.hpp>
#include <entitable/core/atomic.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/work/sequence/detail/reservation.hpp>

#include <mutex>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a sequence: how it counts, and the location of its row. The row's format is in docs/stored_formats.md.
struct sequence_options {
    std::string table{"identities"};         ///< created if it does not exist
    std::string partition_key{"identities"}; ///< PartitionKey of the row; its RowKey is the name of the sequence
    std::int64_t start{1};                   ///< the first number of a new counter; not negative
    std::int64_t step{1};                    ///< increment; at least 1
    /// The type of `Value` in the row of a new counter: int64, or int32 for programs that read an Int32. A row that exists keeps its type.
    edm_type value_type{edm_type::int64};
    std::uint32_t block{1}; ///< numbers taken with one write, which `next()` returns one by one
    /// Maximum number of attempts, including the first; another attempt follows if another writer came first or a
    /// response was lost. Must be at least 1.
    std::uint32_t max_attempts{50};
    backoff delays{contention_backoff};  ///< delays between attempts
    call_options calls{};                ///< options of each `next()` and `reserve()`
    clock* time{&system_clock()};        ///< must outlive the sequence
    std::optional<std::uint64_t> seed{}; ///< seed of the delays; by default unique to the process
};

namespace detail {

/// Errors: OutOfRangeInput for invalid options.
[[nodiscard]] ENTITABLE_DECL result<void> check_sequence(sequence_options const& options);

} // namespace detail

/// A number of a sequence.
struct sequence_number {
    std::int64_t value{};     ///< the number
    std::uint32_t attempts{}; ///< number of writes; 0 for a number from a block taken earlier
};

/// Numbers of a sequence taken with one write: first, first + step, ...
struct number_block {
    std::int64_t first{};     ///< the first number
    std::int64_t step{1};     ///< increment
    std::uint32_t count{};    ///< how many numbers
    std::uint32_t attempts{}; ///< number of writes

    /// Returns a number of the block; an index of `count` or more ends the program, by `ENTITABLE_ASSERT`.
    [[nodiscard]] std::int64_t operator[](std::uint32_t index) const {
        ENTITABLE_ASSERT(
            index < count, "a block of numbers has no number at this index", detail::misuse("check count first"));
        return first + step * std::int64_t{index};
    }
};

/// A counter that many programs share, with optimistic concurrency on one row.
///
/// Guarantees:
/// - No number is ever returned twice, as long as no program removes the row or resets it. A child process made by `fork`
///   draws its own numbers: its parent keeps the rest of the block.
/// - With a block of 1, numbers follow real-time order: a call that starts after another call has returned gets a
///   greater number. The same holds for the first numbers of blocks from `reserve`.
/// - With a larger block, `next()` guarantees only uniqueness: numbers of one `sequence` and its copies ascend, numbers of several sequences are mixed.
/// - Some numbers are skipped: the numbers of a write whose response was lost (`count` each), and the rest of a block when the last copy is
///   destroyed or the program ends, fewer than `block`.
/// - It does not wrap: a block that would end above the greatest Int64, or the greatest Int32 in an Int32 row, is
///   refused with OutOfRangeInput, and no number is taken.
///
/// Errors: UpdateConditionNotSatisfied or EntityAlreadyExists if other writers changed the row in every attempt; RowMismatch if the row's
/// Value is not a number; OutOfRangeInput for invalid options, from every call; those of the transport. A lost response is followed by
/// another attempt, which takes new numbers; after the last attempt it is returned as the error. ServerBusy is not retried here: wrap the
/// transport in `retrying`.
///
/// Cost: a read and a write for each block. Thread safety: safe to use from several threads, which take turns. A cheap handle: copies share
/// the block. After a move it returns InvalidInput.
class sequence {
public:
    /// Counts in the row named `counted`. Sends nothing.
    sequence(any_store through, std::string counted, sequence_options options = {});

    /// Returns the next number.
    [[nodiscard]] result<sequence_number> next() const;
    /// Takes `count` numbers, 1 or more, with one write, independent of the block of `next()`.
    [[nodiscard]] result<number_block> reserve(std::uint32_t count) const;

private:
    /// Serializes the threads of one process. After a fork, the child must not use the parent's numbers or its mutex,
    /// which may be locked.
    struct turns {
        std::uint64_t forks;   ///< fork count of the process that owns it
        turns* of_parent{};    ///< the parent process's object, which is not usable in this process
        std::mutex turn{};     ///< one thread counts, the others wait: concurrent writes would only conflict
        number_block block{};  ///< guarded by turn
        std::uint32_t given{}; ///< numbers taken from the block; guarded by turn
    };
    struct state : counted {
        state(any_store below, sequence_options how, std::string name);
        ~state();
        state(state const&) = delete;
        state& operator=(state const&) = delete;
        [[nodiscard]] result<number_block> take(std::uint32_t count);
        [[nodiscard]] turns& own_turns();

        any_store through;
        sequence_options options;
        detail::counter_row counter;
        random_source random;
        result<void> usable;
        atomic<turns*> now;
    };
    shared<state> state_;
};

/// Several counter rows, each in its own partition; each call chooses one at random.
///
/// There are only two guarantees: no number is ever returned twice, and `total()` is exact. Numbers do not ascend,
/// either over time or for one caller, and there are gaps until all shards have counted equally far. The number of
/// shards, `start` and `step` of a counter are permanent: the first row stores them, and different values are refused
/// with RowMismatch. A row that an earlier version made has no start and no step: the first call of a program of this
/// version stores its own values in it, so all programs that use one counter must use the same values.
///
/// The option `block` is not used. Errors, thread safety and copies as for `sequence`.
class sharded_sequence {
public:
    /// `shards`: 2 to 1000.
    sharded_sequence(any_store through, std::string counted, std::uint32_t shards, sequence_options options = {});

    /// Returns a number that no other call gets. Cost: a read and a write; the first call of an object also reads the first row, and makes
    /// or completes it.
    [[nodiscard]] result<sequence_number> next() const;
    /// Returns how many numbers were taken: the sum over all shards. Includes numbers from applied writes whose
    /// response was lost; numbers taken during the call may be included. Cost: one request for each shard.
    [[nodiscard]] result<std::uint64_t> total() const;

private:
    struct state : counted {
        state(any_store below, std::string name, std::uint32_t shards, sequence_options how);

        any_store through;
        sequence_options options;
        std::vector<detail::counter_row> counters;
        random_source random;
        result<void> usable;
        atomic<bool> agreed{false}; ///< set if the first row has the same declaration
    };
    shared<state> state_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/sequence/impl/sequence.ipp>
#endif
