// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Records of CSV and lines of JSON: names and texts of fields, without types.

#include "text_input.hpp"
#include <entitable/core/edm_type.hpp>

#include <optional>

namespace tool {

/// How a field was written, which limits its type.
enum class field_form : std::uint8_t {
    absent,  ///< an empty field without quotes; null
    text,    ///< in quotes
    plain,   ///< a CSV field without quotes
    number,  ///< a number of JSON
    boolean, ///< true or false of JSON
};

/// A field of a record.
struct field {
    std::string_view name;                     ///< of a member of JSON; empty in CSV
    std::string_view text;                     ///< its content, valid until the next record is read
    field_form form{};                         ///< how it was written
    std::optional<entitable::edm_type> type{}; ///< type that the record itself names: `NAME@odata.type`
};

/// A text of records. Used by one thread.
class record_reader {
public:
    explicit record_reader(std::istream& in) : input_(in) {}
    virtual ~record_reader() = default;
    record_reader(record_reader const&) = delete;
    record_reader& operator=(record_reader const&) = delete;

    /// Reads the next record; false at the end. Empty lines are skipped.
    [[nodiscard]] virtual bool next() = 0;

    /// What is wrong with the record; empty if it is well-formed. A malformed record has no fields.
    [[nodiscard]] std::string const& fault() const noexcept { return fault_; }
    [[nodiscard]] std::vector<field> const& fields() const noexcept { return fields_; }
    [[nodiscard]] std::string_view raw() const noexcept { return raw_; }         ///< the record, with its line end
    [[nodiscard]] std::uint64_t line() const noexcept { return line_; }          ///< its first line, from 1
    [[nodiscard]] text_input const& input() const noexcept { return input_; }    ///< for position and failure
    [[nodiscard]] entitable::result<void> begin() { return input_.take_mark(); } ///< call once, first

protected:
    /// Takes a line as the record, or the beginning of a line that is too long; false at the end of the text.
    [[nodiscard]] bool take_line();
    /// Skips the rest of a line that is too long.
    void skip_cut_line();

    text_input input_;
    bool is_cut_{}; ///< the record is the beginning of a line
    std::string fault_;
    std::vector<field> fields_;
    std::string_view raw_;
    std::uint64_t line_{1};
};

/// Records of CSV (RFC 4180). A field in quotes may contain any byte. A quote within a field without quotes is an ordinary character. After
/// a fault of the quotes the next record begins on the next line.
class csv_records final : public record_reader {
public:
    csv_records(std::istream& in, char separator) : record_reader(in), separator_(separator) {}
    [[nodiscard]] bool next() override;

private:
    struct span {
        std::size_t begin;
        std::size_t end;
        bool quoted;
        bool doubled; ///< contains doubled quotes
    };
    enum class scan : std::uint8_t { whole, needs_more, malformed };
    [[nodiscard]] scan scan_record(std::string_view bytes, bool ended);
    void skip_line(std::string message);

    char separator_;
    std::vector<span> spans_;
    std::size_t size_{}; ///< of the record, with its line end
    std::string scan_fault_;
    std::vector<std::unique_ptr<std::string>> texts_; ///< contents of fields with doubled quotes
};

/// Lines of JSON, each an object of texts, numbers, booleans and null. A member NAME@odata.type is the type of the member NAME.
class json_records final : public record_reader {
public:
    explicit json_records(std::istream& in) : record_reader(in) {}
    [[nodiscard]] bool next() override;

private:
    [[nodiscard]] bool parse(std::string_view line);
    [[nodiscard]] bool parse_text(std::string_view& rest, std::string_view& out);
    [[nodiscard]] bool parse_scalar(std::string_view& rest, field& into);
    [[nodiscard]] bool add_types();
    [[nodiscard]] bool fail(std::string message);
    [[nodiscard]] std::string& new_text();

    std::vector<std::unique_ptr<std::string>> texts_; ///< unescaped texts
    std::size_t used_texts_{};
};

} // namespace tool
