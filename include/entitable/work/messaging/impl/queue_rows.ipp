// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/work/messaging/detail/queue_rows.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::size_t message_time_digits = 19;

ENTITABLE_LAZY_BODY std::string lane_key(std::size_t lane) {
    std::string made{"lane"};
    text::append_decimal(made, lane, 3);
    return made;
}

ENTITABLE_LAZY_BODY std::size_t lane_of(std::string_view id, std::size_t lanes) noexcept {
    std::uint64_t hash = 14695981039346656037U; // FNV-1a; part of the stored format
    for (char const character : id) { hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211U; }
    hash ^= hash >> 32U; // the low bits of FNV-1a depend only on the low bits of the text
    return static_cast<std::size_t>(hash % (lanes == 0 ? 1 : lanes));
}

ENTITABLE_LAZY_BODY std::string message_key(date_time from, std::string_view id) {
    std::string made;
    made.reserve(system_row::message.size() + message_time_digits + 1 + id.size());
    made.append(system_row::message);
    text::append_decimal(made, static_cast<std::uint64_t>(from.ticks < 0 ? 0 : from.ticks), message_time_digits);
    return made.append("!").append(id);
}

ENTITABLE_LAZY_BODY std::string_view id_of_message(std::string_view row_key) noexcept {
    std::size_t const before = system_row::message.size() + message_time_digits + 1;
    return row_key.size() < before ? std::string_view{} : row_key.substr(before);
}

ENTITABLE_LAZY_BODY date_time time_of_message(std::string_view row_key) noexcept {
    std::int64_t ticks = 0;
    for (char const digit :
        row_key.substr((std::min)(row_key.size(), system_row::message.size()), message_time_digits)) {
        if (digit < '0' || digit > '9') { return {}; }
        ticks = ticks * 10 + (digit - '0');
    }
    return {ticks};
}

inline constexpr std::size_t claim_digits = 32;

/// The first time in the text of a claim, after its digits; programs of format 1, which do not move a message, write none.
ENTITABLE_LAZY std::string_view first_time_in(std::string_view claim) noexcept {
    return claim.size() == claim_digits + 1 + message_time_digits ? claim.substr(claim_digits + 1) : std::string_view{};
}

ENTITABLE_LAZY_BODY std::string claim_text(std::string_view claim, std::string_view row_key, std::string_view before) {
    std::string_view first = first_time_in(before);
    if (first.empty()) {
        first = row_key.substr((std::min)(row_key.size(), system_row::message.size()), message_time_digits);
    }
    std::string made;
    made.reserve(claim.size() + 1 + first.size());
    return made.append(claim).append("!").append(first);
}

ENTITABLE_LAZY_BODY date_time first_time_of(row_view stored) noexcept {
    std::string_view const digits = first_time_in(text_in(stored, queue_property::claim));
    if (digits.empty()) { return time_of_message(stored.row_key); }
    date_time first;
    for (char const digit : digits) { first.ticks = first.ticks * 10 + (digit - '0'); }
    return first;
}

ENTITABLE_LAZY_BODY std::string id_in_group(std::string_view group, std::size_t index) {
    std::string made;
    made.reserve(group.size() + 3);
    made.append(group).append(".");
    text::append_decimal(made, index, 2);
    return made;
}

ENTITABLE_LAZY_BODY bool is_id_in_group(std::string_view id) noexcept {
    if (id.size() != claim_digits + 3 || id[claim_digits] != '.') { return false; }
    auto const is_digit = [](char each) { return each >= '0' && each <= '9'; };
    return is_digit(id[claim_digits + 1]) && is_digit(id[claim_digits + 2]) &&
        std::all_of(id.begin(), id.begin() + claim_digits,
            [&](char each) { return is_digit(each) || (each >= 'a' && each <= 'f'); });
}

ENTITABLE_LAZY_BODY key_interval rows_of_kind(std::string_view prefix, std::string_view behind) {
    std::string end{prefix};
    end.back() = '"'; // this is the character after '!'
    return {behind.empty() ? key_bound::including(std::string{prefix}) : key_bound::excluding(std::string{behind}),
        key_bound::excluding(std::move(end))};
}

