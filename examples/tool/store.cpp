// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "commands.hpp"
#include <entitable/core/row/system_row_kinds.hpp>
#include <entitable/core/try.hpp>
#include <entitable/open.hpp>

#include <filesystem>

namespace tool {

namespace {

/// Whether the address names a file, in any spelling that `entitable::open` accepts.
bool names_file(std::string_view address) {
    auto const parsed = entitable::store_address::parse(address);
    return !address.starts_with("env:") && parsed && parsed->component() == entitable::store_component::file;
}

} // namespace

entitable::failure refuse(std::string message) {
    return entitable::failure{entitable::error_code::invalid_input, std::move(message)};
}

entitable::result<entitable::any_store> open_store(std::string const& address) {
    auto opened = entitable::open(address);
    if (opened || opened.error().code != entitable::error_code::store_failed) { return opened; }
    auto const parsed = entitable::store_address::parse(address);
    std::error_code ignored;
    if (parsed && parsed->component() == entitable::store_component::file &&
        !std::filesystem::exists(parsed->place(), ignored)) {
        return refuse(
            "the file of the store does not exist: \"put --create\", \"sync --create\" and \"import\" make one");
    }
    return opened;
}

entitable::result<entitable::any_store> open_or_create_store(std::string const& address) {
    if (!names_file(address) || address.find("create=") != std::string::npos) { return open_store(address); }
    if (address.starts_with("file:")) {
        return open_store(address + (address.find('?') == std::string::npos ? "?" : "&") + "create=true");
    }
    std::string place; // a path without scheme has no options
    for (char const each : address) {
        if (each == '%') {
            place += "%25";
        } else if (each == '?') {
            place += "%3F";
        } else {
            place += each;
        }
    }
    return open_store("file:" + place + "?create=true");
}

entitable::failure no_table(entitable::failure failed, std::string const& table) {
    if (failed.error().code == entitable::error_code::table_not_found) {
        return refuse("the table \"" + table + "\" does not exist: \"entitable tables STORE\" lists the tables");
    }
    return failed;
}

entitable::result<void> for_each_row(entitable::any_store const& store, entitable::query_entities asked,
    std::function<entitable::result<bool>(entitable::row_view row)> const& function,
    std::function<void()> const& page_done) {
    do {
        entitable::call context;
        ENTITABLE_TRY(auto found, store.execute(asked, context));
        for (entitable::row_view const each : found.rows) {
            ENTITABLE_TRY(bool const more, function(each));
            if (!more) { return {}; }
        }
        asked.continuation = std::move(found.continuation);
        if (page_done) { page_done(); }
    } while (asked.continuation);
    return {};
}

namespace {

using entitable::row_view;
using entitable::system_row::kind;

bool is_whole(row_view const& row, std::string_view name) {
    auto const found = row.find(name);
    return found && (found->type() == entitable::edm_type::int32 || found->type() == entitable::edm_type::int64);
}
bool is_text(row_view const& row, std::string_view name) {
    auto const found = row.find(name);
    return found && found->type() == entitable::edm_type::string;
}

/// What the rows in partitions of the library declare: indexes and sums, or that the table is a queue or a view.
std::optional<std::string> declared_by(row_view const& row) {
    if (row.row_key.starts_with(entitable::system_row::index)) {
        auto const state = row.find("State");
        if (state && state->type() == entitable::edm_type::string && state->as_string() == "retired") { return {}; }
        return "indexes or sums (\"" + std::string{row.row_key.substr(entitable::system_row::index.size())} + "\")";
    }
    kind const* const of = entitable::system_row::kind_of(row.row_key);
    return of != nullptr && of->owns_table ? std::optional{std::string{of->holds}} : std::nullopt;
}

/// What a table of the library's own rows begins with; see docs/stored_formats.md.
std::optional<std::string> owned_by(row_view const& row) {
    if (kind const* const of = entitable::system_row::kind_of(row.row_key)) {
        return of->changed == entitable::system_row::copying::refused ? std::optional{std::string{of->holds}}
                                                                      : std::nullopt;
    }
    if (row.find(entitable::system_row::wide_parts)) { return "wide entities"; }
    bool const counts = row.partition_key == "identities" || row.partition_key.starts_with("identities__");
    if (counts && is_whole(row, "Value")) { return "a sequence"; }
    if (is_text(row, "State") && is_text(row, "Claim") && is_text(row, "Id") && is_whole(row, "Lease") &&
        is_whole(row, "Runs")) {
        return "keys of once";
    }
    if (row.partition_key == "backup" && is_text(row, "state")) { return "a backup of shards"; }
    bool const is_reference = row.partition_key == "reference" && (row.row_key == "master" || row.row_key == "copy");
    if (is_reference && is_whole(row, "version")) { return "the state of a reference table"; }
    bool const is_map = row.partition_key == "map" && row.row_key.starts_with("attributes") && is_text(row, "region");
    if (is_map || ((row.partition_key == "map" || row.partition_key == "stores") && is_whole(row, "hash_version"))) {
        return "a map of shards";
    }
    return std::nullopt;
}

/// Visits rows until one has content that is kept by others, and returns that content.
entitable::result<std::optional<std::string>> first_kept(entitable::any_store const& store,
    entitable::query_entities asked, std::optional<std::string> (*kept)(row_view const&), bool only_first) {
    std::optional<std::string> found;
    auto const read = for_each_row(store, std::move(asked), [&](row_view each) -> entitable::result<bool> {
        found = kept(each);
        return !found && !only_first;
    });
    if (!read && read.error().code != entitable::error_code::table_not_found) {
        return entitable::failure{read.error()};
    }
    return found;
}

/// The rows of the partitions that belong to the library.
entitable::query_entities rows_of_library(std::string const& table) {
    entitable::query_entities asked;
    asked.table = table;
    asked.range.partition.lower = entitable::key_bound::including(std::string{entitable::system_row::prefix});
    asked.range.partition.upper = entitable::key_bound::excluding(std::string{entitable::system_row::end});
    return asked;
}

entitable::failure refuse_kept(std::string const& table, std::string const& content, std::string_view advice) {
    return refuse("the table \"" + table + "\" has " + content + ", " + std::string{advice});
}

constexpr std::string_view advice_for_writes =
    "which this command would leave wrong: write with the program that declares "
    "them, or repeat the command with --unmaintained and repair them afterwards";

} // namespace

entitable::result<void> check_unmaintained(
    entitable::any_store const& store, std::string const& table, std::string_view advice) {
    ENTITABLE_TRY(auto content, first_kept(store, rows_of_library(table), declared_by, false));
    if (!content) {
        entitable::query_entities first;
        first.table = table;
        first.page_size = 1;
        ENTITABLE_TRY(content, first_kept(store, std::move(first), owned_by, true));
    }
    return content ? entitable::result<void>{refuse_kept(table, *content, advice)} : entitable::result<void>{};
}

entitable::result<void> check_writable(entitable::any_store const& store, std::string const& table, bool unmaintained) {
    return unmaintained ? entitable::result<void>{} : check_unmaintained(store, table, advice_for_writes);
}

entitable::result<void> check_undeclared(
    entitable::any_store const& store, std::string const& table, bool unmaintained) {
    if (unmaintained) { return {}; }
    entitable::query_entities asked;
    asked.table = table;
    asked.range.partition = entitable::key_interval::only(std::string{entitable::system_row::index});
    ENTITABLE_TRY(auto const content, first_kept(store, std::move(asked), declared_by, false));
    return content ? entitable::result<void>{refuse_kept(table, *content, advice_for_writes)}
                   : entitable::result<void>{};
}

} // namespace tool
