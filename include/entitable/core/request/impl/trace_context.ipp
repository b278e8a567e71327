// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/characters.hpp>
#include <entitable/core/request/trace_context.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends a number as lower-case digits, with leading zeros.
ENTITABLE_LAZY void append_lower_hex(std::string& out, std::uint64_t number, unsigned digits) {
    for (unsigned shift = digits * 4; shift > 0; shift -= 4) { out += hexadecimal_of(number >> (shift - 4)); }
}

/// Parses up to 16 lower-case digits; false for anything else.
ENTITABLE_LAZY bool read_lower_hex(std::string_view digits, std::uint64_t& number) noexcept {
    number = 0;
    for (char const each : digits) {
        bool const decimal = each >= '0' && each <= '9';
        if (!decimal && (each < 'a' || each > 'f')) { return false; }
        number = number << 4U | static_cast<std::uint64_t>(decimal ? each - '0' : each - 'a' + 10);
    }
    return true;
}

} // namespace detail

ENTITABLE_LAZY_BODY result<trace_context> trace_context::parse(std::string_view traceparent) {
    constexpr std::size_t length = 55;
    auto const wrong = [](char const* what) { return failure{error_code::invalid_input, std::string{what}}; };
    if (traceparent.size() < length) { return wrong("a traceparent must have at least 55 characters"); }
    if (traceparent[2] != '-' || traceparent[35] != '-' || traceparent[52] != '-') {
        return wrong("the parts of a traceparent must be separated by hyphens");
    }
    trace_context made;
    std::uint64_t version = 0;
    std::uint64_t flags = 0;
    if (!detail::read_lower_hex(traceparent.substr(0, 2), version) ||
        !detail::read_lower_hex(traceparent.substr(3, 16), made.trace_high) ||
        !detail::read_lower_hex(traceparent.substr(19, 16), made.trace_low) ||
        !detail::read_lower_hex(traceparent.substr(36, 16), made.span_id) ||
        !detail::read_lower_hex(traceparent.substr(53, 2), flags)) {
        return wrong("a traceparent must consist of lower-case hexadecimal digits");
    }
    if (version == 0xFF || (traceparent.size() > length && (version == 0 || traceparent[length] != '-'))) {
        return wrong("a traceparent must have a valid version, and the length that its version allows");
    }
    made.flags = static_cast<std::uint8_t>(flags & (sampled | random));
    if (!made) { return wrong("the ids of a traceparent must not be zero"); }
    return made;
}

ENTITABLE_LAZY_BODY std::string trace_context::trace_id() const {
    std::string text;
    detail::append_lower_hex(text, trace_high, 16);
    detail::append_lower_hex(text, trace_low, 16);
    return text;
}

ENTITABLE_LAZY_BODY std::string trace_context::to_string() const {
    std::string text{"00-"};
    text.reserve(55);
    detail::append_lower_hex(text, trace_high, 16);
    detail::append_lower_hex(text, trace_low, 16);
    text += '-';
    detail::append_lower_hex(text, span_id, 16);
    text += '-';
    detail::append_lower_hex(text, flags & (sampled | random), 2);
    return text;
}

ENTITABLE_END_NAMESPACE
