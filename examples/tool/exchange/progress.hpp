// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What commands that move data share: a line of progress with rate and time left, on a terminal only; questions about files; the state of
/// an interrupted command in a file.

#include "../console.hpp"
#include <entitable/core/load/bulk_options.hpp>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

namespace tool {

/// One line on the standard error that is rewritten. Prints nothing unless that is a terminal.
class progress_line {
public:
    explicit progress_line(console& with) : with_(&with) {}
    progress_line(progress_line const&) = delete;
    progress_line& operator=(progress_line const&) = delete;
    ~progress_line() { clear(); }

    /// Shows a text, cut to the width of the terminal.
    void show(std::string_view given);
    /// Shows "12,000 rows (40 %), 9,000 a second, 0:02 left", at most ten times a second. Without a total: without share and time left.
    void show_rows(std::uint64_t rows, std::optional<std::uint64_t> total);
    /// Removes the line.
    void clear();

private:
    console* with_;
    std::size_t shown_{};
    std::chrono::steady_clock::time_point begun_{std::chrono::steady_clock::now()};
    std::chrono::steady_clock::time_point drawn_{};
    std::optional<std::uint64_t> first_{}; ///< rows at the first call, which an earlier run may have done
};

/// A number with separators: 1,234,567.
[[nodiscard]] std::string grouped(std::uint64_t number);
/// A count with its noun: "1 row", "1,234 rows".
[[nodiscard]] std::string counted_rows(std::uint64_t number);

/// Permits to write a file: with `yes`, if it does not exist, or after a question. Errors: the refusal, which names --yes.
[[nodiscard]] entitable::result<void> confirm_overwrite(console const& with, bool yes, std::string const& path);

/// The identity of a store for the state of a command: different for other files, and without anything that could be a secret.
[[nodiscard]] std::string store_identity(std::string const& address);

/// Whether two addresses certainly name the same store: the same text, the same file, the same named memory.
[[nodiscard]] bool same_store(std::string const& one, std::string const& other);

/// A file to which lines are appended, and which can be cut back. Errors: StoreFailed, StoreFull.
class line_log {
public:
    explicit line_log(std::string path) : path_(std::move(path)) {}
    line_log(line_log const&) = delete;
    line_log& operator=(line_log const&) = delete;
    ~line_log();

    /// Opens the file, creates it if needed, and cuts it to its first `size` bytes.
    [[nodiscard]] entitable::result<void> open(std::uint64_t size);
    /// Appends a line. An error is returned by the next `flush`.
    void append(std::string_view line);
    /// Moves the lines to the disk, and returns the size of the file.
    [[nodiscard]] entitable::result<std::uint64_t> flush();
    /// Closes and removes the file.
    void remove();
    [[nodiscard]] std::string const& path() const noexcept { return path_; }

private:
    [[nodiscard]] entitable::failure failed(int number) const;
    std::string path_;
    std::FILE* file_{};
    int error_{};
};

} // namespace tool
