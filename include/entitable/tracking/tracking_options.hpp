// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of a unit of work: states of entities, merge options, save modes.

#include <entitable/core/config.hpp>

#include <cstdint>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// What becomes of a tracked entity when its row is read again. See docs/guide/unit_of_work.md for the whole table.
enum class merge_option : std::uint8_t {
    append_only,       ///< what is tracked stays as it is
    overwrite_changes, ///< the row wins; changes that were not saved are dropped
    preserve_changes,  ///< property by property; a conflict where both have changed one
    /// Own values win and the new ETag is taken, so the next save silently overwrites other writers: what the historic client did.
    preserve_changes_silently,
    no_tracking, ///< fresh objects, which live until `clear`; tracked ones are not touched
};

/// The state of a tracked entity, compared with its row.
enum class entity_state : std::uint8_t {
    detached,  ///< it is not tracked
    unchanged, ///< as it was last read or written
    added,     ///< to be inserted
    modified,  ///< changed since then
    removed,   ///< to be removed
    unknown,   ///< a write of it was sent, and its answer was lost
};

/// For logs and messages: "modified".
[[nodiscard]] constexpr std::string_view to_string(entity_state state) noexcept {
    constexpr std::string_view words[] = {"detached", "unchanged", "added", "modified", "removed", "unknown"};
    return words[static_cast<std::size_t>(state)];
}

/// Who wins a conflict.
enum class keep : std::uint8_t {
    mine,  ///< what was changed here, over the row as it is now: properties that were not changed here are theirs
    theirs ///< the row as it is now; the changes made here are dropped
};

/// How changes are sent.
enum class save_mode : std::uint8_t {
    each, ///< one request a change
    batch ///< one transaction a partition: all of its changes, or none
};

/// Options of a save.
struct save_options {
    save_mode mode{save_mode::each}; ///< how changes are sent
    /// Whether changes of a partition that exceed one transaction are sent in several, which are not atomic together. Without it such a
    /// save is refused before anything is written.
    bool split{};
    /// Whether a transaction is sent without changes that cannot be: in a conflict, with changed keys, of unknown effect. Without it such
    /// a change holds up its whole partition.
    bool without_failed{};
    bool stop_at_failure{}; ///< whether nothing is sent after a request that failed
};

/// The outcome of a change.
enum class save_outcome : std::uint8_t {
    saved,    ///< it was applied
    failed,   ///< it was refused: it stays, and is sent again by the next save
    unknown,  ///< its answer was lost: the next save settles it before it sends anything else
    not_sent, ///< not applied, because another change was refused; it stays
    dropped,  ///< its answer was lost, and `overwrite_changes` took the row in its place: its outcome stays unknown
};

/// For logs and messages: "not sent".
[[nodiscard]] constexpr std::string_view to_string(save_outcome outcome) noexcept {
    constexpr std::string_view words[] = {"saved", "failed", "unknown", "not sent", "dropped"};
    return words[static_cast<std::size_t>(outcome)];
}

/// Options of a unit of work.
struct unit_of_work_options {
    merge_option merge{merge_option::append_only}; ///< of `find` and `track`, unless the call names another
};

ENTITABLE_END_NAMESPACE
