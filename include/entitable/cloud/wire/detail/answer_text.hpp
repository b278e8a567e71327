// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Helpers shared by the readers of responses.

#include <entitable/core/result.hpp>

#include <charconv>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <system_error>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns TransportFailed: a response arrived, but is unusable for this reason.
[[nodiscard]] failure unreadable(std::initializer_list<std::string_view> why);

/// Returns the text without blanks and line ends at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// Parses a number at the start of `text` and removes it from there. Returns nothing if there is a sign or the number does not fit.
template <class Number>
[[nodiscard]] std::optional<Number> leading_number(std::string_view& text) noexcept {
    Number number{};
    auto const read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{} || text.empty() || text.front() == '-') { return std::nullopt; }
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return number;
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/answer_text.ipp>
#endif
