// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/http_date.hpp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/detail/value_text.hpp>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::optional<date_time> parse_http_date(std::string_view text) noexcept {
    constexpr std::string_view form = "Mon, 27 Jul 2026 12:28:53 GMT";
    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (text.size() != form.size()) { return std::nullopt; }
    for (std::size_t const at : {3U, 4U, 7U, 11U, 16U, 19U, 22U, 25U, 26U, 27U, 28U}) {
        if (text[at] != form[at]) { return std::nullopt; }
    }
    unsigned month = 1;
    while (month <= 12 && std::memcmp(text.data() + 8, months.data() + 3 * (month - 1), 3) != 0) { ++month; }
    digit_reader read{text.data()};
    auto const day = static_cast<unsigned>(read.two(5));
    int const year = read.four(12);
    int const hour = read.two(17);
    int const minute = read.two(20);
    int const second = read.two(23);
    if (!read.good || month > 12 || day < 1 || day > days_of_month(year, month) || hour > 23 || minute > 59 ||
        second > 60) {
        return std::nullopt;
    }
    auto time = date_time::from_date(year, month, day);
    time.ticks += ((hour * 60 + minute) * 60 + second) * date_time::ticks_per_second;
    return time.is_valid() ? std::optional{time} : std::nullopt;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
