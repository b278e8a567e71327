// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Prints progress: one line that is updated on a terminal, otherwise a new line at intervals.
///
///     entitable::bulk_insert(books, input, {.watch = entitable::bulk_progress_line{}});

#include <entitable/core/load/bulk_options.hpp>

#include <cstdio>

ENTITABLE_BEGIN_NAMESPACE

/// Formats on one line: "45,000 of 100,000 rows (45 %), 9,000 a second, 0:06 left; 12 already there, 3 refused, 32 in flight".
[[nodiscard]] std::string to_string(bulk_progress const& progress);

/// Prints the progress of a load, and a final line. A copy of this object continues from the same state. Used by one thread at a time.
class bulk_progress_line {
public:
    /// `output` must outlive this object. On a terminal each call rewrites the line; otherwise a line is printed once per `every`, and at
    /// the end.
    explicit bulk_progress_line(std::FILE* output = stderr, std::chrono::nanoseconds every = std::chrono::seconds{5});

    void operator()(bulk_progress const& progress); ///< prints if a line is due

private:
    std::FILE* output_;
    std::chrono::nanoseconds every_;
    std::chrono::nanoseconds printed_{};
    std::size_t width_{}; ///< width of the line on the terminal
    bool terminal_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/impl/bulk_progress_line.ipp>
#endif
