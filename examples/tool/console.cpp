// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "console.hpp"

#include "commands.hpp"

namespace tool {

bool console::ask(std::string_view question) const {
    err << question << " [y/N] " << std::flush;
    std::string line;
    if (!std::getline(in, line)) { return false; }
    return line == "y" || line == "Y" || line == "yes";
}

entitable::result<void> confirm(console const& with, bool yes, std::string_view question) {
    if (yes) { return {}; }
    if (with.can_ask()) {
        if (with.ask(question)) { return {}; }
        return refuse("nothing was changed");
    }
    return refuse("nobody can be asked \"" + std::string{question} + "\": repeat the command with --yes");
}

} // namespace tool
