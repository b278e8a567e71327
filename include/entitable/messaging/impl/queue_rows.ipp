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

ENTITABLE_LAZY_BODY std::string message_key(date_time enqueued, std::string_view id) {
    std::string made{system_row::message};
    text::append_decimal(
        made, static_cast<std::uint64_t>(enqueued.ticks < 0 ? 0 : enqueued.ticks), message_time_digits);
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

ENTITABLE_LAZY_BODY row_builder moved_message(std::string_view key, row_view stored, bool anew) {
    row_builder made{stored.partition_key, key};
    property_cursor cursor{stored.payload};
    property_view each;
    while (cursor.next(each)) {
        bool const kept = !anew ||
            (each.name != queue_property::visible_at && each.name != queue_property::deliveries &&
                each.name != queue_property::claim && each.name != queue_property::key);
        if (each.present && kept) {
            made.add(each.name, each.value);
        }
    }
    return made;
}

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
