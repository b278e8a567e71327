// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How a file of tables is copied while it is open, and how far a copy has come.

#include <entitable/core/function_ref.hpp>
#include <entitable/request/call.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE

/// How a copy of a file goes about it.
struct file_copy_options {
    call_options call{};              ///< how long the copy may take, and who may stop it
    std::uint64_t bytes_per_second{}; ///< of the copy, at most, while it keeps no writer waiting; 0: as many as it can
};

/// What a copy of a file has done.
struct file_copy_progress {
    std::uint64_t bytes{};    ///< that were copied; smaller than before when the copy began anew
    std::uint64_t total{};    ///< that there are; the size of the copy at the end
    std::uint64_t restarts{}; ///< how often the copy began anew, which it does with a rollback journal only
};

/// Hears of a copy after each slice of it. Called on the thread of the copy; may throw, which ends the copy and leaves nothing of it.
using file_copy_watcher = function_ref<void(file_copy_progress const&)>;

ENTITABLE_END_NAMESPACE
