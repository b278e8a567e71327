// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Splits a text in the form of RFC 4180 into records and fields. A field is quoted or not, which distinguishes an empty text from an
/// absent value. Any byte may be in a quoted field; memory is bounded by the maximum size of a record.

#include <entitable/bulk/exchange/detail/text_source.hpp>

#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A field of a record.
struct csv_field {
    text_position at;
    std::size_t begin{}; ///< offset in the bytes of the record
    std::size_t end{};
    bool quoted{};
};

/// Reads records. After a fault of the quotes, the next record begins on the next line.
class csv_parser {
public:
    csv_parser(std::istream& in, char separator, std::size_t max_record)
        : source_(in), separator_(separator), max_record_(max_record) {}

    /// Reads the next record; false at the end of the text, or if the stream failed. Skips empty lines unless `keep_empty`.
    [[nodiscard]] bool next(bool keep_empty);

    /// The fault of the record, if it is malformed: then it has no fields.
    [[nodiscard]] std::optional<record_fault> const& fault() const noexcept { return fault_; }
    [[nodiscard]] std::vector<csv_field> const& fields() const noexcept { return fields_; }
    /// Content of a field, without its quotes.
    [[nodiscard]] std::string_view content(csv_field const& of) const noexcept {
        return std::string_view{bytes_}.substr(of.begin, of.end - of.begin);
    }
    [[nodiscard]] std::string_view raw() const noexcept { return raw_; } ///< the record as it was read
    [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }
    [[nodiscard]] std::uint64_t first_line() const noexcept { return first_line_; }
    [[nodiscard]] std::uint64_t last_line() const noexcept { return last_line_; }
    [[nodiscard]] text_position end_of_record() const noexcept { return end_; } ///< position of the line end
    [[nodiscard]] text_source& source() noexcept { return source_; }

private:
    enum class after : std::uint8_t { field, record };
    static constexpr std::size_t max_fields = 10'000; ///< bounds the memory for a record of separators

    void complain(text_position at, std::string message);
    void take(std::size_t count);
    void take_to(std::string& bytes, std::size_t count);
    /// Reads a field and the separator or the line end after it.
    [[nodiscard]] after read_field();
    void read_quoted(csv_field& field);
    void read_plain();
    [[nodiscard]] after read_end_of_field(bool quoted);
    [[nodiscard]] bool take_line_end();
    void skip_line();

    text_source source_;
    char separator_;
    std::size_t max_record_;
    std::string raw_;
    std::string bytes_;
    std::vector<csv_field> fields_;
    std::optional<record_fault> fault_;
    std::uint64_t first_line_{};
    std::uint64_t last_line_{};
    text_position end_;
    bool is_cut_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/exchange/impl/csv_parser.ipp>
#endif
