// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Entities as CSV (RFC 4180): `read_csv` and `write_csv`. The first line names the columns: the members of the keys, then the properties
/// under their stored names. A reference is two columns, `name_PartitionKey` and `name_RowKey`. ETags and Timestamps are not written.
///
///     std::ifstream file{"books.csv", std::ios::binary};
///     auto books = entitable::read_csv<book>(file).value();
///     auto report = entitable::bulk_insert(table, books).value().all();
///
/// - An empty field is an absent value, and `""` is an empty text. For a text or a binary that must be present both are the empty value. What
///   `write_csv` writes, `read_csv` reads back to equal entities.
/// - Numbers are decimal, with NaN, Infinity and -Infinity; a boolean is true or false (also TRUE or True); a time is
///   2026-01-31T12:00:00.1234567Z, or a day; a binary is base64; an enumeration has its name, or its number if it has no names.
/// - Lines end with LF or CR LF. A quoted field may contain any character, including line ends and NUL. A UTF-8 byte order mark is skipped.
/// - Every record that is not an entity is reported with line and column, and none is dropped: see `refused_line`.
///
/// Memory: one record and a block of 64 KiB. Open the streams in binary mode.

#include <entitable/bulk/exchange/csv_options.hpp>
#include <entitable/bulk/exchange/detail/csv_parser.hpp>
#include <entitable/bulk/exchange/detail/entity_range.hpp>
#include <entitable/bulk/exchange/detail/line_writer.hpp>
#include <entitable/bulk/exchange/detail/text_column.hpp>

#include <memory>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads a CSV text into entities of one type.
class csv_intake {
public:
    csv_intake(std::istream& in, csv_read_options const& options, text_columns columns);

    /// Reads the header. Errors: those of `read_csv`.
    [[nodiscard]] result<void> read_header();
    /// Fills a new entity from the next record; `why` becomes the error of a refused one.
    [[nodiscard]] intake next(void* entity, result<void>& why);

    [[nodiscard]] read_report const& report() {
        refused_.report().lines = parser_.source().lines();
        return refused_.report();
    }
    [[nodiscard]] std::vector<std::string> const& unknown() const noexcept { return unknown_; }
    [[nodiscard]] std::vector<std::string> const& missing() const noexcept { return missing_; }

private:
    [[nodiscard]] result<void> take_names();
    [[nodiscard]] std::optional<record_fault> fill(void* entity) const;
    [[nodiscard]] std::optional<record_fault> fill_column(
        void* entity, text_column const& column, csv_field const& field) const;
    [[nodiscard]] std::optional<record_fault> check_count() const;
    [[nodiscard]] std::optional<record_fault> check_pairs() const;
    [[nodiscard]] csv_field const* field_of(std::size_t column) const noexcept;
    [[nodiscard]] static bool is_absent(csv_field const* field) noexcept {
        return field == nullptr || (!field->quoted && field->begin == field->end);
    }

    csv_parser parser_;
    text_columns columns_;
    char separator_;
    entitable::reading reading_;
    refused_records refused_;
    std::vector<std::string> header_;
    std::vector<std::size_t> targets_; ///< column of each field of the header; the number of columns for an unknown one
    std::vector<std::size_t> sources_; ///< field of each column; the number of fields for a missing one
    std::vector<std::string> unknown_;
    std::vector<std::string> missing_;
    bool stopped_{};
};

} // namespace detail

/// The entities of a CSV text: a range of `result<Entity>`, for loops and bulk loads. A record that is not an entity is an error with line
/// and column; its index in the range is `refused_line::index`. The range can be passed once. It refers to the stream, and its iterators
/// refer to the reader, which must not be moved while an iterator is in use. Thread safety: one thread at a time.
template <mapped_entity Entity>
class csv_reader {
public:
    using value_type = result<Entity>; ///< an entity, or the error of a record

    /// Returns the position of the next record. After a move the range has one element, InvalidInput.
    [[nodiscard]] auto begin() { return detail::reader_iterator<csv_reader>{*this}; }
    /// Returns the end: the text has ended, more than `max_refused` records were refused, or the stream failed, which is the error
    /// StoreFailed before the end.
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

    /// Returns what was read so far. `ended` is false if the range ended before the text.
    [[nodiscard]] read_report report() const { return intake_ ? intake_->report() : read_report{}; }
    /// Returns the columns of the header that the entity does not have. They are ignored.
    [[nodiscard]] std::vector<std::string> unknown_columns() const {
        return intake_ ? intake_->unknown() : std::vector<std::string>{};
    }
    /// Returns the columns of the entity that the header does not have.
    [[nodiscard]] std::vector<std::string> missing_columns() const {
        return intake_ ? intake_->missing() : std::vector<std::string>{};
    }

private:
    template <mapped_entity Other>
    friend result<csv_reader<Other>> read_csv(std::istream& in, csv_read_options const& options);
    friend detail::reader_iterator<csv_reader>;

    csv_reader() = default;
    [[nodiscard]] value_type& current() noexcept { return current_; }
    [[nodiscard]] bool read_next() {
        return detail::read_next_entity(intake_.get(), current_, was_refused_, "csv_reader");
    }

    std::unique_ptr<detail::csv_intake> intake_;
    value_type current_{Entity{}};
    bool was_refused_{};
};

/// Reads the header of a CSV text, and returns the range of its entities. Errors: InvalidInput for a missing or
/// malformed header, a repeated column, UTF-16, or an invalid separator; RowMismatch names columns that are missing, or, with
/// `reading::strict`, unknown; StoreFailed if the stream cannot be read.
template <mapped_entity Entity>
[[nodiscard]] result<csv_reader<Entity>> read_csv(std::istream& in, csv_read_options const& options = {}) {
    csv_reader<Entity> made;
    made.intake_ = std::make_unique<detail::csv_intake>(in, options, detail::columns_of_entity<Entity>::columns);
    if (auto read = made.intake_->read_header(); !read) { return std::move(read).as_failure(); }
    return made;
}

/// Writes entities as CSV, with a header, and returns their number. `rows` is a range of entities, or of results of entities: a query, a
/// vector, a reader. Errors: the first error of the range; OutOfRangeInput names a member whose value has no text; InvalidInput for an
/// invalid separator; StoreFailed if the stream cannot be written. After an error the text is incomplete.
template <class Range>
    requires detail::range_of_entities<Range>
[[nodiscard]] result<std::uint64_t> write_csv(std::ostream& out, Range&& rows, csv_write_options const& options = {}) {
    detail::line_writer writer{out, detail::columns_of_entity<detail::exchanged_entity<Range>>::columns};
    ENTITABLE_CHECK(writer.begin_csv(options));
    ENTITABLE_CHECK(detail::write_each(rows, [&](auto const& each) { return writer.write_csv_record(&each); }));
    ENTITABLE_CHECK(writer.finish());
    return writer.written();
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/exchange/impl/csv_intake.ipp>
#endif
