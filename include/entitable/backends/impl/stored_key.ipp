// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/backends/detail/stored_key.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY stored_key::stored_key(std::string_view key) : view_(key) {
    for (char const character : key.substr(text::ascii_prefix(key))) {
        if (static_cast<unsigned char>(character) >= 0xEE) {
            copy_ = key;
            for (char& changed : copy_) {
                changed = static_cast<char>(text::utf16_rank(static_cast<unsigned char>(changed)));
            }
            view_ = copy_;
            return;
        }
    }
}

ENTITABLE_LAZY_BODY stored_key::stored_key(folding, std::string_view table) : view_(table) {
    for (char const character : table) {
        if (character >= 'A' && character <= 'Z') {
            copy_ = text::ascii_lower(table);
            view_ = copy_;
            return;
        }
    }
}

ENTITABLE_LAZY_BODY std::string_view shown_key(std::string_view bytes, std::string& buffer) {
    bool changed = false;
    for (char const character : bytes.substr(text::ascii_prefix(bytes))) {
        changed = changed || static_cast<unsigned char>(character) >= 0xFE;
    }
    if (!changed) {
        return bytes;
    }
    buffer = bytes;
    for (char& character : buffer) {
        if (static_cast<unsigned char>(character) >= 0xFE) {
            character = static_cast<char>(static_cast<unsigned char>(character) - 0x10U);
        }
    }
    return buffer;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
