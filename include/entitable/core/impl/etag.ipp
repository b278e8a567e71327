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
        std::string time;
        std::string_view rest = text.substr(detail::etag_prefix.size());
        rest.remove_suffix(detail::etag_suffix.size());
        while (!rest.empty()) {
            bool const colon = rest.starts_with("%3A");
            time += colon ? ':' : rest.front();
            rest.remove_prefix(colon ? 3 : 1);
        }
        auto const timestamp = date_time::parse(time);
        if (timestamp && detail::etag_text_of(*timestamp) == text) {
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
