// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/json_writer.hpp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/detail/base64.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/detail/value_text.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/row/detail/payload.hpp>
#include <entitable/core/row/row.hpp>

#include <array>
#include <charconv>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The bytes that JSON requires to be escaped inside a string.
inline constexpr std::array<bool, 256> json_escaped = [] {
    std::array<bool, 256> table{};
    for (std::size_t byte = 0; byte < 0x20; ++byte) { table[byte] = true; }
    table['"'] = true;
    table['\\'] = true;
    return table;
}();

/// Writes to the end of a string through a pointer, and reserves space piece by piece.
class json_pen {
public:
    explicit json_pen(std::string& out) : out_(out) { follow(); }
    json_pen(json_pen const&) = delete;
    json_pen& operator=(json_pen const&) = delete;
    ~json_pen() { finish(); }

    /// Reserves space for this many more bytes.
    void room(std::size_t bytes) {
        if (static_cast<std::size_t>(end_ - at_) < bytes) { grow(bytes); }
    }
    /// Writes a literal, whose size is known to the compiler.
    template <std::size_t Size>
    void put(char const (&text)[Size]) {
        room(Size - 1);
        std::memcpy(at_, text, Size - 1);
        at_ += Size - 1;
    }

    /// Writes the characters of a string, without its quotes.
    void characters(std::string_view text) {
        constexpr std::size_t piece = 512; // keeps the reserved space small
        for (; text.size() > piece; text.remove_prefix(piece)) { few_characters(text.substr(0, piece)); }
        few_characters(text);
    }
    void quoted(std::string_view text) {
        put("\"");
        characters(text);
        put("\"");
    }
    /// Writes `"name":`.
    void name(std::string_view text) {
        put("\"");
        characters(text);
        put("\":");
    }
    /// Writes `"name@odata.type":"type","name":`
    void name(std::string_view text, std::string_view type) {
        put("\"");
        std::size_t const begin = size();
        characters(text);
        std::size_t const written = size() - begin;
        put("@odata.type\":\"");
        raw(type);
        put("\",\"");
        room(written);
        std::memcpy(at_, out_.data() + begin, written);
        at_ += written;
        put("\":");
    }
    template <class Number>
    void number(Number value) {
        room(40);
        at_ = std::to_chars(at_, at_ + 40, value).ptr;
    }
    void float64(double value) {
        if (value - value != 0) {
            if (value != value) {
                put("\"NaN\"");
            } else if (value > 0) {
                put("\"Infinity\"");
            } else {
                put("\"-Infinity\"");
            }
            return;
        }
        if (few_digits(value)) { return; }
        std::size_t const begin = size();
        number(value);
        char const* digit = out_.data() + begin;
        while (digit != at_ && *digit != '.' && *digit != 'e') { ++digit; }
        if (digit == at_) { put(".0"); }
    }
    /// Writes text unchanged.
    void raw(std::string_view text) {
        room(text.size());
        std::memcpy(at_, text.data(), text.size());
        at_ += text.size();
    }
    /// Writes the ETag that follows from a time, given as text, as a JSON string.
    void usual_etag(std::string_view time) {
        constexpr std::size_t hour_end = 13; // "2026-07-27T12", then ":28:53..."
        put("\"W/\\\"datetime'");
        raw(time.substr(0, hour_end));
        put("%3A");
        raw(time.substr(hour_end + 1, 2));
        put("%3A");
        raw(time.substr(hour_end + 4));
        put("'\\\"\"");
    }
    /// Appends through a function that appends to a string.
    template <class Append>
    void appended(Append append) {
        finish();
        append(out_);
        follow();
    }

