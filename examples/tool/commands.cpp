// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "commands.hpp"

#include "manual.hpp"
#include <entitable/core/config.hpp>

#include <algorithm>
#include <exception>
#include <sstream>

namespace tool {

namespace {

std::string version_text() {
    return "entitable " + std::to_string(ENTITABLE_VERSION_MAJOR) + "." + std::to_string(ENTITABLE_VERSION_MINOR) +
        "." + std::to_string(ENTITABLE_VERSION_PATCH);
}

void add_all(command_list& all) {
    add_tables(all);
    add_get(all);
    add_query(all);
    add_count(all);
    add_sum(all);
    add_group(all);
    add_put(all);
    add_merge(all);
    add_delete(all);
    // Commands that move data and run services follow.
    add_import(all);
    add_export(all);
    add_copy(all);
    add_sync(all);
    add_changes(all);
    add_serve(all);
    add_queue(all);
    add_backup(all);
    add_restore(all);
    add_shards(all);
    add_advise(all);
    add_plan(all);
    add_stress(all);
    add_check(all);
    add_completion(all);
}

/// The message as one sentence, with what the library knows beyond it.
std::string sentence_of(entitable::error const& failed) {
    std::string text = failed.message.empty() ? failed.to_string() : failed.message;
    if (!failed.server_message.empty() && text.find(failed.server_message) == std::string::npos) {
        text += ": " + failed.server_message;
    }
    if (!failed.message.empty() && failed.code != entitable::error_code::invalid_input) {
        text += " (" + std::string{to_string(failed.code)} + ")";
    }
    return text;
}

/// Prints text of others on one line: control characters could change the terminal.
std::string one_line(std::string text) {
    for (char& each : text) {
        if (static_cast<unsigned char>(each) < 0x20 || each == 0x7f) { each = ' '; }
    }
    return text;
}

/// Options without the library's names of types: `--top N`, `--format VALUE (default: table)`.
class help_formatter : public CLI::Formatter {
public:
    help_formatter() { column_width(22); }
    std::string make_option_opts(CLI::Option const* option) const override {
        if (!option->get_option_text().empty()) { return " " + option->get_option_text(); }
        if (option->get_positional() || option->get_expected_max() == 0) { return {}; }
        std::string const text = " " + value_name(*option);
        return option->get_default_str().empty() ? text : text + " (default: " + option->get_default_str() + ")";
    }
    std::string make_subcommand(CLI::App const* command) const override {
        std::ostringstream line;
        CLI::detail::format_help(line, command->get_name(), summary_of(*command), get_column_width());
        return line.str();
    }
};

/// The column in which the rest of a line of help continues: that of its description, or its indentation.
std::size_t continuation_of(std::string const& line) {
    std::size_t const indented = (std::min)(line.find_first_not_of(' '), line.size());
    if (indented == 0) { return 0; }
    std::size_t const gap = line.find("  ", indented);
    std::size_t const described = gap == std::string::npos ? gap : line.find_first_not_of(' ', gap);
    return described == std::string::npos ? indented : described;
}

/// Breaks the lines of a help text at spaces. Examples stay whole, to be copied.
std::string wrapped(std::string const& text, std::size_t width) {
    constexpr std::size_t least_width = 40;
    std::string made;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const end = (std::min)(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        std::size_t const column = continuation_of(line);
        bool const is_example = line.starts_with("  entitable ") || line.starts_with("  source ");
        while (!is_example && width >= least_width && line.size() > width && column + least_width / 2 <= width) {
            std::size_t space = line.rfind(' ', width);
            if (space == std::string::npos || space <= column) { space = line.find(' ', width); } // a long word
            if (space == std::string::npos) { break; }
            made.append(line, 0, space) += '\n';
            line = std::string(column, ' ') + line.substr(space + 1);
        }
        made += line;
        if (end < text.size()) { made += '\n'; }
        at = end + 1;
    }
    if (!made.ends_with('\n')) { made += '\n'; }
    return made;
}

/// Writes what is left of the output, and the error of the command.
exit_code finish(outcome const& done, console& with) {
    with.out.flush();
    if (with.output_closed && with.output_closed()) { return exit_code::success; } // the reader has what it wanted
    if (!done) {
        with.err << "entitable: " << one_line(sentence_of(done.error())) << '\n';
        return exit_code::failure;
    }
    if (!with.out.good()) {
        std::string const reason = with.output_error ? with.output_error() : std::string{};
        with.err << "entitable: cannot write the output" << (reason.empty() ? "" : ": ") << reason << '\n';
        return exit_code::failure;
    }
    return *done;
}

/// The command in the arguments; the program itself if there is none.
CLI::App const& named_command(CLI::App const& app) {
    auto const named = app.get_subcommands();
    return named.empty() ? app : *named.front();
}

} // namespace

CLI::App& command_list::add(std::string const& name, std::string const& summary, std::string const& examples,
    std::function<outcome(console&)> action) {
    std::size_t const first_line = (std::min)(summary.find('\n'), summary.size());
    std::string sentence = summary.substr(0, first_line);
    if (sentence.ends_with('.')) { sentence.pop_back(); }
    CLI::App* const command = app_->add_subcommand(name, sentence);
    std::string text = first_line < summary.size() ? summary.substr(first_line + 1) + "\n\n" : std::string{};
    text += "Examples:";
    for (std::size_t at = 0; at < examples.size();) {
        std::size_t const end = examples.find('\n', at);
        text += "\n  " + examples.substr(at, end == std::string::npos ? end : end - at);
        if (end == std::string::npos) { break; }
        at = end + 1;
    }
    command->footer(text);
    command->callback([this, action] { selected_ = action; });
    return *command;
}

exit_code run_tool(std::vector<std::string> const& arguments, console& with) {
    CLI::App app{"Looks into, fills, copies and serves any store of entities", "entitable"};
    app.set_version_flag("--version", version_text());
    bool wants_manual = false;
    app.add_flag("--man", wants_manual, "Print the manual page, for man -l -");
    app.require_subcommand(0, 1);
    app.formatter(std::make_shared<help_formatter>());
    app.get_help_ptr()->description("Print this help and exit");
    app.footer("entitable COMMAND --help shows the options of a command, with examples.\n"
               "Exit codes: 0 success, 1 refused or failed, 2 wrong command line, 3 some rows failed.");
    command_list all{app};
    add_all(all);
    std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()}; // as CLI11 takes them
    try {
        app.parse(std::move(reversed));
    } catch (CLI::CallForHelp const&) {
        with.out << wrapped(app.help(), with.width);
        return finish(exit_code::success, with);
    } catch (CLI::Success const& printed) {
        with.out << printed.what() << '\n';
        return finish(exit_code::success, with);
    } catch (CLI::ParseError const& wrong) {
        CLI::App const& named = named_command(app);
        with.err << "entitable: " << one_line(wrong.what()) << "; see entitable "
                 << (&named == &app ? "" : named.get_name() + " ") << "--help\n";
        return exit_code::usage;
    }
    if (wants_manual) {
        write_manual(app, with.out);
        return finish(exit_code::success, with);
    }
    if (!all.selected()) {
        with.err << wrapped(app.help(), with.width);
        return exit_code::usage;
    }
    return finish(
        [&]() -> outcome {
            try {
                return all.selected()(with);
            } catch (std::exception const& thrown) {
                return entitable::failure{entitable::error_code::internal_error, thrown.what()};
            }
        }(),
        with);
}

} // namespace tool
