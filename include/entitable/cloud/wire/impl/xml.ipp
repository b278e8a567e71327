// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/xml.hpp>
#include <entitable/core/detail/characters.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends a code point as UTF-8; false if it is invalid.
ENTITABLE_DECL bool append_xml_character(std::string& out, unsigned long point) {
    auto const put = [&out](unsigned long byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (point == 0 || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) { return false; }
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xC0U | point >> 6U);
        put(0x80U | (point & 0x3FU));
    } else {
        if (point < 0x10000) {
            put(0xE0U | point >> 12U);
        } else {
            put(0xF0U | point >> 18U);
            put(0x80U | (point >> 12U & 0x3FU));
        }
        put(0x80U | (point >> 6U & 0x3FU));
        put(0x80U | (point & 0x3FU));
    }
    return true;
}

/// Appends the character of an entity reference, given without & and ;.
ENTITABLE_DECL bool append_xml_entity(std::string& out, std::string_view name) {
    constexpr std::string_view names[] = {"amp", "lt", "gt", "quot", "apos"};
    constexpr std::string_view characters = "&<>\"'";
    for (std::size_t index = 0; index < characters.size(); ++index) {
        if (name == names[index]) {
            out += characters[index];
            return true;
        }
    }
    if (name.size() < 2 || name.size() > 8 || name[0] != '#') { return false; }
    bool const hexadecimal = name[1] == 'x';
    unsigned long point = 0;
    for (char const digit : name.substr(hexadecimal ? 2 : 1)) {
        int const value = hexadecimal_digit(digit);
        if (value < 0 || value >= (hexadecimal ? 16 : 10)) { return false; }
        point = point * (hexadecimal ? 16U : 10U) + static_cast<unsigned long>(value);
    }
    return append_xml_character(out, point);
}

ENTITABLE_DECL bool append_xml_unescaped(std::string& out, std::string_view text) {
    for (std::size_t mark = text.find('&'); mark != std::string_view::npos; mark = text.find('&')) {
        out.append(text.substr(0, mark));
        std::size_t const end = text.find(';', mark);
        if (end == std::string_view::npos || !append_xml_entity(out, text.substr(mark + 1, end - mark - 1))) {
            return false;
        }
        text.remove_prefix(end + 1);
    }
    out.append(text);
    return true;
}

ENTITABLE_DECL bool is_xml_blank(std::string_view text) noexcept {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

ENTITABLE_DECL bool read_xml(std::string_view document, xml_visitor visit) {
    constexpr std::size_t max_depth = 16;
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (document.starts_with(byte_order_mark)) { document.remove_prefix(byte_order_mark.size()); }
    std::string path;
    std::vector<std::string> texts; // names of the open elements
    bool over = false;
    while (!document.empty()) {
        std::size_t const mark = document.find('<');
        std::string_view const before = document.substr(0, mark);
        if (texts.empty() ? !is_xml_blank(before) : !append_xml_unescaped(texts.back(), before)) { return false; }
        if (mark == std::string_view::npos) { break; }
        document.remove_prefix(mark);
        bool const comment = document.starts_with("<!--");
        std::string_view const stop = comment ? "-->" : document.starts_with("<?") ? "?>" : ">";
        std::size_t const end = document.find(stop);
        if (end == std::string_view::npos || (!comment && document.starts_with("<!"))) { return false; }
        std::string_view tag = document.substr(1, end - 1);
        document.remove_prefix(end + stop.size());
        if (comment || stop == "?>") { continue; }
        bool const closes = tag.starts_with('/');
        bool const empty = tag.ends_with('/');
        tag.remove_prefix(closes ? 1 : 0);
        tag = tag.substr(0, tag.find_first_of(" \t\r\n/"));
        tag.remove_prefix(tag.find(':') == std::string_view::npos ? 0 : tag.find(':') + 1);
        if (tag.empty() || tag.size() > 64 || (closes && empty)) { return false; }
        if (!closes) {
            if (over || texts.size() == max_depth) { return false; }
            path.append(path.empty() ? "" : "/").append(tag);
            texts.emplace_back();
            visit(xml_event::opens, path, {});
        }
        if (closes || empty) {
            std::size_t const slash = path.rfind('/');
            std::string_view const open = std::string_view{path}.substr(slash == std::string::npos ? 0 : slash + 1);
            if (texts.empty() || open != tag) { return false; }
            visit(xml_event::closes, path, texts.back());
            texts.pop_back();
            path.resize(slash == std::string::npos ? 0 : slash);
            over = texts.empty();
        }
    }
    return over;
}

ENTITABLE_DECL void append_xml_text(std::string& out, std::string_view text) {
    for (char const character : text) {
        switch (character) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += character; break;
        }
    }
}

ENTITABLE_DECL void append_xml_element(std::string& out, std::string_view name, std::string_view text) {
    out.append("<").append(name) += '>';
    append_xml_text(out, text);
    out.append("</").append(name) += '>';
}

} // namespace detail
ENTITABLE_END_NAMESPACE
