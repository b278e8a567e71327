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
        return refuse("the file of the store does not exist: \"put --create\" and \"import\" make one");
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

entitable::result<void> check_unmaintained(
    entitable::any_store const& store, std::string const& table, bool unmaintained) {
    if (unmaintained) { return {}; }
    entitable::query_entities asked;
    asked.table = table;
    asked.range.partition = entitable::key_interval::only(std::string{entitable::system_row::index});
    auto const read = for_each_row(store, std::move(asked), [&](entitable::row_view each) -> entitable::result<bool> {
        auto const state = each.find("State");
        bool const retired = state && state->type() == entitable::edm_type::string && state->as_string() == "retired";
        if (retired || !each.row_key.starts_with(entitable::system_row::index)) { return true; }
        return refuse("the table \"" + table + "\" has indexes or sums (\"" +
            std::string{each.row_key.substr(entitable::system_row::index.size())} +
            "\"), which this command would leave wrong: write with the program that declares them, or repeat the "
            "command with --unmaintained and repair them afterwards");
    });
    if (!read && read.error().code != entitable::error_code::table_not_found) { return read; }
    return {};
}

} // namespace tool
