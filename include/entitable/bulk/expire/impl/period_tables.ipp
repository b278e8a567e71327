// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/expire/period_tables.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/text.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Number of digits of a name: year, month, day, hour.
[[nodiscard]] ENTITABLE_DECL std::size_t digits_of_period(period length) noexcept {
    constexpr std::size_t sizes[] = {10, 8, 6, 4};
    return sizes[static_cast<std::size_t>(length)];
}

ENTITABLE_DECL period_names::period_names(table_core core, period_options how)
    : core_(std::move(core)), how_(how), known_(shared<known_tables>::make()) {}

ENTITABLE_DECL std::string period_names::digits_of(date_time when) const {
    std::string digits;
    for (char const each : when.to_string()) { // "2026-03-02T15:..."
        if (each >= '0' && each <= '9' && digits.size() < digits_of_period(how_.length)) { digits += each; }
    }
    return digits;
}

ENTITABLE_DECL std::optional<time_span> period_names::span_of_digits(std::string_view digits) const {
    if (digits.size() != digits_of_period(how_.length) ||
        digits.find_first_not_of("0123456789") != std::string_view::npos) {
        return std::nullopt;
    }
    auto const part = [&](std::size_t at, std::size_t size, unsigned otherwise) {
        unsigned number = at < digits.size() ? 0 : otherwise;
        for (std::size_t index = at; index < (std::min)(at + size, digits.size()); ++index) {
            number = number * 10 + static_cast<unsigned>(digits[index] - '0');
        }
        return number;
    };
    constexpr std::int64_t hour = 3600 * date_time::ticks_per_second;
    auto const year = static_cast<int>(part(0, 4, 1601));
    unsigned const month = part(4, 2, 1);
    time_span made;
    made.begin = {date_time::from_date(year, month, part(6, 2, 1)).ticks + part(8, 2, 0) * hour};
    switch (how_.length) {
        case period::hour: made.end = {made.begin.ticks + hour}; break;
        case period::day: made.end = {made.begin.ticks + 24 * hour}; break;
        case period::month:
            made.end = date_time::from_date(month == 12 ? year + 1 : year, month == 12 ? 1 : month + 1, 1);
            break;
        default: made.end = date_time::from_date(year + 1, 1, 1);
    }
    // "20260231" is not a day, and thus not in the name of a period's table.
    return made.begin.is_valid() && digits_of(made.begin) == digits ? std::optional{made} : std::nullopt;
}

ENTITABLE_DECL result<time_span> period_names::span_of(date_time when) const {
    auto const span = when.is_valid() ? span_of_digits(digits_of(when)) : std::nullopt;
    if (!span) { return failure{error_code::out_of_range_input, "a period must be in the years 1601 to 9999"}; }
    return *span;
}

ENTITABLE_DECL result<std::string> period_names::name_of(date_time when) const {
    ENTITABLE_TRY(time_span const span, span_of(when));
    std::string name = core_.name() + digits_of(when);
    if (how_.time->now().ticks - span.end.ticks >= how_.keep.count() / 100) {
        return failure{error_code::out_of_range_input,
            text::joined({"the period of the table ", name, " ended at ", span.end.to_string(true),
                ", longer ago than the retention time: the table is dropped, and its name is never used again"})};
    }
    return name;
}

ENTITABLE_DECL result<std::string> period_names::made(date_time when) const {
    if (!known_) { return moved_from("set of period tables"); }
    ENTITABLE_TRY(std::string name, name_of(when));
    {
        std::lock_guard const lock{known_->guard};
        if (known_->names.contains(name)) { return name; }
    }
    ENTITABLE_CHECK(of(name).create_if_absent());
    std::lock_guard const lock{known_->guard};
    known_->names.insert(name);
    return name;
}

ENTITABLE_DECL result<std::vector<std::string>> period_names::there(function_ref<bool(time_span const&)> wanted) const {
    std::vector<std::string> names;
    std::string const begins = text::ascii_lower(core_.name());
    page_cursor pages{list_tables{}};
    while (pages.more()) {
        call context{core_.options()};
        context.operation_id.clear(); // the id identifies one write
        ENTITABLE_TRY(auto found, pages.take(core_.store().execute(pages.request(), context)));
        for (std::string& each : found.tables) {
            if (!text::ascii_lower(each).starts_with(begins)) { continue; }
            auto const span = span_of_digits(std::string_view{each}.substr(begins.size()));
            if (span && wanted(*span)) { names.push_back(std::move(each)); }
        }
    }
    std::sort(names.begin(), names.end(), [&](std::string const& left, std::string const& right) {
        return left.compare(begins.size(), std::string::npos, right, begins.size(), std::string::npos) < 0;
    });
    return names;
}

ENTITABLE_DECL result<std::vector<std::string>> period_names::drop_old() const {
    constexpr std::int64_t minute =
        60 * date_time::ticks_per_second; // before that time writers whose clocks are slow may create a table
    std::int64_t const now = how_.time->now().ticks;
    ENTITABLE_TRY(std::vector<std::string> old,
        there([&](time_span const& each) { return now - each.end.ticks >= how_.keep.count() / 100 + minute; }));
    for (std::string const& each : old) {
        ENTITABLE_CHECK(of(each).drop_if_present());
        std::lock_guard const lock{known_->guard};
        known_->names.erase(each);
    }
    return old;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
