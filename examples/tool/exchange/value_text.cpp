// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "value_text.hpp"

#include <entitable/core/text.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace tool {

namespace {

using entitable::edm_type;

constexpr std::string_view digits_of_base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void append_base64(std::string& out, std::string_view bytes) {
    auto const byte = [&](std::size_t at) { return static_cast<unsigned>(static_cast<unsigned char>(bytes[at])); };
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::size_t const left = bytes.size() - at;
        unsigned const bits = (byte(at) << 16U) | (left > 1 ? byte(at + 1) << 8U : 0U) | (left > 2 ? byte(at + 2) : 0U);
        out += digits_of_base64[bits >> 18U];
        out += digits_of_base64[(bits >> 12U) & 63U];
        out += left > 1 ? digits_of_base64[(bits >> 6U) & 63U] : '=';
        out += left > 2 ? digits_of_base64[bits & 63U] : '=';
    }
}

bool read_base64(std::string_view given, std::string& bytes) {
    bytes.clear();
    if (given.size() % 4 != 0) { return false; }
    std::size_t const fill = given.ends_with("==") ? 2 : given.ends_with("=") ? 1 : 0;
    given.remove_suffix(fill);
    unsigned bits = 0;
    unsigned count = 0;
    for (char const each : given) {
        std::size_t const digit = digits_of_base64.find(each);
        if (digit == std::string_view::npos) { return false; }
        bits = (bits << 6U) | static_cast<unsigned>(digit);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>((bits >> count) & 255U);
        }
    }
    return (bits & ((1U << count) - 1U)) == 0; // other texts would not be written back
}

template <class Number>
std::optional<entitable::value_view> read_number(std::string_view given) {
    Number number{};
    auto const read = std::from_chars(given.data(), given.data() + given.size(), number);
    bool const whole = read.ec == std::errc{} && read.ptr == given.data() + given.size();
    return whole ? std::optional<entitable::value_view>{number} : std::nullopt;
}

std::optional<entitable::value_view> read_double(std::string_view given) {
    if (given == "NaN") { return std::numeric_limits<double>::quiet_NaN(); }
    if (given == "Infinity") { return std::numeric_limits<double>::infinity(); }
    if (given == "-Infinity") { return -std::numeric_limits<double>::infinity(); }
    // from_chars accepts "inf" and "nan" too.
    if (given.find_first_not_of("0123456789+-.eE") != std::string_view::npos) { return std::nullopt; }
    return read_number<double>(given);
}

void append_double(std::string& out, double number) {
    if (std::isnan(number)) {
        out += "NaN";
    } else if (std::isinf(number)) {
        out += number < 0 ? "-Infinity" : "Infinity";
    } else {
        std::array<char, 32> text{};
        auto const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
        std::string_view const written{text.data(), static_cast<std::size_t>(end - text.data())};
        out += written;
        if (written.find_first_of(".e") == std::string_view::npos) { out += ".0"; }
    }
}

} // namespace

std::string_view type_name(edm_type type) noexcept { return to_string(type).substr(4); }

std::optional<edm_type> type_named(std::string_view name) noexcept {
    if (name.starts_with("Edm.")) { name.remove_prefix(4); }
    for (auto const each : {edm_type::string, edm_type::int32, edm_type::int64, edm_type::float64, edm_type::boolean,
             edm_type::date_time, edm_type::guid, edm_type::binary}) {
        if (entitable::text::ascii_lower(type_name(each)) == entitable::text::ascii_lower(name)) { return each; }
    }
    return std::nullopt;
}

void append_value_text(std::string& out, entitable::value_view given) {
    switch (given.type()) {
        case edm_type::string: out += given.as_string(); break;
        case edm_type::int32:
        case edm_type::int64: {
            std::array<char, 24> text{};
            out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), given.bits()).ptr);
            break;
        }
        case edm_type::float64: append_double(out, given.as_float64()); break;
        case edm_type::boolean: out += given.as_boolean() ? "true" : "false"; break;
        case edm_type::date_time: out += given.as_date_time().to_string(); break;
        case edm_type::guid: out += given.as_guid().to_string(); break;
        case edm_type::binary: append_base64(out, given.bytes()); break;
    }
}

std::optional<entitable::value_view> read_value_text(std::string_view given, edm_type type, std::string& bytes) {
    switch (type) {
        case edm_type::string: return given;
        case edm_type::int32: return read_number<std::int32_t>(given);
        case edm_type::int64: return read_number<std::int64_t>(given);
        case edm_type::float64: return read_double(given);
        case edm_type::boolean:
            if (given == "true" || given == "True" || given == "TRUE") { return true; }
            if (given == "false" || given == "False" || given == "FALSE") { return false; }
            return std::nullopt;
        case edm_type::date_time: {
            auto const time =
                given.size() == 10 ? entitable::date_time::parse_date(given) : entitable::date_time::parse(given);
            return time ? std::optional<entitable::value_view>{*time} : std::nullopt;
        }
        case edm_type::guid: {
            auto const id = entitable::guid::parse(given);
            if (!id) { return std::nullopt; }
            bytes.assign(reinterpret_cast<char const*>(id->bytes.data()), id->bytes.size());
            return entitable::value_view{type, std::string_view{bytes}};
        }
        case edm_type::binary:
            if (!read_base64(given, bytes)) { return std::nullopt; }
            return entitable::value_view{type, std::string_view{bytes}};
    }
    return std::nullopt;
}

} // namespace tool
