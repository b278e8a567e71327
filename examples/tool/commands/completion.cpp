// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../manual.hpp"

namespace tool {

void add_completion(command_list& all) {
    auto const shell = std::make_shared<std::string>();
    CLI::App& command = all.add("completion", "Print the completion of a shell",
        "source <(entitable completion bash)\n"
        "entitable completion zsh > ~/.zfunc/_entitable\n"
        "entitable completion fish > ~/.config/fish/completions/entitable.fish",
        [&all, shell](console& with) -> outcome {
            static_cast<void>(write_completion(all.app(), *shell, with.out));
            return exit_code::success;
        });
    command.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

} // namespace tool
