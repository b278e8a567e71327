// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Figures as text for a person: "150,000", "12.5 %", and tables whose columns are in line.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// With `decimals` digits after the point and a comma between thousands: "1,234.5". A value that is no number is "-".
[[nodiscard]] std::string figure(double value, int decimals = 0);
/// As few digits as say it to three places: "7,500", "8.75", "0.0123".
[[nodiscard]] std::string short_figure(double value);
/// A share from 0 to 1 as "12.5 %".
[[nodiscard]] std::string percent(double share, int decimals = 1);
/// Bytes as "512 B", "1.5 KiB", "3.2 GiB".
[[nodiscard]] std::string bytes_text(double bytes);
/// Seconds as "250 us", "12.5 ms", "3.2 s", "5 min", "4 h".
[[nodiscard]] std::string seconds_text(double seconds);
/// "1 partition", "5 partitions".
[[nodiscard]] std::string counted(double count, std::string_view one, std::string_view many);

/// Rows of cells with columns in line. A column is set flush right if every cell below the head begins like a figure.
class text_table {
public:
    explicit text_table(std::vector<std::string> head) : rows_{static_cast<std::vector<std::string>&&>(head)} {}
    void add(std::vector<std::string> cells) { rows_.push_back(static_cast<std::vector<std::string>&&>(cells)); }
    [[nodiscard]] std::vector<std::vector<std::string>> const& rows() const noexcept { return rows_; }
    /// Whether the cells of a column are figures.
    [[nodiscard]] bool is_numeric(std::size_t column) const noexcept;
    /// Each line indented by `indent` blanks and ended by a line end; no blanks at the end of a line.
    [[nodiscard]] std::string to_string(std::size_t indent = 0) const;

private:
    std::vector<std::vector<std::string>> rows_;
};

/// Code points of UTF-8 text.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;
/// `text` cut to `width` code points, with "..." where something was cut, and control characters made visible.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t width);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/figures.ipp>
#endif
