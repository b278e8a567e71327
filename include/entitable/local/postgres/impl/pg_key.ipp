// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/local/postgres/detail/pg_key.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline unsigned pg_byte(std::string_view bytes, std::size_t at) noexcept {
    return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
}

inline void append_unit(std::string& to, unsigned unit) {
    to += static_cast<char>(unit >> 8U);
    to += static_cast<char>(unit & 0xFFU);
}

ENTITABLE_DECL bool append_utf16_key(std::string_view stored, std::string& to) {
    // Most keys are ASCII. They are most of the client's own work for a row of a few properties.
    std::size_t const begin = to.size();
    std::size_t at = 0;
    to.resize(begin + 2 * stored.size());
    for (; at < stored.size() && static_cast<unsigned char>(stored[at]) < 0x80; ++at) {
        to[begin + 2 * at + 1] = stored[at]; // the other byte is 0
    }
    to.resize(begin + 2 * at);
    while (at < stored.size()) {
        unsigned const lead = pg_byte(stored, at);
        if (lead < 0x80) {
            append_unit(to, lead);
            ++at;
            continue;
        }
        std::size_t length = 0;
        unsigned code = 0;
        unsigned least = 0; // below it the form is overlong
        if (lead >= 0xC2 && lead <= 0xDF) {
            length = 2;
            code = lead & 0x1FU;
            least = 0x80;
        } else if ((lead >= 0xE0 && lead <= 0xED) || lead >= 0xFE) {
            length = 3;
            code = lead >= 0xFE ? lead - 0xF0U : lead & 0x0FU;
            least = 0x800;
        } else if (lead >= 0xF0 && lead <= 0xF4) {
            length = 4;
            code = lead & 0x07U;
            least = 0x10000;
        } else {
            return false;
        }
        for (std::size_t next = 1; next < length; ++next) {
            unsigned const byte = pg_byte(stored, at + next);
            if ((byte & 0xC0U) != 0x80) { return false; }
            code = code << 6U | (byte & 0x3FU);
        }
        if (code < least || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) { return false; }
        if (code >= 0x10000) {
            append_unit(to, 0xD800U + ((code - 0x10000U) >> 10U));
            append_unit(to, 0xDC00U + ((code - 0x10000U) & 0x3FFU));
        } else {
            append_unit(to, code);
        }
        at += length;
    }
    return true;
}

ENTITABLE_DECL bool assign_stored_key(std::string_view utf16, std::string& to) {
    to.clear();
    auto const follow = [&](unsigned code, unsigned shift) {
        to += static_cast<char>(0x80U | (code >> shift & 0x3FU));
    };
    for (std::size_t at = 0; at < utf16.size(); at += 2) {
        unsigned code = pg_byte(utf16, at) << 8U | pg_byte(utf16, at + 1);
        if (code < 0x80) {
            to += static_cast<char>(code);
        } else if (code < 0x800) {
            to += static_cast<char>(0xC0U | code >> 6U);
            follow(code, 0);
        } else if (code >= 0xD800 && code < 0xDC00) {
            at += 2;
            unsigned const low = pg_byte(utf16, at) << 8U | pg_byte(utf16, at + 1);
            if (low < 0xDC00 || low >= 0xE000) { return false; }
            code = 0x10000U + ((code - 0xD800U) << 10U | (low - 0xDC00U));
            to += static_cast<char>(0xF0U | code >> 18U);
            follow(code, 12);
            follow(code, 6);
            follow(code, 0);
        } else if (code >= 0xDC00 && code < 0xE000) {
            return false;
        } else {
            unsigned const lead = 0xE0U | code >> 12U;
            to += static_cast<char>(lead >= 0xEE ? lead + 0x10U : lead);
            follow(code, 6);
            follow(code, 0);
        }
    }
    return utf16.size() % 2 == 0;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
