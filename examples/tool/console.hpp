// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What a command reads and writes: three streams, whether each is a terminal, and how to ask a person. Tests make one over strings.

#include <entitable/core/cancellation.hpp>
#include <entitable/core/result.hpp>

#include <cstddef>
#include <functional>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// The exit codes of the program.
enum class exit_code : int {
    success = 0,
    failure = 1,     ///< refused or failed
    usage = 2,       ///< the command line is wrong
    some_failed = 3, ///< some rows failed, the others were written
};

/// The surroundings of a command.
struct console {
    std::ostream& out;
    std::ostream& err;
    std::istream& in;
    bool in_is_terminal{};
    bool out_is_terminal{};
    bool err_is_terminal{}; ///< progress is shown on a terminal only
    std::size_t width{80};  ///< columns of the terminal
    bool colours{};         ///< false without a terminal, and with NO_COLOR

    /// Cancelled by Ctrl-C, once `handle_interrupt` was called. Otherwise Ctrl-C ends the program at once.
    entitable::cancellation_token interrupted{};
    std::function<void()> handle_interrupt{};
    /// Describes why `out` failed ("No space left on device"); empty while it is good.
    std::function<std::string()> output_error{};
    /// Whether whoever reads `out` closed it, as `| head` does: the command ends quietly.
    std::function<bool()> output_closed{};
    /// Value of an environment variable; null if it is not set.
    std::function<char const*(char const* name)> environment{};

    /// Whether a person can be asked.
    [[nodiscard]] bool can_ask() const noexcept { return in_is_terminal && err_is_terminal; }
    /// Asks on the standard error and reads a line: whether it is "y" or "yes".
    [[nodiscard]] bool ask(std::string_view question) const;
    /// Whether the reader of `out` is still there. Errors of a full disk are reported at the end, by `run_tool`.
    [[nodiscard]] bool can_write() const { return out.good(); }
};

/// Permits a change that deletes or overwrites: with `yes`, or after a question on a terminal. Errors: the refusal, which names --yes.
[[nodiscard]] entitable::result<void> confirm(console const& with, bool yes, std::string_view question);

/// Runs the program with these arguments, without the program's own name.
[[nodiscard]] exit_code run_tool(std::vector<std::string> const& arguments, console& with);

} // namespace tool
