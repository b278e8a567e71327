// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// ETags in the form that clients of `sharded` see, with the epoch of the shard.

#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/text.hpp>
#include <entitable/shards/route/detail/sharded_state.hpp>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::string start_of_etags(std::int64_t epoch) {
    std::string made = "W/\"s";
    text::append_decimal(made, static_cast<std::uint64_t>(epoch));
    return made += 't';
}
ENTITABLE_DECL void append_end_of_etag(std::string& to, date_time timestamp) {
    append_hexadecimal(to, static_cast<std::uint64_t>(timestamp.ticks));
    to += '"';
}

ENTITABLE_DECL std::string_view write_etag_with_epoch(
    char (&to)[longest_etag], date_time timestamp, std::int64_t epoch) noexcept {
    char digits[20];
    std::size_t first = sizeof digits;
    auto rest = static_cast<std::uint64_t>(epoch);
    do {
        digits[--first] = static_cast<char>('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    constexpr std::string_view start = "W/\"s";
    std::memcpy(to, start.data(), start.size());
    std::memcpy(to + start.size(), digits + first, sizeof digits - first);
    char* end = to + start.size() + sizeof digits - first;
    *end++ = 't';
    write_hexadecimal(end, static_cast<std::uint64_t>(timestamp.ticks));
    end[rest_of_etag - 1] = '"';
    return {to, static_cast<std::size_t>(end + rest_of_etag - to)};
}

ENTITABLE_DECL etag etag_with_epoch(etag const& stored, std::int64_t epoch) {
    if (stored.is_of_timestamp()) { return etag::of(stored.timestamp(), static_cast<std::uint64_t>(epoch)); }
    std::string shown = stored.to_string();
    if (std::size_t const quote = shown.find('"'); quote != std::string::npos) {
        shown.insert(quote + 1, text::joined({"s", std::to_string(epoch), "!"}));
    }
    return etag{shown};
}

ENTITABLE_DECL std::optional<etag> etag_of_epoch(etag const& shown, std::int64_t epoch) {
    std::string own = shown.to_string();
    std::size_t const quote = own.find('"');
    if (quote == std::string::npos || own.size() < quote + 4 || own[quote + 1] != 's') {
        return shown; // this is not an ETag of this library, so no stored entity has it
    }
    std::size_t const end = own.find_first_not_of("0123456789", quote + 2);
    if (end == std::string::npos || end == quote + 2 || (own[end] != '!' && own[end] != 't')) { return shown; }
    if (std::string_view{own}.substr(quote + 2, end - quote - 2) != std::to_string(epoch)) { return std::nullopt; }
    if (own[end] == '!') {
        own.erase(quote + 1, end - quote);
        return etag{own};
    }
    std::uint64_t ticks = 0;
    for (char const each : std::string_view{own}.substr(end + 1, own.size() - end - 2)) {
        int const digit = hexadecimal_digit(each);
        if (digit < 0) { return shown; }
        ticks = ticks << 4U | static_cast<std::uint64_t>(digit);
    }
    etag const found = etag::of({static_cast<std::int64_t>(ticks)});
    return etag_with_epoch(found, epoch) == shown ? found : shown;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