/// Appends a value in the stored form.
ENTITABLE_LAZY void append_added_value(std::string& block, value_view value) {
    char bytes[8];
    switch (value.type()) {
        case edm_type::string:
            row_format::store(bytes, static_cast<std::uint32_t>(value.bytes().size()));
            block.append(bytes, 4).append(value.bytes());
            break;
        case edm_type::int32:
            row_format::store(bytes, value.as_int32());
            block.append(bytes, 4);
            break;
        default: // the value is an integer or a time
            row_format::store(bytes, value.bits());
            block.append(bytes, 8);
            break;
    }
}

ENTITABLE_LAZY_BODY row joined_row(std::string_view lane, std::string_view kind, std::string_view key,
    std::string_view payload, std::initializer_list<added_property> added) {
    bool const is_empty = payload.size() < row_format::header_size;
    std::size_t const described =
        is_empty ? 0 : row_format::load<std::uint32_t>(payload.data() + 4); // size of its descriptor
    std::size_t const count = is_empty ? 0 : row_format::load<std::uint16_t>(payload.data() + 2);
    std::string_view const body = is_empty ? std::string_view{} : payload.substr(row_format::header_size);
    std::size_t more = 0; // size of the new descriptors
    std::size_t values = 0;
    for (added_property const& each : added) {
        more += 3 + each.name.size();
        values += 8 + (each.value.type() == edm_type::string ? each.value.bytes().size() : 0);
    }
    std::string block;
    block.reserve(lane.size() + kind.size() + key.size() + row_format::header_size + body.size() + more + values);
    block.append(lane).append(kind).append(key);
    char header[row_format::header_size] = {static_cast<char>(row_format::version)};
    row_format::store(header + 2, static_cast<std::uint16_t>(count + added.size()));
    row_format::store(header + 4, static_cast<std::uint32_t>(described + more));
    block.append(header, sizeof header).append(body.substr(0, described));
    for (added_property const& each : added) {
        char bytes[3] = {static_cast<char>(each.value.type())};
        row_format::store(bytes + 1, static_cast<std::uint16_t>(each.name.size()));
        block.append(bytes, sizeof bytes).append(each.name);
    }
    block.append(body.substr(described));
    for (added_property const& each : added) { append_added_value(block, each.value); }
    return row{std::move(block), lane.size(), kind.size() + key.size()};
}

ENTITABLE_LAZY_BODY message_marks marks_of(std::string_view payload) noexcept {
    message_marks marks;
    property_cursor cursor{payload};
    property_view each;
    while (cursor.next(each)) {
        if (!each.present) {
            marks.never_claimed = false;
        } else if (!each.name.starts_with(queue_property::prefix)) {
            continue;
        } else if (each.name == queue_property::visible_at && each.type == edm_type::date_time) {
            marks.visible_at = each.value.as_date_time();
            marks.never_claimed = false;
        } else if (each.name == queue_property::deliveries && each.type == edm_type::int32) {
            marks.deliveries = each.value.as_int32();
            marks.never_claimed = false;
        } else if (each.name == queue_property::claim && each.type == edm_type::string) {
            marks.claim = each.value.as_string();
            marks.never_claimed = false;
        } else if (each.name == queue_property::step && each.type == edm_type::int32) {
            marks.step = each.value.as_int32();
        } else if (each.name == queue_property::steps && each.type == edm_type::int64) {
            marks.steps = each.value.as_int64();
        } else if (each.name != queue_property::entity_partition && each.name != queue_property::entity_row) {
            marks.never_claimed = false;
        }
    }
    return marks;
}

/// Whether the properties of an entity can be stored unchanged: none of them may be absent.
ENTITABLE_LAZY bool is_whole_message(std::string_view payload) noexcept {
    if (payload.size() < row_format::header_size) { return payload.empty(); }
    std::size_t left = row_format::load<std::uint16_t>(payload.data() + 2);
    std::string_view at = payload.substr(row_format::header_size);
    for (; left > 0 && at.size() >= 3; --left) {
        std::size_t const bytes = 3U + row_format::load<std::uint16_t>(at.data() + 1);
        if ((static_cast<unsigned char>(at[0]) & row_format::nullable_bit) != 0 || at.size() < bytes) { return false; }
        at.remove_prefix(bytes);
    }
    return left == 0;
}

ENTITABLE_LAZY_BODY row_builder message_row(std::string_view lane, std::string_view key, row_view message) {
    row_builder made{lane, key};
    property_cursor cursor{message.payload};
    property_view each;
    while (cursor.next(each)) {
        if (each.present) { made.add(each.name, each.value); }
    }
    made.add(queue_property::entity_partition, value_view{message.partition_key});
    made.add(queue_property::entity_row, value_view{message.row_key});
    return made;
}

