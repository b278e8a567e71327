// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What put, merge and delete have in common.

#include "commands.hpp"

#include <optional>

namespace tool {

/// The three ways to write.
enum class writing : std::uint8_t { put, merge, remove };

/// The rows to write: one by its keys, or JSON lines on the standard input.
struct write_options {
    std::string store;
    std::string table;
    std::optional<std::string> partition;
    std::optional<std::string> row;
    std::vector<std::string> set; ///< NAME=VALUE, NAME:TYPE=VALUE
    std::string if_match;
    bool create{};
    bool dry_run{};
    bool yes{};
    bool unmaintained{};
};

/// Adds the options that `how` has.
void add_write_options(CLI::App& command, writing how, write_options& given);

/// Writes the rows. Returns `some_failed` if some lines were refused.
[[nodiscard]] outcome write_rows(writing how, write_options const& given, console& with);

} // namespace tool
