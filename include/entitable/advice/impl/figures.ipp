// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/figures.hpp>
#include <entitable/core/text.hpp>

#include <cmath>
#include <cstdio>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::string figure(double value, int decimals) {
    if (!std::isfinite(value)) { return "-"; }
    char digits[400];
    int const size = std::snprintf(digits, sizeof digits, "%.*f", decimals, std::fabs(value));
    std::string_view const text{digits, static_cast<std::size_t>(size)};
    std::size_t const whole = text.find('.') == std::string_view::npos ? text.size() : text.find('.');
    bool const is_zero = text.find_first_not_of("0.") == std::string_view::npos;
    std::string out{value < 0 && !is_zero ? "-" : ""};
    for (std::size_t index = 0; index < whole; ++index) {
        if (index > 0 && (whole - index) % 3 == 0) { out += ','; }
        out += text[index];
    }
    out += text.substr(whole);
    return out;
}

ENTITABLE_DECL std::string short_figure(double value) {
    double const size = std::fabs(value);
    int decimals = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    for (double smallest = 0.1; size < smallest && size > 0 && decimals < 9; smallest /= 10) { ++decimals; }
    std::string text = figure(value, decimals);
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') { text.pop_back(); }
    }
    return text;
}

ENTITABLE_DECL std::string percent(double share, int decimals) { return figure(100 * share, decimals) + " %"; }

ENTITABLE_DECL std::string bytes_text(double bytes) {
    constexpr std::string_view units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < std::size(units)) {
        bytes /= 1024;
        ++unit;
    }
    return short_figure(bytes) + std::string{units[unit]};
}

ENTITABLE_DECL std::string seconds_text(double seconds) {
    double const size = std::fabs(seconds);
    if (size == 0) { return "0 s"; }
    return size < 1e-3 ? short_figure(seconds * 1e6) + " us"
        : size < 1     ? short_figure(seconds * 1e3) + " ms"
        : size < 120   ? short_figure(seconds) + " s"
        : size < 7200  ? short_figure(seconds / 60) + " min"
                       : short_figure(seconds / 3600) + " h";
}

ENTITABLE_DECL std::string counted(double count, std::string_view one, std::string_view many) {
    return figure(count) + " " + std::string{count == 1 ? one : many};
}

ENTITABLE_DECL bool text_table::is_numeric(std::size_t column) const noexcept {
    for (std::size_t row = 1; row < rows_.size(); ++row) {
        std::string_view const cell = column < rows_[row].size() ? std::string_view{rows_[row][column]} : "";
        bool const is_figure = cell.empty() || cell == "-" || (cell[0] >= '0' && cell[0] <= '9') ||
            (cell.size() > 1 && (cell[0] == '-' || cell[0] == '<') && cell[1] >= '0' && cell[1] <= '9');
        if (!is_figure) { return false; }
    }
    return rows_.size() > 1;
}

ENTITABLE_DECL std::string text_table::to_string(std::size_t indent) const {
    std::vector<std::size_t> widths;
    for (auto const& row : rows_) {
        widths.resize(row.size() > widths.size() ? row.size() : widths.size());
        for (std::size_t column = 0; column < row.size(); ++column) {
            std::size_t const width = width_of(row[column]);
            widths[column] = width > widths[column] ? width : widths[column];
        }
    }
    std::string out;
    for (auto const& row : rows_) {
        std::string line(indent, ' ');
        for (std::size_t column = 0; column < row.size(); ++column) {
            std::string const fill(widths[column] - width_of(row[column]), ' ');
            line += column > 0 ? "  " : "";
            line += is_numeric(column) ? fill + row[column] : row[column] + fill;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    }
    return out;
}

ENTITABLE_DECL std::size_t width_of(std::string_view text) noexcept {
    std::size_t width = 0;
    for (char const byte : text) { width += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U ? 1U : 0U; }
    return width;
}

ENTITABLE_DECL std::string clipped(std::string_view text, std::size_t width) {
    std::string shown = text::printable(text);
    if (width_of(shown) <= width) { return shown; }
    std::string out;
    std::size_t taken = 0;
    for (char const byte : shown) {
        if ((static_cast<unsigned char>(byte) & 0xC0U) != 0x80U && ++taken + 3 > width) { break; }
        out += byte;
    }
    return out + "...";
}

} // namespace detail
ENTITABLE_END_NAMESPACE
