// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/detail/value_text.hpp>
#include <entitable/core/etag.hpp>
#include <entitable/core/text.hpp>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::string_view etag_with_epoch_prefix = "W/\"s";

ENTITABLE_LAZY std::string etag_text_of(date_time timestamp) {
    char text[longest_time];
    std::string_view time{text, static_cast<std::size_t>(write_time(text, timestamp.ticks, true) - text)};
    std::string out;
    out.reserve(etag_prefix.size() + time.size() + 4 + etag_suffix.size());
    out += etag_prefix;
    for (std::size_t colon = 0; (colon = time.find(':')) != std::string_view::npos; time.remove_prefix(colon + 1)) {
        out.append(time.substr(0, colon)).append("%3A");
    }
    out.append(time).append(etag_suffix);
    return out;
}

} // namespace detail

#if defined(ENTITABLE_SEPARATE_COMPILATION)
etag::etag(etag const& other) = default;
etag::etag(etag&& other) noexcept = default;
etag& etag::operator=(etag const& other) = default;
etag& etag::operator=(etag&& other) noexcept = default;
etag::~etag() = default;
#endif

ENTITABLE_LAZY_BODY etag::etag(std::string_view text) {
    if (text.size() > detail::etag_prefix.size() + detail::etag_suffix.size() &&
        text.starts_with(detail::etag_prefix)) {
        char const* const rest = text.data() + detail::etag_prefix.size();
        std::size_t const size = text.size() - detail::etag_prefix.size() - detail::etag_suffix.size();
        auto const colon_at = [rest](std::size_t at) {
            return rest[at] == '%' && rest[at + 1] == '3' && rest[at + 2] == 'A';
        };
        // The usual form: two escaped colons, a Z, and a fraction only if it is not zero, without trailing zeros.
        bool const usual = size >= 24 && size <= 32 && text.ends_with(detail::etag_suffix) && colon_at(13) &&
            colon_at(18) && rest[size - 1] == 'Z' && (size == 24 || rest[size - 2] != '0');
        if (usual) {
            char time[28];
            std::memcpy(time, rest, 13);
            std::memcpy(time + 14, rest + 16, 2);
            std::memcpy(time + 17, rest + 21, size - 21);
            time[13] = time[16] = ':';
            if (auto const timestamp = date_time::parse({time, size - 4})) {
                timestamp_ = timestamp->ticks;
                return;
            }
        }
    }
    if (take_with_epoch(text)) { return; }
    if (text.size() <= text_.capacity()) {
        text_ = text;
    } else {
        text_ = std::string{text}; // cheaper than growing an empty buffer
    }
}

/// Takes the form with an epoch; false for any other text.
ENTITABLE_LAZY_BODY bool etag::take_with_epoch(std::string_view text) {
    constexpr std::size_t digits = 16;
    constexpr std::size_t most_of_epoch = 20;
    std::string_view const start = detail::etag_with_epoch_prefix;
    if (text.size() < start.size() + 1 + 1 + digits + 1 ||
        text.size() > start.size() + most_of_epoch + 1 + digits + 1 || !text.starts_with(start) || text.back() != '"' ||
        text[text.size() - digits - 2] != 't') {
        return false;
    }
    std::uint64_t ticks = 0;
    for (char const each : text.substr(text.size() - digits - 1, digits)) {
        int const digit = each >= 'A' && each <= 'F' ? -1 : detail::hexadecimal_digit(each); // written in lower case
        if (digit < 0) { return false; }
        ticks = ticks << 4U | static_cast<std::uint64_t>(digit);
    }
    std::string_view const epoch = text.substr(start.size(), text.size() - start.size() - digits - 2);
    for (char const each : epoch) {
        if (!detail::is_decimal(each)) { return false; }
    }
    if (static_cast<std::int64_t>(ticks) == no_timestamp) { return false; }
    timestamp_ = static_cast<std::int64_t>(ticks);
    text_ = epoch;
    return true;
}

ENTITABLE_LAZY_BODY etag etag::of(date_time timestamp, std::uint64_t epoch) {
    etag made;
    made.timestamp_ = timestamp.ticks;
    text::append_decimal(made.text_, epoch);
    return made;
}

ENTITABLE_LAZY_BODY std::string etag::to_string() const {
    if (timestamp_ == no_timestamp) { return text_; }
    if (text_.empty()) { return detail::etag_text_of(date_time{timestamp_}); }
    std::string out{detail::etag_with_epoch_prefix};
    out.append(text_) += 't';
    detail::append_hexadecimal(out, static_cast<std::uint64_t>(timestamp_));
    return out += '"';
}

ENTITABLE_LAZY_BODY bool etag::is_valid() const noexcept {
    if (timestamp_ != no_timestamp) { return true; }
    std::string_view inside{text_};
    inside.remove_prefix(inside.starts_with("W/") ? 2 : 0);
    if (text_.size() > 1024 || inside.size() < 2 || inside.front() != '"' || inside.back() != '"') { return false; }
    for (char const character : inside.substr(1, inside.size() - 2)) {
        if (character <= ' ' || character == '"' || character > '~') { return false; }
    }
    return true;
}

ENTITABLE_END_NAMESPACE
