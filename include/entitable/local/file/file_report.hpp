// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What operations on a whole file take and report: `file_report` of `verify`, options and progress of `copy_to`.

#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/call.hpp>

#include <cstdint>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The result of `verify`.
struct file_report {
    std::uint64_t rows{};                ///< number of rows read
    std::uint64_t bytes{};               ///< bytes of keys and values
    std::uint64_t damaged{};             ///< rows that differ from what was written
    std::vector<std::string> problems{}; ///< the first problems, as text; empty for a sound file
    [[nodiscard]] bool sound() const noexcept { return problems.empty(); } ///< whether there are no problems
};

/// Options of a copy of a file.
struct file_copy_options {
    call_options call{};              ///< timeout and cancellation of the copy
    std::uint64_t bytes_per_second{}; ///< speed limit while the copy blocks no writer; 0 for no limit
};

/// The progress of a copy of a file.
struct file_copy_progress {
    std::uint64_t bytes{};    ///< bytes copied so far; decreases if the copy starts over
    std::uint64_t total{};    ///< bytes to copy; at the end, the size of the copy
    std::uint64_t restarts{}; ///< number of restarts, which happen only with a rollback journal
};

/// Receives the progress after each slice. Called on the thread of the copy; may throw, which ends the copy and removes it.
using file_copy_progress_callback = function_ref<void(file_copy_progress const&)>;

ENTITABLE_END_NAMESPACE
