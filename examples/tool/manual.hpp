// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The manual page and the completions of shells, made from the words of `--help`.

#include <CLI/CLI.hpp>

#include <ostream>
#include <string>
#include <string_view>

namespace tool {

/// What stands after an option in help and manual: "N" for numbers; empty for a flag.
[[nodiscard]] std::string value_name(CLI::Option const& option);

/// The first line of the description of a command, without a full stop.
[[nodiscard]] std::string summary_of(CLI::App const& command);

/// Writes the manual page in the language of man.
void write_manual(CLI::App const& app, std::ostream& out);

/// Writes the completion for "bash", "zsh" or "fish"; returns false for other shells.
[[nodiscard]] bool write_completion(CLI::App const& app, std::string_view shell, std::ostream& out);

} // namespace tool
