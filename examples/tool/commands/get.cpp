// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../text.hpp"
#include <entitable/core/try.hpp>

namespace tool {

namespace {

struct get_options {
    std::string store;
    std::string table;
    std::string partition;
    std::string row;
    std::string format{"table"};
};

outcome get(get_options const& given, console& with) {
    ENTITABLE_TRY(auto const store, open_store(given.store));
    entitable::call context;
    auto found = store.execute(entitable::get_entity{given.table, given.partition, given.row, {}}, context);
    if (!found) {
        if (found.error().code == entitable::error_code::resource_not_found) {
            return refuse("the table \"" + given.table + "\" has no row \"" + printable(given.row) +
                "\" in the partition \"" + printable(given.partition) + "\"");
        }
        return no_table(std::move(found).as_failure(), given.table);
    }
    entitable::row_view const row = found->entity.view();
    if (given.format == "jsonl") {
        std::string line;
        append_json_row(line, row, true);
        with.out << line << '\n';
        return exit_code::success;
    }
    text_table shown{with, {{"property", false}, {"type", false}, {"value", false}}};
    shown.add({"PartitionKey", "Edm.String", printable(row.partition_key)});
    shown.add({"RowKey", "Edm.String", printable(row.row_key)});
    shown.add({"Timestamp", "Edm.DateTime", row.timestamp().to_string(true)});
    shown.add({"odata.etag", "", printable(found->etag.to_string())});
    entitable::property_cursor properties{row.payload};
    for (entitable::property_view each; properties.next(each);) {
        if (!each.present) { continue; }
        shown.add({printable(each.name), std::string{to_string(each.type)}, printable(plain_text(each.value))});
    }
    shown.finish();
    return exit_code::success;
}

} // namespace

void add_get(command_list& all) {
    auto const given = std::make_shared<get_options>();
    CLI::App& command = all.add("get", "Print one row with its types and its ETag",
        "entitable get shop.db orders 2026-01 0107\nentitable get shop.db orders 2026-01 0107 --format jsonl",
        [given](console& with) { return get(*given, with); });
    command.add_option("STORE", given->store, store_help)->required();
    command.add_option("TABLE", given->table, "Table to read")->required();
    command.add_option("PARTITION", given->partition, "PartitionKey of the row")->required();
    command.add_option("ROW", given->row, "RowKey of the row")->required();
    command.add_option("--format", given->format, "table, or jsonl, which keeps the types")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"table", "jsonl"}))
        ->capture_default_str();
}

} // namespace tool