    void property(std::string_view called, value_view const& held) {
        switch (held.type()) {
            case edm_type::string:
            case edm_type::int32:
            case edm_type::boolean: name(called); break; // their form implies their type
            default: name(called, to_string(held.type())); break;
        }
        value(held);
    }
    void value(value_view const& held) {
        switch (held.type()) {
            case edm_type::string: quoted(held.as_string()); break;
            case edm_type::int32: number(held.as_int32()); break;
            case edm_type::boolean: raw(held.as_boolean() ? "true" : "false"); break;
            case edm_type::int64:
                put("\"");
                number(held.as_int64());
                put("\"");
                break;
            case edm_type::float64: float64(held.as_float64()); break;
            case edm_type::date_time:
                room(longest_time + 2);
                *at_++ = '"';
                at_ = write_time(at_, held.bits(), false);
                *at_++ = '"';
                break;
            case edm_type::guid:
                room(38);
                *at_++ = '"';
                write_guid(at_, held.as_guid());
                at_ += 36;
                *at_++ = '"';
                break;
            case edm_type::binary:
                put("\"");
                appended([&](std::string& out) { append_base64(out, held.bytes()); });
                put("\"");
                break;
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(at_ - out_.data()); }
    /// Reserves memory for this many more bytes.
    void reserve(std::size_t bytes) {
        appended([&](std::string& out) { out.reserve(out.size() + bytes); });
    }

private:
    void finish() { out_.resize(size()); } // shrinks: allocates nothing
    void follow() noexcept {
        at_ = out_.data() + out_.size();
        end_ = at_;
    }
    void grow(std::size_t bytes);

    /// Whether one of eight characters is a quote, a backslash or a control character: the usual bit tricks on words.
    static bool needs_escape(std::uint64_t eight) noexcept {
        constexpr std::uint64_t ones = 0x0101010101010101U;
        constexpr std::uint64_t highs = 0x8080808080808080U;
        std::uint64_t const quote = eight ^ (ones * '"');
        std::uint64_t const backslash = eight ^ (ones * '\\');
        std::uint64_t const control = (eight - ones * 0x20) & ~eight;
        return ((((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | control) & highs) != 0;
    }
    /// Copies a text without escapes; false, with part of it copied, if the text needs an escape.
    static bool copy_plain(char* to, std::string_view text) noexcept {
        std::uint64_t eight = 0;
        if (text.size() < sizeof eight) {
            for (char const each : text) {
                if (json_escaped[static_cast<unsigned char>(each)]) { return false; }
                *to++ = each;
            }
            return true;
        }
        bool plain = true;
        auto const copy = [&](std::size_t at) {
            std::memcpy(&eight, text.data() + at, sizeof eight);
            std::memcpy(to + at, &eight, sizeof eight);
            plain = plain && !needs_escape(eight);
        };
        std::size_t const last = text.size() - sizeof eight;
        for (std::size_t at = 0; plain && at < last; at += sizeof eight) { copy(at); }
        copy(last); // copies the last eight bytes, some of them for the second time
        return plain;
    }
    void few_characters(std::string_view text) {
        room(6 * text.size());
        if (copy_plain(at_, text)) {
            at_ += text.size();
            return;
        }
        for (char const each : text) {
            if (json_escaped[static_cast<unsigned char>(each)]) {
                escape(each);
            } else {
                *at_++ = each;
            }
        }
    }
    void escape(char each);
    bool few_digits(double value);

    std::string& out_; ///< longer than the written part until the end
    char* at_{};
    char* end_{};
};

ENTITABLE_DECL void json_pen::grow(std::size_t bytes) {
    constexpr std::size_t more = 1024;
    std::size_t const written = size();
    std::size_t const wanted = written + bytes + more;
    if (wanted > out_.capacity()) { out_.reserve(2 * wanted); }
    out_.resize(wanted);
    at_ = out_.data() + written;
    end_ = out_.data() + wanted;
}

ENTITABLE_DECL void json_pen::escape(char each) {
    auto const byte = static_cast<unsigned char>(each);
    *at_++ = '\\';
    switch (each) {
        case '"':
        case '\\': *at_++ = each; break;
        case '\n': *at_++ = 'n'; break;
        case '\r': *at_++ = 'r'; break;
        case '\t': *at_++ = 't'; break;
        default: {
            char const code[] = {'u', '0', '0', hexadecimal_of(byte >> 4U), hexadecimal_of(byte)};
            std::memcpy(at_, code, sizeof code);
            at_ += sizeof code;
            break;
        }
    }
}

/// Writes a number with at most three digits after the point; false for other numbers. A text with so few digits is already the shortest
/// that reads back as this number, so no search is needed. From 100,000 on an exponent would be shorter.
ENTITABLE_DECL bool json_pen::few_digits(double value) {
    constexpr std::int64_t scale = 1000;
    if (!(value > -100'000 && value < 100'000) || value == 0) { // zero may have a sign
        return false;
    }
    auto const scaled = static_cast<std::int64_t>(value * scale + (value < 0 ? -0.5 : 0.5));
    if (static_cast<double>(scaled) / scale != value) { return false; }
    room(16);
    std::int64_t const positive = scaled < 0 ? -scaled : scaled;
    if (scaled < 0) { *at_++ = '-'; }
    at_ = std::to_chars(at_, at_ + 8, positive / scale).ptr;
    *at_++ = '.';
    std::int64_t rest = positive % scale;
    do {
        *at_++ = static_cast<char>('0' + rest / 100);
        rest = rest % 100 * 10;
    } while (rest != 0);
    return true;
}

ENTITABLE_DECL void append_json_string(std::string& out, std::string_view text) { json_pen{out}.quoted(text); }

ENTITABLE_DECL void append_json_property(std::string& out, std::string_view name, value_view value) {
    json_pen{out}.property(name, value);
}

ENTITABLE_DECL void append_json_entity(std::string& out, row_view entity) {
    json_pen pen{out};
    pen.put("{\"PartitionKey\":");
    pen.quoted(entity.partition_key);
    pen.put(",\"RowKey\":");
    pen.quoted(entity.row_key);
    property_cursor cursor{entity.payload};
    property_view property;
    while (cursor.next(property)) {
        if (property.present) {
            pen.put(",");
            pen.property(property.name, property.value);
        }
    }
    pen.put("}");
}

} // namespace detail
ENTITABLE_END_NAMESPACE
