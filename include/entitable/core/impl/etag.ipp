// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/etag.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::string_view etag_prefix = "W/\"datetime'";
inline constexpr std::string_view etag_suffix = "'\"";

ENTITABLE_LAZY std::string etag_text_of(date_time timestamp) {
    std::string out{etag_prefix};
    for (char const character : timestamp.to_string(true)) {
        if (character == ':') {
            out += "%3A";
        } else {
            out += character;
        }
    }
    out += etag_suffix;
    return out;
}

} // namespace detail

ENTITABLE_LAZY_BODY etag::etag(std::string_view text) {
    if (text.size() > detail::etag_prefix.size() + detail::etag_suffix.size() &&
        text.starts_with(detail::etag_prefix)) {
        std::string_view rest = text.substr(detail::etag_prefix.size());
        rest.remove_suffix(detail::etag_suffix.size());
        char time[32];
        std::size_t size = 0;
        std::size_t colons = 0;
        while (!rest.empty() && size < sizeof time) {
            bool const colon = rest.starts_with("%3A");
            time[size++] = colon ? ':' : rest.front();
            colons += colon ? 1U : 0U;
            rest.remove_prefix(colon ? 3 : 1);
        }
        // The usual form: both colons escaped, a Z, and a fraction only where there is one, without zeros at its end.
        bool const usual = rest.empty() && colons == 2 && size >= 20 && time[size - 1] == 'Z' &&
            (size == 20 || time[size - 2] != '0') && text.ends_with(detail::etag_suffix);
        if (auto const timestamp = usual ? date_time::parse({time, size}) : std::nullopt) {
            timestamp_ = timestamp->ticks;
            return;
        }
    }
    text_ = text;
}

ENTITABLE_LAZY_BODY std::string etag::text() const {
    return timestamp_ == no_timestamp ? text_ : detail::etag_text_of(date_time{timestamp_});
}

ENTITABLE_LAZY_BODY bool etag::is_valid() const noexcept {
    if (timestamp_ != no_timestamp) {
        return true;
    }
    std::string_view inside{text_};
    inside.remove_prefix(inside.starts_with("W/") ? 2 : 0);
    if (text_.size() > 1024 || inside.size() < 2 || inside.front() != '"' || inside.back() != '"') {
        return false;
    }
    for (char const character : inside.substr(1, inside.size() - 2)) {
        if (character <= ' ' || character == '"' || character > '~') {
            return false;
        }
    }
    return true;
}

ENTITABLE_END_NAMESPACE
