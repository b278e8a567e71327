// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `sharded_sequence`: numbers from several counters at once, for a rate that one row cannot bear.

#include <entitable/pattern/sequence.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Several rows that count, each in a partition of its own; each call draws one of them.
///
/// Two things are promised and nothing else: no number is ever given twice, and `total()` is exact. Numbers do not ascend,
/// neither in time nor for one caller, and have gaps until all shards have counted as far. The number of shards belongs to
/// the counter for good: another one is refused with RowMismatch.
///
/// Of the options, `block` is not used. Errors, threads and copies as with `sequence`.
class sharded_sequence {
public:
    /// `shards`: 2 to 1000.
    sharded_sequence(any_transport through, std::string counted, std::uint32_t shards, sequence_options options = {});

    /// A number that nobody else gets.
    [[nodiscard]] result<sequence_number> next() const;
    /// How many numbers were given, those of lost answers included: the sum over all shards. Numbers that are given
    /// while it adds up may be counted or not.
    [[nodiscard]] result<std::uint64_t> total() const;

private:
    struct state : counted {
        state(any_transport below, std::string name, std::uint32_t shards, sequence_options how);

        any_transport through;
        sequence_options options;
        std::vector<detail::counter_row> counters;
        random_source random;
        result<void> usable;
        atomic<bool> agreed{false}; ///< the first row counts for as many shards
    };
    shared<state> state_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/pattern/impl/sharded_sequence.ipp>
#endif
