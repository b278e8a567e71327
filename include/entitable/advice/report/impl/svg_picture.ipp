// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/report/detail/svg_picture.hpp>
#include <entitable/core/text.hpp>

#include <cmath>
#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::string escaped_html(std::string_view text) {
    std::string out;
    for (char const each : text::printable(text)) {
        switch (each) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += each;
        }
    }
    // XML does not allow U+FFFE and U+FFFF.
    for (std::string_view const none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
        for (std::size_t at = out.find(none); at != std::string::npos; at = out.find(none, at)) {
            out.replace(at, none.size(), 1, '?');
        }
    }
    return out;
}

ENTITABLE_DECL std::string drawn_number(double value) {
    if (!std::isfinite(value) || std::fabs(value) > 1e9) { return "0"; }
    auto const hundredths = static_cast<std::int64_t>(std::llround(std::fabs(value) * 100));
    std::string out = (value < 0 && hundredths > 0 ? "-" : "") + std::to_string(hundredths / 100);
    if (std::int64_t const rest = hundredths % 100; rest > 0) {
        out += '.';
        out += static_cast<char>('0' + rest / 10);
        if (rest % 10 > 0) { out += static_cast<char>('0' + rest % 10); }
    }
    return out;
}

ENTITABLE_DECL std::string axis_text(double value) {
    constexpr std::string_view units[] = {"", "k", "M", "G", "T", "P"};
    std::size_t unit = 0;
    while (std::fabs(value) >= 1000 && unit + 1 < std::size(units)) {
        value /= 1000;
        ++unit;
    }
    return drawn_number(value) + std::string{units[unit]};
}

ENTITABLE_DECL std::vector<double> round_values(double least, double most, int count) {
    std::vector<double> out;
    if (!(most > least) || count < 1) {
        out.push_back(least);
        return out;
    }
    double const rough = (most - least) / count;
    double const power = std::pow(10.0, std::floor(std::log10(rough)));
    double const part = rough / power;
    double const step = power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
    for (double index = std::ceil(least / step - 1e-9); index * step <= most + step * 1e-9; ++index) {
        out.push_back(index * step);
    }
    return out;
}

ENTITABLE_DECL double picture_scale::at(double value) const noexcept {
    double const part = logarithmic ? (std::log(value) - std::log(least)) / (std::log(most) - std::log(least))
                                    : (value - least) / (most - least);
    return std::isfinite(part) ? begin + part * (end - begin) : begin;
}

ENTITABLE_DECL svg_picture::svg_picture(
    std::string_view id, std::string_view title, std::string_view description, double width, double height) {
    std::string const name{id};
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"" + name + "-t " + name +
        "-d\" viewBox=\"0 0 " + drawn_number(width) + ' ' + drawn_number(height) + "\">\n<title id=\"" + name +
        "-t\">" + escaped_html(title) + "</title>\n<desc id=\"" + name + "-d\">" + escaped_html(description) +
        "</desc>\n";
}

ENTITABLE_DECL void svg_picture::rect(
    double x, double y, double width, double height, std::string_view style, std::string_view hint) {
    out_ += "<rect x=\"" + drawn_number(x) + "\" y=\"" + drawn_number(y) + "\" width=\"" + drawn_number(width) +
        "\" height=\"" + drawn_number(height) + "\" class=\"" + std::string{style} + '"';
    out_ += hint.empty() ? "/>\n" : "><title>" + escaped_html(hint) + "</title></rect>\n";
}

ENTITABLE_DECL void svg_picture::line(double x1, double y1, double x2, double y2, std::string_view style) {
    out_ += "<line x1=\"" + drawn_number(x1) + "\" y1=\"" + drawn_number(y1) + "\" x2=\"" + drawn_number(x2) +
        "\" y2=\"" + drawn_number(y2) + "\" class=\"" + std::string{style} + "\"/>\n";
}

ENTITABLE_DECL void svg_picture::polyline(points const& through, std::string_view style) {
    out_ += "<polyline class=\"" + std::string{style} + "\" points=\"";
    for (auto const& [x, y] : through) { out_ += drawn_number(x) + ',' + drawn_number(y) + ' '; }
    out_ += "\"/>\n";
}

