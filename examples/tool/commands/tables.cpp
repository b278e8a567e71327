// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../text.hpp"
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/try.hpp>

namespace tool {

namespace {

struct tables_options {
    std::string store;
    bool count{};
};

struct table_size {
    std::uint64_t rows{};
    std::uint64_t bytes{};
};

entitable::result<table_size> size_of(entitable::any_store const& store, std::string const& table) {
    entitable::query_entities asked;
    asked.table = table;
    table_size size;
    ENTITABLE_CHECK(for_each_row(store, std::move(asked), [&](entitable::row_view each) -> entitable::result<bool> {
        if (!entitable::system_row::is_one(each.row_key)) { ++size.rows; }
        size.bytes += entitable::service_size(each);
        return true;
    }));
    return size;
}

outcome list(tables_options const& given, console& with) {
    ENTITABLE_TRY(auto const store, open_store(given.store));
    text_table shown{with, {{"table", false}, {"rows", true}, {"bytes", true}}};
    entitable::list_tables asked;
    do {
        entitable::call context;
        ENTITABLE_TRY(auto found, store.execute(asked, context));
        for (std::string const& each : found.tables) {
            if (!given.count) {
                with.out << printable(each) << '\n';
                continue;
            }
            ENTITABLE_TRY(table_size const size, size_of(store, each));
            shown.add({printable(each), std::to_string(size.rows), std::to_string(size.bytes)});
        }
        if (!with.can_write()) { return exit_code::success; }
        asked.continuation = std::move(found.continuation);
    } while (asked.continuation);
    if (given.count) { shown.finish(); }
    return exit_code::success;
}

} // namespace

void add_tables(command_list& all) {
    auto const given = std::make_shared<tables_options>();
    CLI::App& command =
        all.add("tables", "List the tables of a store", "entitable tables shop.db\nentitable tables --count env:STORE",
            [given](console& with) { return list(*given, with); });
    command.add_option("STORE", given->store, store_help)->required();
    command.add_flag("--count", given->count, "Also show the rows and bytes of each table, which reads all of them");
}

} // namespace tool
