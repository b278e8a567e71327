// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/core/detail/characters.hpp>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A field in a block of header text: its start, its name and its value.
struct header_field {
    std::size_t begin{};
    std::size_t end{}; ///< position after the NUL
    std::string_view name;
    std::string_view value;
};

/// Returns the field at `begin`. Names contain no colon, and no field contains a NUL.
inline header_field header_field_at(std::string const& text, std::size_t begin) noexcept {
    char const* const line = text.c_str() + begin;
    std::size_t const size = std::strlen(line);
    std::size_t const colon = std::string_view{line, size}.find(':');
    return {begin, begin + size + 1, {line, colon}, {line + colon + 2, size - colon - 2}};
}

/// The classes of each byte, as a sum of bits. It is a table, because every character of every request is checked.
struct character_classes {
    static constexpr unsigned char token = 1;       ///< RFC 9110, 5.6.2
    static constexpr unsigned char field_value = 2; ///< RFC 9110, 5.5: no control character except a tab
    static constexpr unsigned char url = 4;         ///< allowed in a URL; "%" needs another check

    constexpr character_classes() noexcept {
        constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
        for (unsigned byte = 0; byte < 256; ++byte) {
            char const c = static_cast<char>(byte);
            bool const letter_or_digit = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            bool const in_token = letter_or_digit || (byte < 128 && marks.find(c) != std::string_view::npos);
            bool const in_value = c == '\t' || (byte >= 0x20 && byte != 0x7F);
            bool const in_url = byte > 0x20 && byte < 0x7F && c != '\\' && c != '#' && c != '%';
            of[byte] =
                static_cast<unsigned char>((in_token ? token : 0) | (in_value ? field_value : 0) | (in_url ? url : 0));
        }
    }
    unsigned char of[256]{};
};

inline constexpr character_classes classes_of_characters{};

/// Returns the position of the first character that is not in `wanted`; the size if there is none.
inline std::size_t find_not_of_class(std::string_view text, unsigned char wanted, std::size_t from = 0) noexcept {
    while (from < text.size() && (classes_of_characters.of[static_cast<unsigned char>(text[from])] & wanted) != 0) {
        ++from;
    }
    return from;
}

inline bool is_token(std::string_view text) noexcept {
    return !text.empty() && find_not_of_class(text, character_classes::token) == text.size();
}

/// Whether none of eight bytes is a control character. (Each term sets the high bit of a byte that it finds, and perhaps of later ones.)
inline bool are_field_value(char const* eight) noexcept {
    constexpr std::uint64_t each = 0x0101010101010101U;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, eight, sizeof bytes);
    std::uint64_t const others = bytes ^ (each * 0x7F); // zero for DEL
    return ((((bytes - each * 0x20) & ~bytes) | ((others - each) & ~others)) & (each * 0x80)) == 0;
}

inline bool is_field_value(std::string_view text) noexcept {
    std::size_t good = 0;
    while (text.size() - good >= 8 && are_field_value(text.data() + good)) { good += 8; }
    return find_not_of_class(text, character_classes::field_value, good) == text.size();
}

inline std::string_view without_blanks(std::string_view text) noexcept {
    auto const blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && blank(text.front())) { text.remove_prefix(1); }
    while (!text.empty() && blank(text.back())) { text.remove_suffix(1); }
    return text;
}

ENTITABLE_DECL bool is_good_field(std::string_view name, std::string_view value) noexcept {
    return is_token(name) && is_field_value(value);
}

ENTITABLE_DECL bool same_field_name(std::string_view left, std::string_view right) noexcept {
    if (left.size() != right.size()) { return false; }
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (left[i] != right[i] && ascii_lower_case(left[i]) != ascii_lower_case(right[i])) { return false; }
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
    if (!detail::is_good_field(name, value)) { return false; }
    detail::known_fields::add(*this, name, value);
    return true;
}

ENTITABLE_DECL void http_headers::make_room(std::size_t more) {
    std::size_t const needed = text_.size() + more;
    if (text_.capacity() < needed) {
        std::string larger;
        larger.reserve(needed < 512 ? 512 : 2 * needed);
        larger.append(text_);
        text_.swap(larger);
        wipe(larger.data(), larger.size());
    }
}

ENTITABLE_DECL std::size_t http_headers::next_named(std::string_view name, std::size_t from) const noexcept {
    std::string_view const text{text_};
    while (from < text.size()) {
        std::size_t const colon = from + name.size(); // position of the colon in a field of that name
        if (colon < text.size() && text[colon] == ':' &&
            detail::same_field_name(text.substr(from, name.size()), name)) {
            break;
        }
        from = text.find('\0', from) + 1;
    }
    return from;
}

ENTITABLE_DECL void http_headers::remove_from(std::string_view name, std::size_t from) noexcept {
    while ((from = next_named(name, from)) < text_.size()) {
        std::size_t const behind = detail::header_field_at(text_, from).end;
        std::size_t const left = text_.size() - (behind - from);
        std::memmove(text_.data() + from, text_.data() + behind, text_.size() - behind);
        wipe(text_.data() + left, text_.size() - left);
        text_.resize(left);
        --size_;
    }
}

ENTITABLE_DECL bool http_headers::set(std::string_view name, std::string_view value) {
    value = detail::without_blanks(value);
    if (!detail::is_good_field(name, value)) { return false; }
    std::size_t const at = next_named(name, 0);
    if (at < text_.size()) {
        detail::header_field const field = detail::header_field_at(text_, at);
        if (field.value.size() == value.size()) { // for example, a new date or signature is written in place
            text_.replace(at, name.size(), name);
            text_.replace(at + name.size() + 2, value.size(), value);
            remove_from(name, field.end);
            return true;
        }
    }
    remove_from(name, at);
    return add(name, value);
}

ENTITABLE_DECL void http_headers::remove(std::string_view name) noexcept { remove_from(name, 0); }

ENTITABLE_DECL std::optional<std::string_view> http_headers::find(std::string_view name) const noexcept {
    std::size_t const at = next_named(name, 0);
    return at < text_.size() ? std::optional{detail::header_field_at(text_, at).value} : std::nullopt;
}

ENTITABLE_DECL std::size_t http_headers::count(std::string_view name) const noexcept {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = next_named(name, at)) < text_.size(); ++found) {
        at = detail::header_field_at(text_, at).end;
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
