// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of a materialized view, and the results of its operations.

#include <entitable/client/contention.hpp>
#include <entitable/core/load/bulk_options.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of `materialized_view`.
struct view_options {
    /// Time for which a generation exists after it was replaced: for its active readers, and tokens of its pages.
    std::chrono::nanoseconds keep{std::chrono::hours{1}};
    std::uint32_t max_attempts{20};     ///< attempts of one step, in case other refreshes come first; 0 counts as 1
    backoff delays{contention_backoff}; ///< delays between attempts
    bulk_options load{}; ///< options of the writes; its clock and its seed are used for the whole refresh
};

/// A result read from a view, with its age. The times come from the clock of the program that refreshed the view:
/// their error is the difference between that clock and the clocks of the writers.
template <class T>
struct view_answer {
    T value;         ///< the result
    date_time from;  ///< everything acknowledged before this time is included
    date_time until; ///< nothing started after this time is included

    /// Upper bound of the age of the result: the time since `from`. Negative if clocks differ.
    [[nodiscard]] std::chrono::nanoseconds age(date_time now = date_time::now()) const noexcept {
        return std::chrono::nanoseconds{(now.ticks - from.ticks) * 100};
    }
};

/// Outcome of a refresh.
struct view_refresh {
    bool
        shown{}; ///< whether readers get the rows of this refresh, not the rows of a later refresh with the same or newer entities
    std::uint64_t entities{}; ///< number of entities read
    std::uint64_t rows{};     ///< number of rows that the refresh wrote
    date_time from;           ///< `view_answer::from` of the current generation
    date_time until;          ///< `view_answer::until` of the current generation
};

/// Findings of `verify` of a `materialized_view`. If writers are active, their changes since `from` are reported as differences.
struct view_audit {
    std::uint64_t entities{};         ///< number of entities read
    std::uint64_t rows{};             ///< rows of the view that equal the rows that a refresh would make now
    std::uint64_t missing{};          ///< rows that a refresh would make now and that do not exist
    std::uint64_t different{};        ///< rows that a refresh would make with different properties
    std::uint64_t dangling{};         ///< rows that a refresh would not make
    std::vector<std::string> samples; ///< row keys of some of the wrong rows
    date_time from;                   ///< `view_answer::from` of the audited generation
    date_time until;                  ///< `view_answer::until` of the audited generation

    /// Whether the view has the rows that a refresh would make now.
    [[nodiscard]] bool same() const noexcept { return missing + different + dangling == 0; }
};

ENTITABLE_END_NAMESPACE
