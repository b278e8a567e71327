// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The bytes of a file or of the standard input, record by record, in a buffer that always contains a whole record.

#include <entitable/core/result.hpp>

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// Maximum size of a record; a longer one is refused.
inline constexpr std::size_t max_record = std::size_t{8} << 20U;

/// A text that is read once, forwards.
class text_input {
public:
    /// Reads an open stream, which must outlive the input.
    explicit text_input(std::istream& in) : in_(&in), buffer_(block) {}

    /// The bytes that were read and not taken.
    [[nodiscard]] std::string_view rest() const noexcept { return {buffer_.data() + begin_, end_ - begin_}; }
    /// Reads more bytes; false at the end of the text. Moves the buffer: views of `rest()` become invalid.
    [[nodiscard]] bool read_more();
    /// Takes bytes of `rest()`. They stay valid until `read_more`.
    void take(std::size_t count) noexcept;
    /// Takes bytes that contain `line_ends` line ends.
    void take(std::size_t count, std::uint64_t line_ends) noexcept {
        begin_ += count;
        offset_ += count;
        line_ += line_ends;
    }
    /// Takes the byte order mark, if there is one. Errors: InvalidInput for the mark of UTF-16.
    [[nodiscard]] entitable::result<void> take_mark();

    [[nodiscard]] std::uint64_t line() const noexcept { return line_; }     ///< of the next byte, from 1
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; } ///< of the next byte
    [[nodiscard]] bool failed() const noexcept { return failed_; }          ///< the text could not be read to its end

private:
    static constexpr std::size_t block = std::size_t{256} << 10U;

    std::istream* in_;
    std::vector<char> buffer_;
    std::size_t begin_{};
    std::size_t end_{};
    std::uint64_t offset_{};
    std::uint64_t line_{1};
    bool ended_{};
    bool failed_{};
};

} // namespace tool
