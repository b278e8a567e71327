// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `svg_picture`: a drawing as SVG text, with tools for charts: scales, round values for an axis, and shades of heat.

#include <entitable/core/config.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Escapes text for HTML and SVG: markup is escaped, and characters that XML forbids are made visible.
[[nodiscard]] std::string escaped_html(std::string_view text);
/// Formats a number in a drawing: at most two decimals, with a point in every locale.
[[nodiscard]] std::string drawn_number(double value);
/// Formats a value on an axis: "0", "250", "1.5k", "20M".
[[nodiscard]] std::string axis_text(double value);
/// Returns about `count` round values in a range: 0, 500, 1,000.
[[nodiscard]] std::vector<double> round_values(double least, double most, int count);

/// Converts values to units of a drawing; a logarithmic scale supports only values greater than 0.
struct picture_scale {
    double least{};
    double most{1};
    double begin{};
    double end{1};
    bool logarithmic{};

    [[nodiscard]] double at(double value) const noexcept;
};

/// Alignment of a text relative to its point.
enum class text_anchor : unsigned char {
    start,
    middle,
    end,
};

/// One drawing. Colours are defined by the classes of the page's style. Used by one thread at a time.
class svg_picture {
public:
    using points = std::vector<std::pair<double, double>>;

    svg_picture(std::string_view id, std::string_view title, std::string_view description, double width, double height);

    void rect(double x, double y, double width, double height, std::string_view style, std::string_view hint = {});
    void line(double x1, double y1, double x2, double y2, std::string_view style);
    void polyline(points const& through, std::string_view style);
    void polygon(points const& around, std::string_view style);
    void dot(double x, double y, std::string_view style, std::string_view hint = {});
    void text(double x, double y, std::string_view words, text_anchor anchor = text_anchor::start,
        std::string_view style = {}, std::string_view hint = {});
    /// Draws round values of `y` as lines across `x`, with labels.
    void grid(picture_scale const& x, picture_scale const& y, std::string_view title, std::string (*words)(double));
    /// Draws round values of `x` below `y`.
    void ticks(picture_scale const& x, picture_scale const& y, std::string_view title, std::string (*words)(double));
    /// Draws cells of a grid in 7 shades: `value(row, column)`; row 0 is the lowest. The darkest shade is `most`; the steps are
    /// logarithmic.
    template <class Value>
    void heat(picture_scale const& x, picture_scale const& y, std::size_t rows, std::size_t columns, double most,
        Value value) {
        shades paths(7);
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t column = 0; column < columns;) {
                std::size_t const begin = column;
                std::size_t const shade = shade_of(value(row, column), most);
                while (column < columns && shade_of(value(row, column), most) == shade) {
                    ++column; // neighbouring cells of the same shade form one rectangle
                }
                if (shade > 0) { add_cells(paths[shade - 1], x, y, rows, columns, row, begin, column); }
            }
        }
        draw(paths);
    }
    [[nodiscard]] std::string finish() &&;

private:
    using shades = std::vector<std::string>;
    /// Returns 0 for zero, otherwise 1 to 7.
    [[nodiscard]] static std::size_t shade_of(double value, double most) noexcept;
    static void add_cells(std::string& path, picture_scale const& x, picture_scale const& y, std::size_t rows,
        std::size_t columns, std::size_t row, std::size_t begin, std::size_t end);
    void draw(shades const& paths);

    std::string out_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/report/impl/svg_picture.ipp>
#endif
