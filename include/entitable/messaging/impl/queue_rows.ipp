// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/messaging/detail/queue_rows.hpp>

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
    for (char const character : id) {
        hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211U;
    }
    hash ^= hash >> 32U; // the low bits of FNV-1a depend on the low bits of the text alone
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
        if (digit < '0' || digit > '9') {
            return {};
        }
        ticks = ticks * 10 + (digit - '0');
    }
    return {ticks};
}

inline constexpr std::size_t claim_digits = 32;

ENTITABLE_LAZY_BODY std::string claim_text(std::string_view claim, date_time first) {
    std::string made;
    made.reserve(claim.size() + 1 + message_time_digits);
    made.append(claim).append("!");
    text::append_decimal(made, static_cast<std::uint64_t>(first.ticks < 0 ? 0 : first.ticks), message_time_digits);
    return made;
}

ENTITABLE_LAZY_BODY date_time first_time_of(row_view stored) noexcept {
    std::string_view const claim = text_in(stored, queue_property::claim);
    if (claim.size() !=
        claim_digits + 1 + message_time_digits) { // of a program of before, which leaves it in its place
        return time_of_message(stored.row_key);
    }
    date_time first;
    for (char const digit : claim.substr(claim_digits + 1)) {
        first.ticks = first.ticks * 10 + (digit - '0');
    }
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
    if (id.size() != claim_digits + 3 || id[claim_digits] != '.') {
        return false;
    }
    auto const is_digit = [](char each) { return each >= '0' && each <= '9'; };
    return is_digit(id[claim_digits + 1]) && is_digit(id[claim_digits + 2]) &&
        std::all_of(id.begin(), id.begin() + claim_digits,
            [&](char each) { return is_digit(each) || (each >= 'a' && each <= 'f'); });
}

ENTITABLE_LAZY_BODY key_interval rows_of_kind(std::string_view prefix, std::string_view behind) {
    std::string end{prefix};
    end.back() = '"'; // the character behind '!'
    return {behind.empty() ? key_bound::including(std::string{prefix}) : key_bound::excluding(std::string{behind}),
        key_bound::excluding(std::move(end))};
}

ENTITABLE_LAZY_BODY row_builder message_row(std::string_view lane, std::string_view key, row_view message) {
    row_builder made{lane, key};
    property_cursor cursor{message.payload};
    property_view each;
    while (cursor.next(each)) {
        if (each.present) {
            made.add(each.name, each.value);
        }
    }
    made.add(queue_property::entity_partition, value_view{message.partition_key});
    made.add(queue_property::entity_row, value_view{message.row_key});
    return made;
}

ENTITABLE_LAZY_BODY row_builder moved_message(std::string_view key, row_view stored, bool again) {
    row_builder made{stored.partition_key, key};
    property_cursor cursor{stored.payload};
    property_view each;
    while (cursor.next(each)) {
        bool const kept = !again ||
            (each.name != queue_property::visible_at && each.name != queue_property::deliveries &&
                each.name != queue_property::claim && each.name != queue_property::key);
        if (each.present && kept) {
            made.add(each.name, each.value);
        }
    }
    return made;
}

ENTITABLE_LAZY_BODY row changed_message(std::string_view key, row_view stored, row_view changes) {
    return row{stored.partition_key, key, merged_payload(stored.payload, changes.payload)};
}

ENTITABLE_LAZY_BODY row message_keys(std::string_view lane, std::string_view key) { return row{lane, key, {}}; }

ENTITABLE_LAZY_BODY row_view entity_in(row_view stored) noexcept {
    return {text_in(stored, queue_property::entity_partition), text_in(stored, queue_property::entity_row),
        stored.payload, stored.etag_text};
}

ENTITABLE_LAZY_BODY row entity_row(row_view stored) {
    row_view const entity = entity_in(stored);
    row_builder made{entity.partition_key, entity.row_key};
    property_cursor cursor{stored.payload};
    property_view each;
    while (cursor.next(each)) {
        if (each.present && !each.name.starts_with(queue_property::prefix)) {
            made.add(each.name, each.value);
        }
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