ENTITABLE_DECL void svg_picture::polygon(points const& around, std::string_view style) {
    out_ += "<polygon class=\"" + std::string{style} + "\" points=\"";
    for (auto const& [x, y] : around) { out_ += drawn_number(x) + ',' + drawn_number(y) + ' '; }
    out_ += "\"/>\n";
}

ENTITABLE_DECL void svg_picture::dot(double x, double y, std::string_view style, std::string_view hint) {
    out_ += "<circle cx=\"" + drawn_number(x) + "\" cy=\"" + drawn_number(y) + "\" r=\"4\" class=\"" +
        std::string{style} + '"';
    out_ += hint.empty() ? "/>\n" : "><title>" + escaped_html(hint) + "</title></circle>\n";
}

ENTITABLE_DECL void svg_picture::text(
    double x, double y, std::string_view words, text_anchor anchor, std::string_view style, std::string_view hint) {
    constexpr std::string_view anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    out_ += "<text x=\"" + drawn_number(x) + "\" y=\"" + drawn_number(y) + '"' +
        std::string{anchors[static_cast<std::size_t>(anchor)]};
    if (!style.empty()) { out_ += " class=\"" + std::string{style} + '"'; }
    out_ += '>';
    if (!hint.empty()) { out_ += "<title>" + escaped_html(hint) + "</title>"; }
    out_ += escaped_html(words) + "</text>\n";
}

ENTITABLE_DECL void svg_picture::grid(
    picture_scale const& x, picture_scale const& y, std::string_view title, std::string (*words)(double)) {
    std::vector<double> values;
    if (y.logarithmic) {
        for (double value = y.least; value <= y.most * 1.001; value *= 10) { values.push_back(value); }
    } else {
        values = round_values(y.least, y.most, y.begin - y.end > 150 ? 5 : 3);
    }
    for (double const value : values) {
        line(x.begin, y.at(value), x.end, y.at(value), value == y.least ? "axis" : "grid");
        text(x.begin - 6, y.at(value) + 4, words(value), text_anchor::end);
    }
    text(2, y.end - 13, title, text_anchor::start, "name");
}

ENTITABLE_DECL void svg_picture::ticks(
    picture_scale const& x, picture_scale const& y, std::string_view title, std::string (*words)(double)) {
    for (double const value : round_values(x.least, x.most, 5)) {
        line(x.at(value), y.begin, x.at(value), y.begin + 4, "axis");
        text(x.at(value), y.begin + 20, words(value), text_anchor::middle);
    }
    text(x.end, y.begin + 37, title, text_anchor::end, "name");
}

ENTITABLE_DECL std::size_t svg_picture::shade_of(double value, double most) noexcept {
    if (!(value > 0) || !(most > 0)) { return 0; }
    double const part = std::log1p(value) / std::log1p(most);
    return part >= 1 ? 7 : 1 + static_cast<std::size_t>(part * 7);
}

ENTITABLE_DECL void svg_picture::add_cells(std::string& path, picture_scale const& x, picture_scale const& y,
    std::size_t rows, std::size_t columns, std::size_t row, std::size_t begin, std::size_t end) {
    auto const across = [&](std::size_t column) {
        return x.begin + (x.end - x.begin) * static_cast<double>(column) / static_cast<double>(columns);
    };
    auto const up = [&](std::size_t of) {
        return y.begin + (y.end - y.begin) * static_cast<double>(of) / static_cast<double>(rows);
    };
    path += 'M' + drawn_number(across(begin)) + ' ' + drawn_number(up(row)) + 'H' + drawn_number(across(end)) + 'V' +
        drawn_number(up(row + 1)) + 'H' + drawn_number(across(begin)) + 'Z';
}

ENTITABLE_DECL void svg_picture::draw(shades const& paths) {
    for (std::size_t shade = 0; shade < paths.size(); ++shade) {
        if (!paths[shade].empty()) {
            out_ += "<path class=\"q" + std::to_string(shade + 1) + "\" d=\"" + paths[shade] + "\"/>\n";
        }
    }
}

ENTITABLE_DECL std::string svg_picture::finish() && {
    out_ += "</svg>\n";
    return std::move(out_);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
