// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/sent_literal.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::optional<date_time> sent_time(std::string_view text) {
    constexpr std::size_t minutes_end = 16; // "2021-04-01T01:01"
    constexpr std::size_t seconds_end = 19;
    constexpr std::size_t kept_digits = 7;
    std::string_view const zone = text.ends_with('Z') ? text.substr(text.size() - 1) : std::string_view{};
    std::string_view const time = text.substr(0, text.size() - zone.size());
    if (time.size() == minutes_end) { return date_time::parse(text::joined({time, ":00", zone})); }
    constexpr std::size_t kept = seconds_end + 1 + kept_digits;
    if (time.size() <= kept || time[seconds_end] != '.') { return date_time::parse(text); }
    if (time.substr(kept).find_first_not_of("0123456789") != std::string_view::npos) { return std::nullopt; }
    return date_time::parse(text::joined({time.substr(0, kept), zone}));
}

} // namespace detail
ENTITABLE_END_NAMESPACE
