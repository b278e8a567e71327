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
        // The usual form: two escaped colons, a Z, and a fraction only where there is one, without zeros at its end.
        bool const usual = text.ends_with(detail::etag_suffix) && rest.size() >= 24 && rest.size() <= 32 &&
            rest.substr(13, 3) == "%3A" && rest.substr(18, 3) == "%3A" && rest.back() == 'Z' &&
            (rest.size() == 24 || rest[rest.size() - 2] != '0');
        if (usual) {
            char time[28];
            rest.copy(time, 14);
            rest.substr(16).copy(time + 14, 3);
            rest.substr(21).copy(time + 17, 11);
            time[13] = time[16] = ':';
            if (auto const timestamp = date_time::parse({time, rest.size() - 4})) {
                timestamp_ = timestamp->ticks;
                return;
            }
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
