// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/impl/date_time.ipp>
#include <entitable/rest/detail/http_date.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::optional<date_time> parse_http_date(std::string_view text) noexcept {
    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (text.size() != 29 || text.substr(3, 2) != ", " || text.substr(25) != " GMT") {
        return std::nullopt;
    }
    digit_reader reader{text.substr(5)};
    auto const day = static_cast<unsigned>(reader.number(2));
    reader.expect(' ');
    std::size_t const month_at = months.find(reader.rest.substr(0, 3));
    reader.rest.remove_prefix(3);
    reader.expect(' ');
    int const year = reader.number(4);
    reader.expect(' ');
    int const hour = reader.number(2);
    reader.expect(':');
    int const minute = reader.number(2);
    reader.expect(':');
    int const second = reader.number(2);
    auto const month = static_cast<unsigned>(month_at / 3 + 1);
    if (!reader.good || month_at == std::string_view::npos || month_at % 3 != 0 || day < 1 ||
        day > days_of_month(year, month) || hour > 23 || minute > 59 || second > 60) {
        return std::nullopt;
    }
    auto time = date_time::from_date(year, month, day);
    time.ticks += ((hour * 60 + minute) * 60 + second) * date_time::ticks_per_second;
    return time.is_valid() ? std::optional{time} : std::nullopt;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
