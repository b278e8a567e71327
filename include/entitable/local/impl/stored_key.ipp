// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/local/detail/stored_key.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY void stored_key::convert() {
    for (char const character : view_) {
        if (static_cast<unsigned char>(character) >= 0xEE) {
            copy_ = view_;
            for (char& changed : copy_) {
                changed = static_cast<char>(text::utf16_rank(static_cast<unsigned char>(changed)));
            }
            view_ = copy_;
            return;
        }
    }
}

ENTITABLE_LAZY_BODY void stored_key::fold() {
    copy_ = text::ascii_lower(view_);
    view_ = copy_;
}

ENTITABLE_LAZY_BODY std::string_view unconverted_key(std::string_view bytes, std::string& buffer) {
    bool changed = false;
    for (char const character : bytes.substr(text::ascii_prefix(bytes))) {
        changed = changed || static_cast<unsigned char>(character) >= 0xFE;
    }
    if (!changed) { return bytes; }
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
