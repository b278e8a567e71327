// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The bytes of a stream, with line and column, and the refused records.

#include <entitable/bulk/exchange/refused_line.hpp>
#include <entitable/core/result.hpp>

#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A position in a text: line and byte within it, both from 1.
struct text_position {
    std::uint64_t line{1};
    std::uint64_t column{1};
};

/// Reads a stream by blocks and counts lines. The stream must outlive the source.
class text_source {
public:
    explicit text_source(std::istream& in);

    /// Reads more if everything was taken; false at the end of the text, or after a failure.
    [[nodiscard]] bool has_more() { return at_ != end_ || fill(); }
    /// The next byte; requires `has_more()`.
    [[nodiscard]] char front() const noexcept { return block_[at_]; }
    /// The bytes that were read and not taken, up to the end of the block.
    [[nodiscard]] std::string_view rest() const noexcept { return {block_.get() + at_, end_ - at_}; }
    /// Takes bytes of `rest()`, none of which is a line feed except possibly the last.
    void take(std::size_t count) noexcept;

    [[nodiscard]] text_position position() const noexcept { return {line_, taken_ + at_ - line_begin_ + 1}; }
    /// Whether the stream failed, rather than ended.
    [[nodiscard]] bool failed() const { return in_->bad(); }
    /// Number of lines that were begun.
    [[nodiscard]] std::uint64_t lines() const noexcept { return line_ - (taken_ + at_ == line_begin_ ? 1 : 0); }
    /// Takes the UTF-8 byte order mark, if there is one. Errors: InvalidInput for the mark of UTF-16.
    [[nodiscard]] result<void> take_mark();

private:
    static constexpr std::size_t block_size = std::size_t{64} << 10U;
    [[nodiscard]] bool fill();

    std::istream* in_;
    std::unique_ptr<char[]> block_;
    std::size_t at_{};
    std::size_t end_{};
    std::uint64_t taken_{}; ///< bytes of earlier blocks
    std::uint64_t line_{1};
    std::uint64_t line_begin_{}; ///< offset of the first byte of the line
};

/// Outcome of reading the next record.
enum class intake : std::uint8_t {
    entity,  ///< the entity was filled
    refused, ///< the record is not an entity, or the stream failed
    end,     ///< there are no more records, or too many were refused
};

/// The fault of a record.
struct record_fault {
    text_position at;
    std::string name; ///< name of the column; empty for a malformed record
    error_code code{error_code::invalid_input};
    std::string message; ///< without the position
};

/// Counts records and keeps those that were refused.
class refused_records {
public:
    refused_records(std::uint64_t most, std::size_t keep, std::function<void(refused_line const&)> call)
        : most_(most), keep_(keep), call_(std::move(call)) {}

    /// Reports the record that was read last; returns its error. `lines`: its first and last line.
    [[nodiscard]] failure refuse(record_fault const& fault, std::uint64_t first_line, std::uint64_t last_line,
        std::string_view text, bool is_cut);
    /// Whether more records were refused than allowed.
    [[nodiscard]] bool too_many() const noexcept { return report_.refused > most_; }
    [[nodiscard]] read_report& report() noexcept { return report_; }
    [[nodiscard]] read_report const& report() const noexcept { return report_; }

private:
    std::uint64_t most_;
    std::size_t keep_;
    std::function<void(refused_line const&)> call_;
    read_report report_;
};

/// Makes the message of a fault: "line 3, column 7 (\"year\"): " and the text.
[[nodiscard]] std::string located(text_position at, std::string_view name, std::string_view message);

/// Makes the error StoreFailed of a stream that cannot be read.
[[nodiscard]] failure unreadable_text(text_position at);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/exchange/impl/text_source.ipp>
#endif
