// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Writes entities as records of CSV, or as lines of JSON.

#include <entitable/bulk/exchange/csv_options.hpp>
#include <entitable/bulk/exchange/detail/text_column.hpp>

#include <ostream>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether this character can separate the fields of a CSV text.
[[nodiscard]] constexpr bool is_csv_separator(char separator) noexcept {
    return separator != '"' && separator != '\n' && separator != '\r';
}

/// Appends a field, in quotes if needed: an empty text, or one with a separator, a quote, a line end, or a space at either end.
void append_csv_field(std::string& out, std::string_view content, char separator);

/// Writes entities of one type as lines of a text.
class line_writer {
public:
    line_writer(std::ostream& out, text_columns columns) : out_(&out), columns_(columns) {}

    /// Begins a CSV text with its header. Errors: InvalidInput for an invalid separator.
    [[nodiscard]] result<void> begin_csv(csv_write_options const& options);
    /// Writes an entity as a record. Errors: OutOfRangeInput names the member without a text; StoreFailed.
    [[nodiscard]] result<void> write_csv_record(void const* entity);
    /// Writes an entity as a JSON object on a line of its own. Errors: as above.
    [[nodiscard]] result<void> write_json_line(void const* entity);
    /// Writes the rest of the text.
    [[nodiscard]] result<void> finish();
    [[nodiscard]] std::uint64_t written() const noexcept { return written_; }

private:
    /// Writes the buffer if it is large, or in any case if `all`.
    [[nodiscard]] result<void> pass_on(bool all);
    [[nodiscard]] failure no_text(text_column const& column) const;

    std::ostream* out_;
    text_columns columns_;
    csv_write_options options_;
    std::string buffer_;
    std::string content_;
    std::uint64_t written_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/exchange/impl/line_writer.ipp>
#endif
