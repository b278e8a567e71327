// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/log/detail/log_rows.hpp>
#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::uint32_t log_lane_of(std::string_view row_key, std::size_t lanes) noexcept {
    std::uint32_t hash = 2'166'136'261U;
    for (char const each : row_key) { hash = (hash ^ static_cast<unsigned char>(each)) * 16'777'619U; }
    return static_cast<std::uint32_t>(hash % lanes);
}

[[nodiscard]] inline log_key log_lane_prefix(std::size_t lanes, std::uint32_t lane) noexcept {
    log_key made;
    made.append(system_row::log);
    if (lanes > 1) {
        char const digits[] = {static_cast<char>('0' + lane / 10), static_cast<char>('0' + lane % 10), '!'};
        made.append({digits, sizeof digits});
    }
    return made;
}

ENTITABLE_DECL log_key log_entry_key(std::size_t lanes, std::uint32_t lane, std::int64_t number) {
    log_key made = log_lane_prefix(lanes, lane);
    char digits[] = "0000000000000000";
    auto left = static_cast<std::uint64_t>(number);
    for (std::size_t at = 16; left != 0; left >>= 4U) { digits[--at] = hexadecimal_of(left); }
    made.append({digits, 16});
    return made;
}

ENTITABLE_DECL log_key log_head_key(std::size_t lanes, std::uint32_t lane) {
    log_key made = log_lane_prefix(lanes, lane);
    made.append("head");
    return made;
}

ENTITABLE_DECL std::size_t log_bytes(profile const& limits, std::size_t changes, std::size_t lanes) noexcept {
    constexpr std::size_t fixed = 2048; // header fields, an address and the properties of one row, without its keys
    auto const key = [&](std::size_t most) {
        std::size_t const utf8 = 3 * limits.max_key_units;
        return most == 0 ? utf8 : (std::min)(utf8, most);
    };
    // A byte of a key takes two in an entry, if it is an escaped quote, and six in an address.
    std::size_t const entries = changes * (2 * key(limits.max_row_key_size) + 4);
    std::size_t const rows = 2 * (std::min)(changes, lanes) * (fixed + 8 * key(limits.max_partition_key_size));
    return (std::min)(entries + rows, limits.max_transaction_size / 2);
}

/// Builds a row whose descriptor and size are known, in one block that is filled once: each write makes two such rows.
class known_row {
public:
    /// `values`: the bytes of all values, with the length of a text.
    known_row(std::string_view partition_key, std::string_view row_key, std::uint16_t count,
        std::string_view descriptor, std::size_t values)
        : partition_(partition_key.size()),
          row_(row_key.size()),
          block_(partition_ + row_ + row_format::header_size + descriptor.size() + values, '\0') {
        put(partition_key);
        put(row_key);
        at_[0] = static_cast<char>(row_format::version);
        row_format::store(at_ + 2, count);
        row_format::store(at_ + 4, static_cast<std::uint32_t>(descriptor.size()));
        at_ += row_format::header_size;
        put(descriptor);
    }
    template <class Number>
    void number(Number value) {
        row_format::store(at_, value);
        at_ += sizeof value;
    }
    void id(guid const& value) { put({reinterpret_cast<char const*>(value.bytes.data()), value.bytes.size()}); }
    void text(std::string_view value) {
        number(static_cast<std::uint32_t>(value.size()));
        put(value);
    }
    [[nodiscard]] row build() && { return row{std::move(block_), partition_, row_}; }

private:
    void put(std::string_view bytes) {
        bytes.copy(at_, bytes.size());
        at_ += bytes.size();
    }

    std::size_t partition_;
    std::size_t row_;
    std::string block_;
    char* at_{block_.data()}; ///< where the next bytes go
};

