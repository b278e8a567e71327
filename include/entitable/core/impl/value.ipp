// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/value.hpp>

#include <cstdio>
#include <cstdlib>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class T>
constexpr ordering order_of(T left, T right) noexcept {
    return left < right ? ordering::less : left > right ? ordering::greater : ordering::equal;
}

/// Returns the shorter of the two usual forms that parses back to the same number; always with a point or an exponent.
ENTITABLE_LAZY std::string shortest_float64(double number) {
    char buffer[40];
    for (int digits = 15; digits <= 17; ++digits) {
        std::snprintf(buffer, sizeof buffer, "%.*g", digits, number);
        if (std::strtod(buffer, nullptr) == number) { break; }
    }
    std::string out{buffer};
    if (out.find_first_not_of("-0123456789") == std::string::npos) { out += ".0"; }
    return out;
}

} // namespace detail

ENTITABLE_LAZY_BODY std::string value::to_string() const {
    value_view const view = this->view();
    switch (type_) {
        case edm_type::string: return '"' + text::printable(text::shortened(view.bytes())) + '"';
        case edm_type::int32:
        case edm_type::int64: return std::to_string(bits_);
        case edm_type::float64: return detail::shortest_float64(view.as_float64());
        case edm_type::boolean: return bits_ != 0 ? "true" : "false";
        case edm_type::date_time: return view.as_date_time().to_string(true);
        case edm_type::guid: return view.as_guid().to_string();
        case edm_type::binary: break;
    }
    constexpr char digits[] = "0123456789abcdef";
    std::string out = "X'";
    for (char const character : view.bytes().substr(0, 32)) {
        out += digits[static_cast<unsigned char>(character) >> 4U];
        out += digits[static_cast<unsigned char>(character) & 0x0FU];
    }
    return out + (view.bytes().size() > 32 ? "...'" : "'");
}

ENTITABLE_LAZY_BODY ordering compare_values(value_view left, value_view right) noexcept {
    if (left.type() != right.type()) { return ordering::unordered; }
    switch (left.type()) {
        case edm_type::string: return detail::order_of(text::compare_utf16(left.bytes(), right.bytes()), 0);
        case edm_type::guid:
        case edm_type::binary: return detail::order_of(left.bytes().compare(right.bytes()), 0);
        case edm_type::float64: {
            double const ours = left.as_float64();
            double const theirs = right.as_float64();
            if (ours != ours || theirs != theirs) { return ordering::unordered; }
            return detail::order_of(ours, theirs);
        }
        default: return detail::order_of(left.bits(), right.bits());
    }
}

ENTITABLE_END_NAMESPACE
