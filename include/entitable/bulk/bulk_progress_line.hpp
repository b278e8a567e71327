// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A watcher that prints: one line that changes on a terminal, a line now and then elsewhere.
///
///     entitable::bulk_insert(books, input, {.watch = entitable::bulk_progress_line{}});

#include <entitable/bulk/bulk_options.hpp>

#include <cstdio>

ENTITABLE_BEGIN_NAMESPACE

/// On one line: "45,000 of 100,000 rows (45 %), 9,000 a second, 0:06 left; 12 already there, 3 refused, 32 under way".
[[nodiscard]] std::string to_string(bulk_progress const& progress);

/// Prints how far a load is, and how it ended. A copy goes on where this one is. One thread at a time.
class bulk_progress_line {
public:
    /// `output` outlives it. Where that is no terminal a line is printed once in `every`.
    explicit bulk_progress_line(std::FILE* output = stderr, std::chrono::nanoseconds every = std::chrono::seconds{5});

    void operator()(bulk_progress const& progress); ///< prints, or waits for the next time

private:
    std::FILE* output_;
    std::chrono::nanoseconds every_;
    std::chrono::nanoseconds printed_{};
    std::size_t width_{}; ///< of the line on the terminal
    bool terminal_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/impl/bulk_progress_line.ipp>
#endif
