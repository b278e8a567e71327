// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Human-readable texts of values and rows, bounded in size. `<entitable/print.hpp>` uses them to print entities.

#include <entitable/core/row/row.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Longest text or binary that is printed as a whole, in bytes. Longer values are cut between characters, and their
/// size follows.
inline constexpr std::size_t max_printed_text = 100;
/// Does the same for a binary.
inline constexpr std::size_t max_printed_binary = 32;

/// Appends a quoted text. Quotes, backslashes and control characters are escaped as in C++, and so are bytes that are not UTF-8. A long
/// text is cut: `"Lorem ipsum..." (1234 bytes)`.
ENTITABLE_LAZY void append_quoted(std::string& out, std::string_view text);
/// Appends a binary in hexadecimal: `X'00ff'`, `X'00ff...' (1234 bytes)`.
ENTITABLE_LAZY void append_hexadecimal(std::string& out, std::string_view bytes);
/// Appends a value: text and binary as above, times with as few digits as needed, numbers with a point if they are not integers.
ENTITABLE_LAZY void append_printed(std::string& out, value_view printed);
/// Appends both keys: `"Boston" / "BIB:00012"`.
ENTITABLE_LAZY void append_printed_keys(std::string& out, std::string_view partition_key, std::string_view row_key);
/// Appends the keys and properties of a row, without its version: `"Boston" / "BIB:00012" {name: "Ann", hours: absent}`. The text of damaged
/// bytes ends where the damage begins, with `damaged`.
ENTITABLE_LAZY void append_printed(std::string& out, row_view const& printed);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/row/impl/printed.ipp>
#endif
