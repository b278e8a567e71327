// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Rows with a defect: how a backend changes values and keys that it does not store correctly.

#include "defects.hpp"
#include <entitable/core/request/kinds.hpp>
#include <entitable/core/text.hpp>
#include <entitable/testing/rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace entitable_test {

using namespace entitable;

/// `text` with each `from` replaced.
inline std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        bool const here = text.substr(at).starts_with(from);
        out += here ? to : text.substr(at, 1);
        at += here ? from.size() : 1;
    }
    return out;
}

inline std::string without_trailing_blanks(std::string_view text) {
    return std::string{text.substr(0, text.find_last_not_of(' ') + 1)};
}

/// Unicode's composed form of the one character that the suite uses.
inline std::string composed(std::string_view text) { return replaced(text, "e\xCC\x81", "\xC3\xA9"); }

/// A value as the defect stores it; absent if it is lost.
inline std::optional<value> spoiled_value(defect what, value_view stored) {
    auto const text = [&](std::string const& changed) { return value{value_view{std::string_view{changed}}}; };
    auto const binary = [&](std::string const& changed) { return value{value_view{stored.type(), changed}}; };
    std::string const bytes{stored.bytes()};
    switch (stored.type()) {
        case edm_type::int64: {
            std::int64_t const number = stored.as_int64();
            if (what == defect::int64_through_a_double) {
                auto const rounded = static_cast<double>(number);
                return value{
                    value_view{rounded >= 9223372036854775807.0 ? INT64_MAX : static_cast<std::int64_t>(rounded)}};
            }
            if (what == defect::small_int64_becomes_int32 && number >= INT32_MIN && number <= INT32_MAX) {
                return value{value_view{static_cast<std::int32_t>(number)}};
            }
            break;
        }
        case edm_type::int32:
            if (what == defect::int32_becomes_int64) { return value{value_view{std::int64_t{stored.as_int32()}}}; }
            break;
        case edm_type::boolean:
            if (what == defect::boolean_becomes_int32) { return value{value_view{stored.as_boolean() ? 1 : 0}}; }
            break;
        case edm_type::float64: {
            double const number = stored.as_float64();
            double const greatest = std::numeric_limits<double>::max();
            if (what == defect::infinity_is_the_greatest_double && std::isinf(number)) {
                return value{value_view{number > 0 ? greatest : -greatest}};
            }
            if (what == defect::nan_is_absent && std::isnan(number)) { return std::nullopt; }
            if (what == defect::negative_zero_is_zero && number == 0) { return value{value_view{0.0}}; }
            if (what == defect::denormal_is_zero && std::fpclassify(number) == FP_SUBNORMAL) {
                return value{value_view{0.0}};
            }
            if (what == defect::double_has_15_digits) {
                char digits[32];
                std::snprintf(digits, sizeof digits, "%.15g", number);
                return value{value_view{std::strtod(digits, nullptr)}};
            }
            if (what == defect::whole_double_becomes_int32 && std::abs(number) < 1e9 && number == std::floor(number)) {
                return value{value_view{static_cast<std::int32_t>(number)}};
            }
            break;
        }
        case edm_type::string:
            switch (what) {
                case defect::text_is_cut_at_nul: return text(bytes.substr(0, bytes.find('\0')));
                case defect::text_loses_trailing_blanks: return text(without_trailing_blanks(bytes));
                case defect::text_is_composed: return text(composed(bytes));
                case defect::text_has_other_line_ends: return text(replaced(bytes, "\r\n", "\n"));
                case defect::text_is_cut_at_255_bytes: return text(bytes.substr(0, 255));
                case defect::long_text_is_garbled:
                    return text(bytes.size() > 500 ? bytes.substr(0, bytes.size() - 1) + "?" : bytes);
                case defect::largest_text_is_cut: return text(bytes.substr(0, 60'000));
                case defect::empty_text_is_absent: return bytes.empty() ? std::nullopt : std::optional{value{stored}};
                default: break;
            }
            break;
        case edm_type::binary:
            switch (what) {
                case defect::binary_is_cut_at_nul: return binary(bytes.substr(0, bytes.find('\0')));
                case defect::binary_has_seven_bits: {
                    std::string changed = bytes;
                    for (char& byte : changed) { byte = static_cast<char>(byte & 0x7F); }
                    return binary(changed);
                }
                case defect::empty_binary_is_absent: return bytes.empty() ? std::nullopt : std::optional{value{stored}};
                case defect::long_binary_is_garbled:
                    return binary(bytes.size() > 200 ? bytes.substr(0, bytes.size() - 1) + "?" : bytes);
                default: break;
            }
            break;
        case edm_type::guid:
            if (what == defect::guid_in_another_order && bytes.size() == 16) {
                return binary(std::string{bytes[3], bytes[2], bytes[1], bytes[0]} + bytes.substr(4));
            }
            break;
        case edm_type::date_time: {
            std::int64_t const ticks = stored.as_date_time().ticks;
            if (what == defect::time_in_microseconds) { return value{value_view{date_time{ticks - ticks % 10}}}; }
            if (what == defect::time_begins_in_1970 && ticks < date_time::unix_epoch) {
                return value{value_view{date_time{date_time::unix_epoch}}};
            }
            break;
        }
    }
    return value{stored};
}

/// A key as the defect stores it.
inline std::string spoiled_key(defect what, std::string_view key) {
    switch (what) {
        case defect::keys_without_case: return text::ascii_lower(key);
        case defect::keys_without_trailing_blanks: return without_trailing_blanks(key);
        case defect::keys_are_composed: return composed(key);
        case defect::keys_are_cut_at_255_bytes: return std::string{key.substr(0, 255)};
        case defect::keys_end_at_nul: return std::string{key.substr(0, key.find('\0'))};
        case defect::keys_are_decoded_twice: return replaced(key, "%25", "%");
        case defect::plus_is_a_blank: return replaced(key, "+", " ");
        default: return std::string{key};
    }
}

/// Both keys as the defect stores them.
inline std::pair<std::string, std::string> spoiled_keys(
    defect what, std::string_view partition_key, std::string_view row_key) {
    if (what == defect::keys_are_joined) { // one key of the store: "p_r", split at the last "_"
        std::string const one = std::string{partition_key} + "_" + std::string{row_key};
        std::size_t const at = one.rfind('_');
        return {one.substr(0, at), one.substr(at + 1)};
    }
    return {spoiled_key(what, partition_key), spoiled_key(what, row_key)};
}

/// A row as the defect stores it; the Timestamp is unchanged.
inline row spoiled_row(defect what, row_view from) {
    auto const keys = spoiled_keys(what, from.partition_key, from.row_key);
    row_builder builder{keys.first, keys.second};
    property_cursor cursor{from.payload};
    std::string names = "\n";
    for (property_view property; cursor.next(property);) {
        std::string const folded = text::ascii_lower(property.name) + "\n";
        if (what == defect::property_names_without_case && names.find("\n" + folded) != std::string::npos) { continue; }
        names += folded;
        if (!property.present) {
            if (what == defect::absent_is_stored_as_empty && property.type == edm_type::string) {
                builder.add(property.name, value_view{std::string_view{}});
            } else {
                builder.add(property.name, property.type, std::nullopt);
            }
            continue;
        }
        auto const held = spoiled_value(what, property.value);
        builder.add(
            property.name, held ? held->type() : property.type, held ? std::optional{held->view()} : std::nullopt);
    }
    if (cursor.damaged()) { return row{keys.first, keys.second, from.payload, from.etag_text}; }
    row const built = builder.build();
    std::string payload{built.payload()};
    set_timestamp(payload, from.timestamp());
    return row{keys.first, keys.second, payload, from.etag_text};
}

/// A row with another Timestamp and ETag; the usual ETag of the Timestamp if it is empty.
inline row with_version(row_view from, date_time timestamp, std::string_view etag_text) {
    std::string payload{from.payload};
    set_timestamp(payload, timestamp);
    return row{from.partition_key, from.row_key, payload, etag_text};
}

/// Only the named properties, or all if none is named.
inline row selected(row_view from, projection const& names) {
    if (names.empty()) { return row{from}; }
    row_builder builder{from.partition_key, from.row_key};
    property_cursor cursor{from.payload};
    for (property_view property; cursor.next(property);) {
        if (property.present && std::find(names.begin(), names.end(), property.name) != names.end()) {
            builder.add(property.name, property.value);
        }
    }
    row const built = builder.build();
    return with_version(row_view{from.partition_key, from.row_key, built.payload()}, from.timestamp(), from.etag_text);
}

} // namespace entitable_test
