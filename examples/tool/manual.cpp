// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "manual.hpp"

#include <string>
#include <vector>

namespace tool {

std::string summary_of(CLI::App const& command) {
    std::string text = command.get_description().substr(0, command.get_description().find('\n'));
    if (text.ends_with('.')) { text.pop_back(); }
    return text;
}

std::string value_name(CLI::Option const& option) {
    if (option.get_expected_max() == 0) { return {}; }
    std::string const type = option.get_type_name().substr(0, option.get_type_name().find(':'));
    if (type == "UINT" || type == "INT") { return "N"; }
    return type.empty() || type == "TEXT" ? "VALUE" : type;
}

namespace {

/// Text of a manual page: a backslash, and a dot or quote at the start of a line, are commands of roff; a hyphen would become a dash.
std::string roff(std::string_view text) {
    std::string made;
    for (char const each : text) {
        if (each == '\\') {
            made += "\\e";
        } else if (each == '-') {
            made += "\\-";
        } else if ((each == '.' || each == '\'') && (made.empty() || made.back() == '\n')) {
            made += "\\&";
            made += each;
        } else {
            made += each;
        }
    }
    return made;
}

std::vector<CLI::App const*> commands_of(CLI::App const& app) {
    std::vector<CLI::App const*> all;
    for (CLI::App const* each : app.get_subcommands({})) { all.push_back(each); }
    return all;
}

std::vector<CLI::Option const*> options_of(CLI::App const& command, bool positional) {
    std::vector<CLI::Option const*> found;
    for (CLI::Option const* each : command.get_options()) {
        if (each->get_positional() == positional) { found.push_back(each); }
    }
    return found;
}

std::string usage_of(CLI::App const& command) {
    std::string text = "entitable " + command.get_name();
    for (CLI::Option const* each : options_of(command, true)) {
        std::string const name = each->get_name(true);
        text += each->get_required() ? " " + name : " [" + name + "]";
    }
    return text + " [options]";
}

/// Names of long options, with their dashes.
std::vector<std::string> long_names(CLI::App const& command) {
    std::vector<std::string> names;
    for (CLI::Option const* each : command.get_options()) {
        for (std::string const& name : each->get_lnames()) { names.push_back("--" + name); }
    }
    return names;
}

/// Quotes a text for sh, zsh and fish.
std::string shell_quoted(std::string_view text) {
    std::string made = "'";
    for (char const each : text) { each == '\'' ? made += "'\\''" : made += each; }
    return made + "'";
}

/// A description in zsh's form `name:description`: a colon ends the name.
std::string described(std::string const& name, std::string const& text) {
    std::string made = name + ":";
    for (char const each : text) {
        if (each == ':') { made += '\\'; }
        made += each;
    }
    return shell_quoted(made);
}

std::string joined(std::vector<std::string> const& words) {
    std::string text;
    for (std::string const& each : words) { text += (text.empty() ? "" : " ") + each; }
    return text;
}

void write_bash(CLI::App const& app, std::ostream& out) {
    std::string names;
    out << "# bash completion of entitable: source this file, or store it as\n"
           "# ~/.local/share/bash-completion/completions/entitable\n"
           "_entitable() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} words=\n"
           "    if ((COMP_CWORD == 1)); then\n"
           "        words=";
    for (CLI::App const* each : commands_of(app)) { names += each->get_name() + " "; }
    out << shell_quoted(names + joined(long_names(app))) << "\n    else\n        case ${COMP_WORDS[1]} in\n";
    for (CLI::App const* each : commands_of(app)) {
        out << "            " << each->get_name() << ") words=" << shell_quoted(joined(long_names(*each))) << " ;;\n";
    }
    out << "        esac\n"
           "    fi\n"
           "    if [[ $word == -* ]] || ((COMP_CWORD == 1)); then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
           "    else\n"
           "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
           "    fi\n"
           "}\n"
           "complete -o filenames -F _entitable entitable\n";
}

void write_zsh(CLI::App const& app, std::ostream& out) {
    out << "#compdef entitable\n"
           "# zsh completion of entitable: store this file as _entitable in a directory of $fpath\n"
           "_entitable() {\n"
           "    local -a words\n"
           "    if ((CURRENT == 2)); then\n"
           "        words=(";
    for (CLI::App const* each : commands_of(app)) {
        out << "\n            " << described(each->get_name(), summary_of(*each));
    }
    out << ")\n        _describe command words\n        return\n    fi\n    case $words[2] in\n";
    for (CLI::App const* command : commands_of(app)) {
        out << "        " << command->get_name() << ") words=(";
        for (CLI::Option const* each : command->get_options()) {
            for (std::string const& name : each->get_lnames()) {
                out << "\n            " << described("--" + name, each->get_description());
            }
        }
        out << ") ;;\n";
    }
    out << "    esac\n"
           "    if [[ $PREFIX == -* ]]; then _describe option words; else _files; fi\n"
           "}\n"
           "_entitable \"$@\"\n";
}

void write_fish(CLI::App const& app, std::ostream& out) {
    out << "# fish completion of entitable: store this file as ~/.config/fish/completions/entitable.fish\n";
    for (CLI::App const* each : commands_of(app)) {
        out << "complete -c entitable -n __fish_use_subcommand -f -a " << each->get_name() << " -d "
            << shell_quoted(summary_of(*each)) << '\n';
    }
    for (CLI::App const* command : commands_of(app)) {
        for (CLI::Option const* each : command->get_options()) {
            for (std::string const& name : each->get_lnames()) {
                out << "complete -c entitable -n '__fish_seen_subcommand_from " << command->get_name() << "' -l "
                    << name << (each->get_expected_max() == 0 ? "" : " -r") << " -d "
                    << shell_quoted(each->get_description()) << '\n';
            }
        }
    }
}

} // namespace

void write_manual(CLI::App const& app, std::ostream& out) {
    out << ".TH ENTITABLE 1\n.SH NAME\nentitable \\- " << roff(app.get_description())
        << "\n.SH SYNOPSIS\n.B entitable\nCOMMAND STORE [arguments] [options]\n.SH COMMANDS\n";
    for (CLI::App const* command : commands_of(app)) {
        out << ".SS " << roff(command->get_name()) << '\n'
            << roff(command->get_description()) << (command->get_description().ends_with('.') ? "" : ".")
            << "\n.PP\n.B " << roff(usage_of(*command)) << '\n';
        for (CLI::Option const* each : options_of(*command, true)) {
            out << ".TP\n.B " << roff(each->get_name(true)) << '\n' << roff(each->get_description()) << '\n';
        }
        for (CLI::Option const* each : options_of(*command, false)) {
            std::string const value = value_name(*each);
            out << ".TP\n.BR " << roff(each->get_name()) << (value.empty() ? "" : " \" " + roff(value) + "\"") << '\n'
                << roff(each->get_description()) << '\n';
        }
        out << ".PP\n.nf\n" << roff(command->get_footer()) << "\n.fi\n";
    }
    out << ".SH EXIT STATUS\n0 success, 1 refused or failed, 2 wrong command line, 3 some rows failed.\n"
           ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nNo colours, also on a terminal.\n";
}

bool write_completion(CLI::App const& app, std::string_view shell, std::ostream& out) {
    if (shell == "bash") {
        write_bash(app, out);
    } else if (shell == "zsh") {
        write_zsh(app, out);
    } else if (shell == "fish") {
        write_fish(app, out);
    } else {
        return false;
    }
    return true;
}

} // namespace tool
