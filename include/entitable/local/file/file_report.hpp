// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `file_report`: what a check of a whole file found.

#include <entitable/core/config.hpp>

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

ENTITABLE_END_NAMESPACE
