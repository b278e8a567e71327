// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Entities as JSON lines: `read_json_lines` and `write_json_lines`. Each line is one JSON object, whose members are the members of the
/// keys, then the properties under their stored names. A reference is two members, `name_PartitionKey` and `name_RowKey`. ETags and
/// Timestamps are not written.
///
///     std::ifstream file{"books.jsonl", std::ios::binary};
///     auto books = entitable::read_json_lines<book>(file);
///     auto report = entitable::bulk_insert(table, books).value().all();
///
/// - An absent value is not written; `null` is also read as absent. What `write_json_lines` writes, `read_json_lines` reads back to equal
///   entities.
/// - Numbers are written with all digits. An integer of 64 bits is a JSON number, which JavaScript rounds above 2^53; a string of digits is
///   read as well. NaN, Infinity and -Infinity are strings, and so are times (2026-01-31T12:00:00.1234567Z), GUIDs, binaries (base64) and
///   enumerations with names.
/// - Empty lines and a UTF-8 byte order mark are skipped. A duplicate member is refused.
/// - Every line that is not an entity is reported with line and column, and none is dropped: see `refused_line`.
///
/// Memory: one line and a block of 64 KiB. Open the streams in binary mode.

#include <entitable/bulk/exchange/detail/entity_range.hpp>
#include <entitable/bulk/exchange/detail/json_line_parser.hpp>
#include <entitable/bulk/exchange/detail/line_writer.hpp>
#include <entitable/bulk/exchange/detail/text_column.hpp>
#include <entitable/bulk/exchange/detail/text_source.hpp>
#include <entitable/bulk/exchange/refused_line.hpp>
#include <entitable/core/row/reading.hpp>

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Options of `read_json_lines`.
struct json_lines_options {
    /// `standard` ignores members of an object that the entity does not have. `strict` refuses such objects. `lenient` leaves a property
    /// at its initial value if the object does not have it.
    entitable::reading reading{entitable::reading::standard};
    std::uint64_t max_refused{
        (std::numeric_limits<std::uint64_t>::max)()}; ///< one more ends the reading; 0 ends at the first refused line
    std::size_t keep_refused{1'000};                  ///< maximum number of refused lines in the report
    std::size_t max_record{std::size_t{8} << 20U};    ///< maximum size of a line in bytes; a longer one is refused
    std::function<void(refused_line const&)> on_refused{}; ///< called with each refused line, as it is refused
};

namespace detail {

/// Reads lines of JSON into entities of one type.
class json_intake {
public:
    json_intake(std::istream& in, json_lines_options const& options, text_columns columns);

    /// Fills a new entity from the next line that is not empty; `why` becomes the error of a refused line.
    [[nodiscard]] intake next(void* entity, result<void>& why);

    [[nodiscard]] read_report const& report() {
        refused_.report().lines = source_.lines();
        return refused_.report();
    }

private:
    [[nodiscard]] bool read_line();
    [[nodiscard]] std::optional<record_fault> fill(void* entity);
    [[nodiscard]] std::optional<record_fault> fill_member(void* entity, json_line_member const& member);
    [[nodiscard]] std::optional<record_fault> fill_missing(void* entity);
    [[nodiscard]] std::size_t column_of(std::string_view name) noexcept;
    [[nodiscard]] record_fault misfit(std::size_t offset, std::string name, std::string message) const;

    text_source source_;
    text_columns columns_;
    entitable::reading reading_;
    std::size_t max_record_;
    refused_records refused_;
    json_line_parser parser_;
    std::string line_;
    std::uint64_t number_{};      ///< number of the line
    std::vector<char> present_;   ///< for each column: whether the object has the member, and not null
    std::vector<char> mentioned_; ///< for each column: whether the object has the member
    std::size_t expected_{};      ///< the column after that of the previous member
    bool began_{};
    bool is_cut_{};
    bool stopped_{};
};

} // namespace detail

/// The entities of a text of JSON lines: a range of `result<Entity>`, for loops and bulk loads. A line that is not an entity is an error
/// with line and column; its index in the range is `refused_line::index`. The range can be passed once. It refers to the stream, and its
/// iterators refer to the reader, which must not be moved while an iterator is in use. Thread safety: one thread at a time.
template <mapped_entity Entity>
class json_lines_reader {
public:
    using value_type = result<Entity>; ///< an entity, or the error of a line

    /// Returns the position of the next line. After a move the range has one element, InvalidInput.
    [[nodiscard]] auto begin() { return detail::reader_iterator<json_lines_reader>{*this}; }
    /// Returns the end: the text has ended, more than `max_refused` lines were refused, or the stream failed, which is the error
    /// StoreFailed before the end. A text in UTF-16 is the error InvalidInput before the end.
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

    /// Returns what was read so far. `ended` is false if the range ended before the text.
    [[nodiscard]] read_report report() const { return intake_ ? intake_->report() : read_report{}; }

private:
    template <mapped_entity Other>
    friend json_lines_reader<Other> read_json_lines(std::istream& in, json_lines_options const& options);
    friend detail::reader_iterator<json_lines_reader>;

    explicit json_lines_reader(std::unique_ptr<detail::json_intake> intake) : intake_(std::move(intake)) {}
    [[nodiscard]] value_type& current() noexcept { return current_; }
    [[nodiscard]] bool read_next() {
        return detail::read_next_entity(intake_.get(), current_, was_refused_, "json_lines_reader");
    }

    std::unique_ptr<detail::json_intake> intake_;
    value_type current_{Entity{}};
    bool was_refused_{};
};

/// Returns the range of the entities of a text of JSON lines. Reading starts when the range is iterated.
template <mapped_entity Entity>
[[nodiscard]] json_lines_reader<Entity> read_json_lines(std::istream& in, json_lines_options const& options = {}) {
    return json_lines_reader<Entity>{
        std::make_unique<detail::json_intake>(in, options, detail::columns_of_entity<Entity>::columns)};
}

/// Writes entities as JSON lines, and returns their number. `rows` is a range of entities, or of results of entities: a query, a vector, a
/// reader. Errors: the first error of the range; OutOfRangeInput names a member whose value has no text; StoreFailed if the stream cannot
/// be written. After an error the text is incomplete.
template <class Range>
    requires detail::range_of_entities<Range>
[[nodiscard]] result<std::uint64_t> write_json_lines(std::ostream& out, Range&& rows) {
    detail::line_writer writer{out, detail::columns_of_entity<detail::exchanged_entity<Range>>::columns};
    ENTITABLE_CHECK(detail::write_each(rows, [&](auto const& each) { return writer.write_json_line(&each); }));
    ENTITABLE_CHECK(writer.finish());
    return writer.written();
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/exchange/impl/json_intake.ipp>
#endif
