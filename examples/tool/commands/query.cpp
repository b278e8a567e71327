// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../selection.hpp"
#include <entitable/core/try.hpp>
#include <entitable/entitable.hpp>

#include <algorithm>

namespace tool {

namespace {

struct query_options {
    selection rows;
    std::string select;
    std::optional<std::uint64_t> top;
    std::string format{"table"};
    bool explain{};
};

entitable::access_path path_of(entitable::key_range const& range) {
    if (!range.partition.is_point()) {
        return range.partition.is_all() ? entitable::access_path::table : entitable::access_path::partition_range;
    }
    if (range.row.is_point()) { return entitable::access_path::point; }
    return range.row.is_all() ? entitable::access_path::partition : entitable::access_path::row_range;
}

outcome explain(query_options const& given, std::vector<std::string> const& select, console& with) {
    ENTITABLE_TRY(auto asked, unchecked_request_of(given.rows));
    entitable::query_plan plan;
    plan.access = path_of(asked.range);
    if (!asked.range.is_empty()) { plan.ranges.push_back(asked.range); }
    plan.server = asked.filter;
    plan.meets_system_rows = !given.rows.system && plan.access != entitable::access_path::point;
    with.out << printable_lines(entitable::explain(plan, select).to_string());
    return exit_code::success;
}

outcome query(query_options const& given, console& with) {
    ENTITABLE_TRY(auto const select, names_in(given.select));
    if (given.explain) { return explain(given, select, with); }
    ENTITABLE_TRY(auto asked, request_of(given.rows));
    ENTITABLE_TRY(auto const store, open_store(given.rows.store));
    asked.select = select;
    constexpr std::uint64_t page = 1000;
    if (given.top) { asked.page_size = static_cast<std::uint32_t>(std::clamp(*given.top, std::uint64_t{1}, page)); }
    row_output shown{with, given.format, select};
    std::uint64_t left = given.top.value_or(~std::uint64_t{0});
    if (left == 0) { return shown.finish(); }
    auto const read = for_each_selected(
        store, given.rows, std::move(asked),
        [&](entitable::row_view each) -> entitable::result<bool> {
            shown.add(each);
            return --left > 0 && with.can_write();
        },
        [&] { shown.page_done(); });
    exit_code const done = shown.finish(); // what was read is shown, also before an error
    if (!read) { return entitable::failure{read.error()}; }
    return done;
}

} // namespace

void add_query(command_list& all) {
    auto const given = std::make_shared<query_options>();
    CLI::App& command = all.add("query", "Print the rows of a table",
        "entitable query shop.db orders --partition 2026-01 --filter \"Total gt 100\"\n"
        "entitable query shop.db orders --partition 2026-01 --rows 0100..0200 --select RowKey,Total\n"
        "entitable query env:STORE orders --scan --top 10 --format jsonl",
        [given](console& with) { return query(*given, with); });
    add_selection(command, given->rows);
    command.add_option("--select", given->select, "Columns A,B: properties, PartitionKey, RowKey, Timestamp")
        ->type_name("NAMES");
    command.add_option("--top", given->top, "Print at most this many rows")->check(CLI::NonNegativeNumber);
    command.add_flag("--explain", given->explain, "Print how the rows would be read, and read nothing");
    add_format(command, given->format);
}

} // namespace tool
