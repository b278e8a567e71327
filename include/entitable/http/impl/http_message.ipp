// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/http/http_message.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A field of a block of header text: where it begins, its name and its value.
struct header_field {
    std::size_t begin{};
    std::size_t end{}; ///< behind its NUL
    std::string_view name;
    std::string_view value;
};

/// The field at `begin`. Names hold no colon, and no field holds a NUL.
inline header_field header_field_at(std::string const& text, std::size_t begin) noexcept {
    std::string_view const line{text.c_str() + begin};
    std::size_t const colon = line.find(':');
    return {begin, begin + line.size() + 1, line.substr(0, colon), line.substr(colon + 2)};
}

inline bool is_token(std::string_view text) noexcept {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    for (char const c : text) {
        bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && marks.find(c) == std::string_view::npos) {
            return false;
        }
    }
    return !text.empty();
}

inline bool is_field_value(std::string_view text) noexcept {
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\t') || byte == 0x7F) {
            return false;
        }
    }
    return true;
}

inline std::string_view without_blanks(std::string_view text) noexcept {
    std::size_t const first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

inline char ascii_lower_case(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

ENTITABLE_DECL bool same_field_name(std::string_view left, std::string_view right) noexcept {
    if (left.size() != right.size()) {
        return false;
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (left[i] != right[i] && ascii_lower_case(left[i]) != ascii_lower_case(right[i])) {
            return false;
        }
    }
    return true;
}

} // namespace detail

ENTITABLE_DECL std::string_view to_string(http_method method) noexcept {
    switch (method) {
        case http_method::get: return "GET";
        case http_method::post: return "POST";
        case http_method::put: return "PUT";
        case http_method::merge: return "MERGE";
        case http_method::patch: return "PATCH";
        case http_method::delete_: return "DELETE";
        case http_method::head: return "HEAD";
        case http_method::options: return "OPTIONS";
    }
    return "GET";
}

ENTITABLE_DECL bool http_headers::add(std::string_view name, std::string_view value) {
    value = detail::without_blanks(value);
    if (!detail::is_token(name) || !detail::is_field_value(value)) {
        return false;
    }
    std::size_t const needed = text_.size() + name.size() + value.size() + 3;
    if (text_.capacity() < needed) {
        text_.reserve(needed < 512 ? 512 : 2 * needed);
    }
    text_.append(name).append(": ").append(value).push_back('\0');
    ++size_;
    return true;
}

ENTITABLE_DECL bool http_headers::set(std::string_view name, std::string_view value) {
    if (!detail::is_token(name) || !detail::is_field_value(detail::without_blanks(value))) {
        return false;
    }
    remove(name);
    return add(name, value);
}

ENTITABLE_DECL void http_headers::remove(std::string_view name) noexcept {
    for (std::size_t at = 0; at < text_.size();) {
        detail::header_field const field = detail::header_field_at(text_, at);
        if (detail::same_field_name(field.name, name)) {
            text_.erase(field.begin, field.end - field.begin);
            --size_;
        } else {
            at = field.end;
        }
    }
}

ENTITABLE_DECL std::optional<std::string_view> http_headers::find(std::string_view name) const noexcept {
    for (std::size_t at = 0; at < text_.size();) {
        detail::header_field const field = detail::header_field_at(text_, at);
        if (detail::same_field_name(field.name, name)) {
            return field.value;
        }
        at = field.end;
    }
    return std::nullopt;
}

ENTITABLE_DECL std::size_t http_headers::count(std::string_view name) const noexcept {
    std::size_t found = 0;
    for (std::size_t at = 0; at < text_.size();) {
        detail::header_field const field = detail::header_field_at(text_, at);
        found += detail::same_field_name(field.name, name) ? 1 : 0;
        at = field.end;
    }
    return found;
}

ENTITABLE_DECL void http_headers::for_each(
    function_ref<void(std::string_view name, std::string_view value)> visit) const {
    for (std::size_t at = 0; at < text_.size();) {
        detail::header_field const field = detail::header_field_at(text_, at);
        visit(field.name, field.value);
        at = field.end;
    }
}

ENTITABLE_END_NAMESPACE