ENTITABLE_DECL row log_entry_row(std::string_view partition_key, std::string_view row_key, log_entry const& entry) {
    if (!entry.is_void && entry.rows.size() <= most_log_text) {
        constexpr std::string_view descriptor{"\3\4\0Prev\7\2\0Id\1\4\0Keys", 19};
        known_row made{partition_key, row_key, 3, descriptor, 28 + entry.rows.size()};
        made.number(entry.previous);
        made.id(entry.id);
        made.text(entry.rows);
        return std::move(made).build();
    }
    row_builder made{partition_key, row_key};
    made.add("Prev", value_view{entry.previous});
    made.add("Id", value_of_guid(entry.id));
    if (entry.is_void) {
        made.add("Void", value_view{true});
        return made.build();
    }
    std::string_view left = entry.rows;
    for (unsigned part = 0; !left.empty(); ++part) {
        std::size_t taken = left.size();
        if (taken > most_log_text) { taken = left.rfind('/', most_log_text); }
        std::string_view const text = left.substr(0, taken);
        if (part == 0) {
            made.add("Keys", value_view{text});
        } else {
            made.add("Keys_" + std::to_string(part), value_view{text});
        }
        left.remove_prefix(taken < left.size() ? taken + 1 : taken);
    }
    return made.build();
}

ENTITABLE_DECL row log_head_row(std::string_view partition_key, std::string_view row_key, std::int64_t number,
    guid const& log, std::int64_t announced) {
    if (announced > 0) {
        constexpr std::string_view three{"\3\6\0Number\7\3\0Log\3\11\0Announced", 27};
        known_row made{partition_key, row_key, 3, three, 32};
        made.number(number);
        made.id(log);
        made.number(announced);
        return std::move(made).build();
    }
    constexpr std::string_view descriptor{"\3\6\0Number\7\3\0Log", 15};
    known_row made{partition_key, row_key, 2, descriptor, 24};
    made.number(number);
    made.id(log);
    return std::move(made).build();
}

/// A row of the log that is malformed, or of a later version.
ENTITABLE_DECL failure malformed_log(row_view stored) {
    failure made{error_code::row_mismatch, "a row of the change log does not have the properties of version 1"};
    made.error().detail = keys_text(stored.partition_key, stored.row_key);
    return made;
}

ENTITABLE_DECL result<log_head> read_log_head(row_view stored) {
    auto const number = stored.find("Number");
    auto const log = stored.find("Log");
    if (!number || number->type() != edm_type::int64 || !log || log->type() != edm_type::guid) {
        return malformed_log(stored);
    }
    log_head made{number->bits(), log->as_guid(), stored.etag()};
    auto const announced = stored.find("Announced");
    if (announced && announced->type() == edm_type::int64) { made.announced = announced->bits(); }
    return made;
}

/// Adds the rows of a property; false if it is malformed.
[[nodiscard]] inline bool add_logged_rows(std::string_view text, std::vector<logged_row>& to) {
    while (!text.empty()) {
        std::size_t const end = text.find('/');
        std::string_view const one = text.substr(0, end);
        if (one.empty() || (one.front() != 'w' && one.front() != 'r')) { return false; }
        to.push_back({std::string{one.substr(1)}, one.front() == 'r'});
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return true;
}

ENTITABLE_DECL result<stored_log_entry> read_log_entry(row_view stored, std::uint32_t lane) {
    constexpr std::size_t digits = 16;
    auto const previous = stored.find("Prev");
    auto const id = stored.find("Id");
    std::uint64_t number = 0;
    bool fits = previous && previous->type() == edm_type::int64 && id && id->type() == edm_type::guid &&
        stored.row_key.size() > digits;
    for (std::size_t at = digits; fits && at > 0; --at) {
        int const digit = hexadecimal_digit(stored.row_key[stored.row_key.size() - at]);
        fits = digit >= 0;
        number = number << 4U | static_cast<std::uint64_t>(fits ? digit : 0);
    }
    if (!fits) { return malformed_log(stored); }
    stored_log_entry read;
    read.previous = previous->bits();
    read.change.number = static_cast<std::int64_t>(number);
    read.change.lane = lane;
    read.change.id = id->as_guid();
    read.change.time = stored.timestamp();
    auto const is_void = stored.find("Void");
    read.is_void = is_void && is_void->type() == edm_type::boolean && is_void->bits() != 0;
    for (unsigned part = 0;; ++part) {
        auto const text = part == 0 ? stored.find("Keys") : stored.find("Keys_" + std::to_string(part));
        if (!text) { break; }
        if (text->type() != edm_type::string || !add_logged_rows(text->bytes(), read.change.rows)) {
            return malformed_log(stored);
        }
    }
    return read;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
