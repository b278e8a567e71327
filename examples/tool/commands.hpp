// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The commands of the program. Each is one file in commands/, with one function that adds it here, and a line in commands.cpp.

#include "console.hpp"
#include <entitable/core/result.hpp>
#include <entitable/core/transport/any_store.hpp>

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// What a command returns: its exit code, or the error that `run_tool` prints as one sentence.
using outcome = entitable::result<exit_code>;

/// The commands that were added, and the action of the command that the arguments name.
class command_list {
public:
    explicit command_list(CLI::App& app) : app_(&app) {}

    /// Adds a command. `summary` is a sentence without a full stop; `examples` are command lines, one a line; `action` runs it.
    ///
    ///     auto given = std::make_shared<options>();
    ///     CLI::App& command = all.add("tables", "Lists the tables of a store", "entitable tables shop.db",
    ///         [given](console& with) { return list(*given, with); });
    ///     command.add_option("STORE", given->store, store_help)->required();
    CLI::App& add(std::string const& name, std::string const& summary, std::string const& examples,
        std::function<outcome(console&)> action);

    /// The action that was selected; empty if none was.
    [[nodiscard]] std::function<outcome(console&)> const& selected() const noexcept { return selected_; }
    [[nodiscard]] CLI::App& app() const noexcept { return *app_; }

private:
    CLI::App* app_;
    std::function<outcome(console&)> selected_;
};

/// The help of the argument STORE.
inline constexpr char const* store_help = "Address of the store: file:PATH or PATH.db, memory:, postgres://..., "
                                          "https://ACCOUNT.table.core.windows.net, a connection string, env:NAME, "
                                          "shards:CATALOGUE/MAP";

/// Opens a store. Errors: those of `entitable::open`, with what to do.
[[nodiscard]] entitable::result<entitable::any_store> open_store(std::string const& address);
/// Does the same, and creates a file that does not exist.
[[nodiscard]] entitable::result<entitable::any_store> open_or_create_store(std::string const& address);

/// A failure whose message is a sentence for the user.
[[nodiscard]] entitable::failure refuse(std::string message);

/// Reads pages one after the other, as constant memory. `function` returns false to end; it is called between requests, and may write.
/// `page_done` is called after each page.
[[nodiscard]] entitable::result<void> for_each_row(entitable::any_store const& store, entitable::query_entities asked,
    std::function<entitable::result<bool>(entitable::row_view row)> const& function,
    std::function<void()> const& page_done = {});

/// The failure, with what to do if the table does not exist.
[[nodiscard]] entitable::failure no_table(entitable::failure failed, std::string const& table);

/// Checks that a table has no rows that only the library changes: declared indexes, sums and change logs; queues, views, sequences and other
/// tables of its own rows, which their first row tells. Cost: 2 requests. Errors: the refusal, which ends in `advice`; those of the requests. A table
/// that does not exist passes.
[[nodiscard]] entitable::result<void> check_unmaintained(
    entitable::any_store const& store, std::string const& table, std::string_view advice);
/// Does the same for writes of single rows, with an advice that names --unmaintained. Nothing is checked if `unmaintained`.
[[nodiscard]] entitable::result<void> check_writable(
    entitable::any_store const& store, std::string const& table, bool unmaintained);
/// Does the same for a copy, whose rows may be those of a queue: checks that no indexes or sums are declared.
[[nodiscard]] entitable::result<void> check_undeclared(
    entitable::any_store const& store, std::string const& table, bool unmaintained);

// One line for each command.
void add_tables(command_list& all);
void add_get(command_list& all);
void add_query(command_list& all);
void add_count(command_list& all);
void add_sum(command_list& all);
void add_group(command_list& all);
void add_put(command_list& all);
void add_merge(command_list& all);
void add_delete(command_list& all);
void add_check(command_list& all);
void add_completion(command_list& all);
void add_import(command_list& all);
void add_export(command_list& all);
void add_copy(command_list& all);
void add_serve(command_list& all);
void add_queue(command_list& all);
void add_backup(command_list& all);
void add_restore(command_list& all);
void add_shards(command_list& all);
void add_plan(command_list& all);
void add_stress(command_list& all);
void add_sync(command_list& all);
void add_advise(command_list& all);
void add_changes(command_list& all);

} // namespace tool
