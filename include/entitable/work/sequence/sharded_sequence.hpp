// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `sharded_sequence`: numbers from several counters, for a rate that one row cannot sustain.

#include <entitable/work/sequence/sequence.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE

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
#include <entitable/work/sequence/impl/sharded_sequence.ipp>
#endif
