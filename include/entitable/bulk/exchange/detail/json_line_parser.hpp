// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Parses one line as a JSON object (RFC 8259), with the position of each value and of the first fault. Numbers stay text, so that none is
/// rounded.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A member of an object. Offsets of name and content are in the decoded bytes.
struct json_line_member {
    enum class kind : std::uint8_t { text, number, boolean, null, nested };

    std::size_t at{};       ///< offset of the name in the line
    std::size_t value_at{}; ///< offset of the value in the line
    std::size_t name_begin{};
    std::size_t name_end{};
    std::size_t begin{};
    std::size_t end{};
    kind is{kind::null};
};

/// Parses lines; reuses its memory.
class json_line_parser {
public:
    /// Parses an object; false for malformed JSON: see `fault_at` and `message`.
    [[nodiscard]] bool parse(std::string_view line);

    [[nodiscard]] std::vector<json_line_member> const& members() const noexcept { return members_; }
    [[nodiscard]] std::string_view name(json_line_member const& of) const noexcept {
        return std::string_view{bytes_}.substr(of.name_begin, of.name_end - of.name_begin);
    }
    /// Content of a string, without quotes and escapes, or the text of a number or a boolean.
    [[nodiscard]] std::string_view content(json_line_member const& of) const noexcept {
        return std::string_view{bytes_}.substr(of.begin, of.end - of.begin);
    }
    [[nodiscard]] std::size_t object_end() const noexcept { return object_end_; } ///< offset of the last brace
    [[nodiscard]] std::size_t fault_at() const noexcept { return fault_at_; }
    [[nodiscard]] std::string_view message() const noexcept { return message_; }

private:
    static constexpr std::size_t max_depth = 64;
    static constexpr std::size_t max_members = 10'000; ///< bounds the memory

    [[nodiscard]] bool fail(std::size_t at, std::string_view message) noexcept;
    void skip_spaces() noexcept;
    [[nodiscard]] bool take(char expected) noexcept;
    [[nodiscard]] bool take_object();
    [[nodiscard]] bool take_member();
    [[nodiscard]] bool take_string();
    [[nodiscard]] bool take_escape();
    [[nodiscard]] bool take_hexadecimal(std::uint32_t& to) noexcept;
    [[nodiscard]] bool take_number();
    [[nodiscard]] bool take_digits() noexcept;
    [[nodiscard]] bool take_value(json_line_member::kind& is, std::size_t depth);
    [[nodiscard]] bool take_nested(char close, std::size_t depth);

    std::string_view line_;
    std::size_t at_{};
    std::string bytes_;
    std::vector<json_line_member> members_;
    std::size_t object_end_{};
    std::size_t fault_at_{};
    std::string_view message_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/exchange/impl/json_line_parser.ipp>
#endif
