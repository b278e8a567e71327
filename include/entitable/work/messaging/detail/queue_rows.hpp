// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows of a queue: their keys, and the properties that the queue adds to those of the message. The added names
/// begin with `Queue_`.

#include <entitable/core/request/requests.hpp>
#include <entitable/core/row/system_rows.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

namespace queue_property {
inline constexpr std::string_view prefix = "Queue_";
inline constexpr std::string_view visible_at = "Queue_VisibleAt";  // DateTime: claimable from; absent: immediately
inline constexpr std::string_view deliveries = "Queue_Deliveries"; // Int32
inline constexpr std::string_view claim = "Queue_Claim";           // String: text of the last claim; see `claim_text`
inline constexpr std::string_view entity_partition =
    "Queue_Partition";                                            // String: the partition key of the message's entity
inline constexpr std::string_view entity_row = "Queue_Row";       // String: the row key of the message's entity
inline constexpr std::string_view why = "Queue_Why";              // String: the last failure
inline constexpr std::string_view step = "Queue_Step";            // Int32: the step of a saga; absent: not started
inline constexpr std::string_view steps = "Queue_Steps";          // Int64: hash of the saga's steps
inline constexpr std::string_view failed = "Queue_Failed";        // String: the failed step of a saga and its error
inline constexpr std::string_view key = "Queue_Key";              // String: the row key of the message
inline constexpr std::string_view state = "Queue_State";          // String: the state of an identity
inline constexpr std::string_view lanes = "Queue_Lanes";          // Int32: number of lanes in queues of format 1
inline constexpr std::string_view format = "Queue_Format";        // Int32: the format of a queue; absent: 1
inline constexpr std::string_view lane_count = "Queue_LaneCount"; // Int32: number of lanes in queues of format 2
} // namespace queue_property

/// The format of the queues that `create` makes. Unlike in format 1, the messages of a group share one identity;
/// programs that support only format 1 cannot complete such messages.
inline constexpr std::int32_t queue_format = 2;
/// The maximum number of message bytes in one transaction; a larger message is written by itself. The service accepts 4 MiB, and JSON can be longer than
/// the stored bytes.
inline constexpr std::size_t most_bytes_together = 512 * 1024;

/// The partition key of a lane.
ENTITABLE_LAZY [[nodiscard]] std::string lane_key(std::size_t lane);
/// The lane of an id, which never changes.
ENTITABLE_LAZY [[nodiscard]] std::size_t lane_of(std::string_view id, std::size_t lanes) noexcept;
/// The row key of a message, which starts with the time before which no worker claims it. So a lane is sorted by these times.
ENTITABLE_LAZY [[nodiscard]] std::string message_key(date_time from, std::string_view id);
/// The id in the row key of a message.
ENTITABLE_LAZY [[nodiscard]] std::string_view id_of_message(std::string_view row_key) noexcept;
/// The time in the row key of a message.
ENTITABLE_LAZY [[nodiscard]] date_time time_of_message(std::string_view row_key) noexcept;
/// The time in the first row key of a message, which it had before it was first claimed.
ENTITABLE_LAZY [[nodiscard]] date_time first_time_of(row_view stored) noexcept;
/// The claim as stored in the message: 32 hexadecimal digits, `!`, and the time of its first row key. The time is copied
/// from the previous claim, or else from the current row key.
ENTITABLE_LAZY [[nodiscard]] std::string claim_text(
    std::string_view claim, std::string_view row_key, std::string_view before);
/// The id of a message of a group: the id of the group, `.`, and two digits.
ENTITABLE_LAZY [[nodiscard]] std::string id_in_group(std::string_view group, std::size_t index);
/// Whether an id is the id of a message in a group, which has no separate identity.
ENTITABLE_LAZY [[nodiscard]] bool is_id_in_group(std::string_view id) noexcept;
/// The rows of a kind after a row key; all rows of the kind for an empty row key.
ENTITABLE_LAZY [[nodiscard]] key_interval rows_of_kind(std::string_view prefix, std::string_view behind = {});

/// A property to append to the properties of a payload.
struct added_property {
    std::string_view name;
    value_view value; ///< value, of a type used by the queue's own properties
};
/// A row in one block of memory: the properties of a payload, which may be empty, followed by the added properties. Its row key is given in two
/// parts.
ENTITABLE_LAZY [[nodiscard]] row joined_row(std::string_view lane, std::string_view kind, std::string_view key,
    std::string_view payload, std::initializer_list<added_property> added);
/// The queue's properties of a message that describe its deliveries.
struct message_marks {
    date_time visible_at; ///< time from which the message can be claimed; 1601: immediately
    std::int32_t deliveries{};
    std::string_view claim; ///< text of the last claim
    std::int32_t step{};
    std::int64_t steps{};
    bool never_claimed{true}; ///< the row has no property that a claim writes, and no absent property
};
/// Reads the marks in one pass over the properties.
ENTITABLE_LAZY [[nodiscard]] message_marks marks_of(std::string_view payload) noexcept;

/// The properties and keys of an entity, stored under the keys of a message.
ENTITABLE_LAZY [[nodiscard]] row_builder message_row(std::string_view lane, std::string_view key, row_view message);
/// Like `message_row`, in one block of memory; with the time before which no worker claims it, unless it is 1601.
ENTITABLE_LAZY [[nodiscard]] row stored_message(
    std::string_view lane, std::string_view key, row_view message, date_time visible_at = {});
/// Returns a stored message under a different key, claimed once more.
ENTITABLE_LAZY [[nodiscard]] row claimed_message(
    std::string_view key, row_view stored, message_marks const& marks, date_time until, std::string_view claim);
/// The stored row of a message or a dead letter under a different key; `again` removes the properties of its earlier
/// deliveries.
ENTITABLE_LAZY [[nodiscard]] row_builder moved_message(std::string_view key, row_view stored, bool again);
/// The stored row of a message under a different key, with `changes` merged into it.
ENTITABLE_LAZY [[nodiscard]] row changed_message(std::string_view key, row_view stored, row_view changes);
/// Returns a row with only the keys of a message, for a removal.
ENTITABLE_LAZY [[nodiscard]] row message_keys(std::string_view lane, std::string_view key);
ENTITABLE_LAZY [[nodiscard]] row message_keys(row&& stored);
/// Returns the message in a stored row, as a row with the keys of its entity.
ENTITABLE_LAZY [[nodiscard]] row_view entity_in(row_view stored) noexcept;
/// Like `entity_in`, without the queue's properties.
ENTITABLE_LAZY [[nodiscard]] row entity_row(row_view stored);

ENTITABLE_LAZY [[nodiscard]] date_time visible_at_of(row_view stored) noexcept;
ENTITABLE_LAZY [[nodiscard]] std::int32_t int32_in(row_view stored, std::string_view property) noexcept;
ENTITABLE_LAZY [[nodiscard]] std::string_view text_in(row_view stored, std::string_view property) noexcept;

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/messaging/impl/queue_rows.ipp>
#endif
