// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of a materialized view, and what its operations return.

#include <entitable/bulk/bulk_options.hpp>
#include <entitable/client/contention.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a `materialized_view`.
struct view_options {
    /// How long a generation is kept after it was replaced: for readers that are at work on it, and tokens of its pages.
    std::chrono::nanoseconds keep{std::chrono::hours{1}};
    std::uint32_t max_attempts{20};     ///< of one step, where other refreshes are faster; 0 counts as 1
    backoff delays{contention_backoff}; ///< the waits between attempts
    bulk_options load{};                ///< how rows are written; its clock and its seed are those of the whole refresh
};

/// What was read from a view, and its age. By the clock of the program that refreshed the view: where clocks of writers differ from
/// it, these times are off by as much.
template <class T>
struct view_answer {
    T value;         ///< what was read
    date_time from;  ///< everything acknowledged before this is included
    date_time until; ///< nothing begun after this is included

    /// Its age at most: the time since `from`. Negative where clocks differ.
    [[nodiscard]] std::chrono::nanoseconds age(date_time now = date_time::now()) const noexcept {
        return std::chrono::nanoseconds{(now.ticks - from.ticks) * 100};
    }
};

/// What became of a refresh.
struct view_refresh {
    bool
        shown{}; ///< readers get what it made; else what a refresh made that began later, with all that this one has read, or newer
    std::uint64_t entities{}; ///< that were read
    std::uint64_t rows{};     ///< of the view that it made
    date_time from;           ///< of what readers get now, as in `view_answer`
    date_time until;          ///< the same
};

/// What `verify` of a `materialized_view` found. Where writers are at work, what they changed since `from` differs.
struct view_audit {
    std::uint64_t entities{};         ///< that were read
    std::uint64_t rows{};             ///< of the view that are as they would be made now
    std::uint64_t missing{};          ///< that would be made now, and are not there
    std::uint64_t different{};        ///< that would be made with other properties
    std::uint64_t dangling{};         ///< that would not be made
    std::vector<std::string> samples; ///< row keys of some that are not as they would be
    date_time from;                   ///< of what was looked at, as in `view_answer`
    date_time until;                  ///< the same

    /// Whether the view is what a refresh would make now.
    [[nodiscard]] bool same() const noexcept { return missing + different + dangling == 0; }
};

ENTITABLE_END_NAMESPACE