ENTITABLE_LAZY_BODY row stored_message(
    std::string_view lane, std::string_view key, row_view message, date_time visible_at) {
    added_property const visible{queue_property::visible_at, value_view{visible_at}};
    if (!is_whole_message(message.payload)) { // absent properties are omitted
        row_builder made = message_row(lane, key, message);
        if (visible_at != date_time{}) { made.add(visible.name, visible.value); }
        return made.build();
    }
    added_property const partition{queue_property::entity_partition, value_view{message.partition_key}};
    added_property const row_key{queue_property::entity_row, value_view{message.row_key}};
    return visible_at == date_time{} ? joined_row(lane, {}, key, message.payload, {partition, row_key})
                                     : joined_row(lane, {}, key, message.payload, {partition, row_key, visible});
}

ENTITABLE_LAZY_BODY row claimed_message(
    std::string_view key, row_view stored, message_marks const& marks, date_time until, std::string_view claim) {
    added_property const visible{queue_property::visible_at, value_view{until}};
    added_property const deliveries{queue_property::deliveries, value_view{marks.deliveries + 1}};
    added_property const by{queue_property::claim, value_view{claim}};
    if (marks.never_claimed) {
        return joined_row(stored.partition_key, {}, key, stored.payload, {visible, deliveries, by});
    }
    return changed_message(key, stored, joined_row({}, {}, {}, {}, {visible, deliveries, by}));
}

ENTITABLE_LAZY_BODY row_builder moved_message(std::string_view key, row_view stored, bool again) {
    row_builder made{stored.partition_key, key};
    property_cursor cursor{stored.payload};
    property_view each;
    while (cursor.next(each)) {
        bool const kept = !again ||
            (each.name != queue_property::visible_at && each.name != queue_property::deliveries &&
                each.name != queue_property::claim && each.name != queue_property::key);
        if (each.present && kept) { made.add(each.name, each.value); }
    }
    return made;
}

ENTITABLE_LAZY_BODY row changed_message(std::string_view key, row_view stored, row_view changes) {
    return row{stored.partition_key, key, merged_payload(stored.payload, changes.payload)};
}

ENTITABLE_LAZY_BODY row message_keys(std::string_view lane, std::string_view key) { return row{lane, key, {}}; }
ENTITABLE_LAZY_BODY row message_keys(row&& stored) {
    std::size_t const lane = stored.partition_key().size();
    std::size_t const key = stored.row_key().size();
    std::string block = std::move(stored).release();
    block.resize(lane + key);
    return row{std::move(block), lane, key};
}

ENTITABLE_LAZY_BODY row_view entity_in(row_view stored) noexcept {
    row_view entity{{}, {}, stored.payload, stored.etag_text};
    property_cursor cursor{stored.payload};
    property_view each;
    while (cursor.next(each)) {
        if (each.present && each.type == edm_type::string) {
            if (each.name == queue_property::entity_partition) {
                entity.partition_key = each.value.as_string();
            } else if (each.name == queue_property::entity_row) {
                entity.row_key = each.value.as_string();
            }
        }
    }
    return entity;
}

ENTITABLE_LAZY_BODY row entity_row(row_view stored) {
    row_view const entity = entity_in(stored);
    row_builder made{entity.partition_key, entity.row_key};
    property_cursor cursor{stored.payload};
    property_view each;
    while (cursor.next(each)) {
        if (each.present && !each.name.starts_with(queue_property::prefix)) { made.add(each.name, each.value); }
    }
    return made.build();
}

ENTITABLE_LAZY_BODY date_time visible_at_of(row_view stored) noexcept {
    auto const found = stored.find(queue_property::visible_at);
    return found && found->type() == edm_type::date_time ? found->as_date_time() : date_time{};
}

ENTITABLE_LAZY_BODY std::int32_t int32_in(row_view stored, std::string_view property) noexcept {
    auto const found = stored.find(property);
    return found && found->type() == edm_type::int32 ? found->as_int32() : 0;
}

ENTITABLE_LAZY_BODY std::string_view text_in(row_view stored, std::string_view property) noexcept {
    auto const found = stored.find(property);
    return found && found->type() == edm_type::string ? found->as_string() : std::string_view{};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
