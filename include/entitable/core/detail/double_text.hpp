// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Parses double-precision numbers, with std::from_chars if the standard library supports it for `double` (libc++ since version 20).

#include <entitable/core/config.hpp>

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <string>

#if __has_include(<xlocale.h>)
#include <xlocale.h>
#endif
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Parses the whole text as a decimal number, in any locale. Returns nullopt for any other text, including a leading `+`, and for numbers
/// out of range, infinities and NaN.
[[nodiscard]] inline std::optional<double> double_in(std::string_view text) {
    if (text.empty() || text.front() == '+' || text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) {
        return std::nullopt;
    }
    double number{};
#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
    static locale_t const plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
    std::string const ended{text};
    char* end = nullptr;
    errno = 0;
    number = ::strtod_l(ended.c_str(), &end, plain);
    bool const whole = end == ended.data() + ended.size() && (number != 0 || errno != ERANGE) && number - number == 0;
#else
    char const* const last = text.data() + text.size();
    auto const read = std::from_chars(text.data(), last, number);
    bool const whole = read.ec == std::errc{} && read.ptr == last;
#endif
    return whole ? std::optional{number} : std::nullopt;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
