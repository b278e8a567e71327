// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The stored rows of a map: parses and checks them, ends an attempt to move a shard in them; and reads and changes a map, as resumable
/// operations that use one transport.

#include <entitable/core/request/resumable.hpp>
#include <entitable/core/text.hpp>
#include <entitable/shards/map/shard_map.hpp>

#include <functional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Calls `take(part)` for each part of "a;b;c".
template <class Take>
void for_each_shard_part(std::string_view list, char separator, Take const& take) {
    while (!list.empty()) { take(text::take_part(list, separator)); }
}

inline std::int64_t shard_number_in(std::string_view text) noexcept {
    std::int64_t number = 0;
    for (char const each : text) {
        if (each >= '0' && each <= '9') { number = number * 10 + (each - '0'); }
    }
    return number;
}

inline std::vector<shard_table> shard_tables_in(std::string_view list) {
    std::vector<shard_table> all;
    for_each_shard_part(list, ';', [&](std::string_view part) {
        std::size_t const colon = part.find(':');
        if (colon != std::string_view::npos) {
            all.push_back({std::string{part.substr(0, colon)}, shard_number_in(part.substr(colon)), part.ends_with('-'),
                part.ends_with('+')});
        }
    });
    return all;
}
inline std::string text_of(std::vector<shard_table> const& tables) {
    std::string out;
    for (shard_table const& each : tables) {
        out += text::joined({out.empty() ? "" : ";", each.name, ":", std::to_string(each.epoch),
            each.dropping    ? "-"
                : each.whole ? "+"
                             : ""});
    }
    return out;
}
/// Parses the retired tables in the row of a virtual shard.
inline std::vector<shard_retired> shard_retired_in(std::string_view list, std::int32_t shard) {
    std::vector<shard_retired> all;
    for_each_shard_part(list, ';', [&](std::string_view part) {
        std::vector<std::string> fields;
        for_each_shard_part(part, ':', [&](std::string_view field) { fields.emplace_back(field); });
        if (fields.size() == 3 || fields.size() == 4) {
            all.push_back({fields[0], shard_number_in(fields[1]), shard_number_in(fields[2]),
                fields.size() == 4 ? static_cast<std::int32_t>(shard_number_in(fields[3])) : shard});
        }
    });
    return all;
}
inline std::string text_of(std::vector<shard_retired> const& retired, std::int32_t shard) {
    std::string out;
    for (shard_retired const& each : retired) {
        out += text::joined(
            {out.empty() ? "" : ";", each.store, ":", std::to_string(each.epoch), ":", std::to_string(each.until),
                each.shard == shard ? "" : ":", each.shard == shard ? std::string{} : std::to_string(each.shard)});
    }
    return out;
}

inline failure map_fault(std::string why) {
    return failure{error_code::shard_map_invalid, text::joined({"the shard map ", why})};
}

/// Checks that ranges, in order, cover every key once.
inline result<void> check_ranges(shard_map_copy const& map) {
    std::string_view next;
    for (shard_place const& each : map.places) {
        bool const last = &each == &map.places.back();
        bool const ends = last ? each.row.high.empty() : text::compare_utf16(each.row.low, each.row.high) < 0;
        if (each.row.low != next || !ends) {
            return map_fault(text::joined({"has a gap before or after the range ", std::to_string(each.row.shard)}));
        }
        next = each.row.high;
    }
    return map.places.empty() ? map_fault("has no range") : result<void>{};
}

/// Checks that the virtual shards cover every key once.
inline result<void> check_coverage(shard_map_copy const& map) {
    if (map.by_ranges) { return check_ranges(map); }
    auto const number = static_cast<std::size_t>(map.header.number);
    if (map.places.size() < number || number == 0) { return map_fault("has fewer rows than virtual shards"); }
    for (std::size_t at = 0; at < map.places.size(); ++at) {
        if (map.places[at].row.shard != static_cast<std::int32_t>(at)) {
            return map_fault(text::joined({"has no row for the virtual shard ", std::to_string(at)}));
        }
    }
    return {};
}

inline void clear_attempt(shard_map_row& row) {
    row.state = "open";
    row.lease_ms = row.open_lease_ms;
    row.attempt_owner.clear();
    row.attempt_store.clear();
    row.attempt_epoch = 0;
    row.attempt_with.reset();
}

/// Ends the attempt in a row and in the adjacent row that shares its new tables. Marks these tables to be dropped.
inline void end_attempt(shard_map_copy const& map, shard_map_draft& draft, shard_map_row& row, shard_row_draft& own) {
    std::int32_t number = row.shard; // number of the lower shard, in the names of the new tables
    if (shard_row_draft* const other = row.attempt_with ? draft.edit(map, *row.attempt_with) : nullptr) {
        number = text::compare_utf16(other->row.low, row.low) < 0 ? other->row.shard : number;
        clear_attempt(other->row);
    }
    own.retired.push_back({row.attempt_store, row.attempt_epoch, draft.header.next_epoch, number});
    clear_attempt(row);
}

/// Reads a map. MapUnavailable if it cannot be read, ShardMapInvalid if it is malformed. Leases count from the time at which it begins.
[[nodiscard]] resumable<shard_map_ref> read_shard_map(std::string table);

/// Receives the current map, any number of times. Returns false if there is nothing to change.
using shard_map_edit = std::function<result<bool>(shard_map_copy const&, shard_map_draft&)>;

/// One change of a map: its header and rows, in one transaction under their ETags, with a nonce in it. A change whose response was lost is
/// settled by a read: if the nonce is there, the change is done; if the ETag is unchanged, the same request is sent again; otherwise the
/// change starts over. So an applied change is repeated only if others have since changed the header and all of these rows: `edit` must
/// detect that. The nonce must be unique among changes.
[[nodiscard]] resumable<void> change_shard_map(std::string table, std::string nonce, shard_map_edit edit);

} // namespace detail
ENTITABLE_END_NAMESPACE
