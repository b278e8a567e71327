// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Formats numbers as readable text: "150,000", "12.5 %", and tables with aligned columns.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Formats with `decimals` digits after the point and a comma between thousands: "1,234.5". NaN is "-".
[[nodiscard]] std::string figure(double value, int decimals = 0);
/// Formats with three significant digits: "7,500", "8.75", "0.0123".
[[nodiscard]] std::string short_figure(double value);
/// Formats a share from 0 to 1 as "12.5 %".
[[nodiscard]] std::string percent(double share, int decimals = 1);
/// Formats bytes as "512 B", "1.5 KiB", "3.2 GiB".
[[nodiscard]] std::string bytes_text(double bytes);
/// Formats seconds as "250 us", "12.5 ms", "3.2 s", "5 min", "4 h".
[[nodiscard]] std::string seconds_text(double seconds);
/// Formats "1 partition", "5 partitions".
[[nodiscard]] std::string counted(double count, std::string_view one, std::string_view many);

/// Rows of cells with aligned columns. A column is right-aligned if every cell below the head begins like a number, or is a bound like <0.01.
class text_table {
public:
    explicit text_table(std::vector<std::string> head) : rows_{static_cast<std::vector<std::string>&&>(head)} {}
    void add(std::vector<std::string> cells) { rows_.push_back(static_cast<std::vector<std::string>&&>(cells)); }
    [[nodiscard]] std::vector<std::vector<std::string>> const& rows() const noexcept { return rows_; }
    /// Whether the cells of a column are numbers.
    [[nodiscard]] bool is_numeric(std::size_t column) const noexcept;
    /// Returns the lines, indented by `indent` blanks and without trailing blanks.
    [[nodiscard]] std::string to_string(std::size_t indent = 0) const;

private:
    std::vector<std::vector<std::string>> rows_;
};

/// Counts code points of UTF-8 text.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;
/// Returns `text` shortened to `width` code points, with "..." if it was shortened, and control characters made visible.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t width);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/figures.ipp>
#endif
