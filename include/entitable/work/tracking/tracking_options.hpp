// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of a unit of work: states of entities, merge options, save modes.

#include <entitable/core/config.hpp>

#include <cstdint>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// How a tracked entity changes when its row is read again. See docs/guide/unit_of_work.md for the whole table.
enum class merge_option : std::uint8_t {
    append_only,       ///< the tracked entity is not changed
    overwrite_changes, ///< the row wins; unsaved changes are dropped
    preserve_changes,  ///< decided property by property; a conflict if both writers changed the same property
    /// The tracked values win, with the new ETag: the next save silently overwrites other writers, like the historical client.
    preserve_changes_silently,
    no_tracking, ///< new objects, which exist until `clear`; tracked entities are not changed
};

/// The state of a tracked entity, relative to its row.
enum class entity_state : std::uint8_t {
    detached,  ///< not tracked
    unchanged, ///< equal to the row last read or written
    added,     ///< to be inserted
    modified,  ///< changed since it was last read or written
    removed,   ///< to be removed
    unknown,   ///< a write was sent, and its response was lost
};

/// Returns the name for logs and messages: "modified".
[[nodiscard]] constexpr std::string_view to_string(entity_state state) noexcept {
    constexpr std::string_view words[] = {"detached", "unchanged", "added", "modified", "removed", "unknown"};
    return words[static_cast<std::size_t>(state)];
}

/// The winner of a conflict.
enum class keep : std::uint8_t {
    mine,  ///< the changes made here, applied to the current row; all other properties are theirs
    theirs ///< the current row; the changes made here are dropped
};

/// How changes are grouped into requests.
enum class save_mode : std::uint8_t {
    each, ///< one request per change
    batch ///< one transaction per partition: either all of its changes are applied, or none
};

/// Options of a save.
struct save_options {
    save_mode mode{save_mode::each}; ///< how changes are grouped into requests
    /// Whether changes of a partition that exceed one transaction are sent in several transactions, which are not atomic together.
    /// Otherwise such a save is refused before anything is written.
    bool split{};
    /// Whether a transaction is sent without the changes that cannot be sent: changes with a conflict, with changed keys, or of
    /// unknown effect. Otherwise such a change blocks its whole partition.
    bool without_failed{};
    bool stop_at_failure{}; ///< whether to stop after the first failed request
};

/// The outcome of a change.
enum class save_outcome : std::uint8_t {
    saved, ///< the change was applied
    failed, ///< refused; the next save sends it again, but refuses a conflict (409, 412) without a request until `resolve`
    unknown,  ///< its response was lost: the next save settles it before it sends anything else
    not_sent, ///< not applied, because another change was refused; the next save sends it again
    dropped,  ///< its response was lost, and `overwrite_changes` has read the row instead: its outcome stays unknown
};

/// Returns the name for logs and messages: "not sent".
[[nodiscard]] constexpr std::string_view to_string(save_outcome outcome) noexcept {
    constexpr std::string_view words[] = {"saved", "failed", "unknown", "not sent", "dropped"};
    return words[static_cast<std::size_t>(outcome)];
}

/// What a save does with a change that an earlier save could not write.
enum class failed_changes : std::uint8_t {
    settle, ///< refuses a conflict (409, 412) until `resolve`, and finds out about a lost response before it sends anything else
    /// Sends the same request again under the same ETag, and records neither conflicts nor lost responses, like the historical client: a row that
    /// this unit wrote itself refuses the change, too, and so does a row that is to be removed and is already gone.
    send_again,
};

/// Options of a unit of work.
struct unit_of_work_options {
    merge_option merge{merge_option::append_only}; ///< default for `find` and `track`
    failed_changes failed{
        failed_changes::settle}; ///< what `save` does with changes that an earlier save could not write
};

ENTITABLE_END_NAMESPACE
