// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../fold.hpp"
#include "../selection.hpp"
#include <entitable/core/try.hpp>

#include <algorithm>
#include <map>

namespace tool {

namespace {

struct group_options {
    selection rows;
    std::string by;
    std::string sum;
    std::size_t most_groups{100'000};
    std::string format{"table"};
};

struct group {
    std::uint64_t rows{};
    std::vector<number_fold> folds;
};

using group_key = std::vector<std::optional<entitable::value>>;

/// Absent values first, then by type, then by value.
struct key_order {
    bool operator()(group_key const& left, group_key const& right) const {
        for (std::size_t at = 0; at < left.size(); ++at) {
            int const order = compare(left[at], right[at]);
            if (order != 0) { return order < 0; }
        }
        return false;
    }
    static int compare(std::optional<entitable::value> const& left, std::optional<entitable::value> const& right) {
        if (!left || !right) { return static_cast<int>(left.has_value()) - static_cast<int>(right.has_value()); }
        if (left->type() != right->type()) { return left->type() < right->type() ? -1 : 1; }
        switch (compare_values(left->view(), right->view())) {
            case entitable::ordering::less: return -1;
            case entitable::ordering::greater: return 1;
            case entitable::ordering::equal: return 0;
            default: break;
        }
        // One is a NaN: all NaNs are one group, behind the numbers.
        bool const left_is_nan = std::isnan(left->view().as_float64());
        bool const right_is_nan = std::isnan(right->view().as_float64());
        return static_cast<int>(left_is_nan) - static_cast<int>(right_is_nan);
    }
};

std::optional<entitable::value> value_in(entitable::row_view const& row, std::string const& name) {
    if (name == "PartitionKey") { return entitable::value{entitable::value_view{row.partition_key}}; }
    if (name == "RowKey") { return entitable::value{entitable::value_view{row.row_key}}; }
    auto const found = row.find(name);
    return found ? std::optional{entitable::value{*found}} : std::nullopt;
}

outcome make_groups(group_options const& given, console& with) {
    ENTITABLE_TRY(auto const by, names_in(given.by));
    ENTITABLE_TRY(auto const sums, names_in(given.sum));
    ENTITABLE_TRY(auto asked, request_of(given.rows));
    ENTITABLE_TRY(auto const store, open_store(given.rows.store));
    asked.select = by;
    asked.select.insert(asked.select.end(), sums.begin(), sums.end());
    std::sort(asked.select.begin(), asked.select.end());
    asked.select.erase(std::unique(asked.select.begin(), asked.select.end()), asked.select.end());

    std::map<group_key, group, key_order> groups;
    ENTITABLE_CHECK(for_each_selected(
        store, given.rows, std::move(asked), [&](entitable::row_view each) -> entitable::result<bool> {
            group_key key;
            for (std::string const& name : by) { key.push_back(value_in(each, name)); }
            auto const [at, added] = groups.try_emplace(std::move(key));
            if (added) {
                if (groups.size() > given.most_groups) {
                    return refuse("there are more than " + std::to_string(given.most_groups) +
                        " groups: choose other properties, or permit more with --max-groups");
                }
                at->second.folds.resize(sums.size());
            }
            ++at->second.rows;
            for (std::size_t index = 0; index < sums.size(); ++index) {
                if (auto const value = each.find(sums[index])) { at->second.folds[index].add(*value); }
            }
            return true;
        }));

    std::vector<text_table::column> columns;
    for (std::size_t at = 0; at < by.size(); ++at) {
        auto const first =
            std::find_if(groups.begin(), groups.end(), [&](auto const& each) { return each.first[at].has_value(); });
        bool const right = first != groups.end() && is_number(first->first[at]->type());
        columns.push_back({printable(by[at]), right});
    }
    columns.push_back({"rows", true});
    for (std::string const& name : sums) { columns.push_back({"sum of " + printable(name), true}); }
    result_output shown{with, given.format, std::move(columns)};
    for (auto const& [key, found] : groups) {
        std::vector<std::optional<entitable::value>> cells = key;
        cells.emplace_back(entitable::value_view{static_cast<std::int64_t>(found.rows)});
        for (number_fold const& each : found.folds) { cells.push_back(each.sum()); }
        shown.add(cells);
        if (!with.can_write()) { break; }
    }
    shown.finish();
    return exit_code::success;
}

} // namespace

void add_group(command_list& all) {
    auto const given = std::make_shared<group_options>();
    CLI::App& command = all.add("group", "Count rows by the values of properties, and sum others",
        "entitable group shop.db orders Country --scan --sum Total\n"
        "entitable group shop.db orders PartitionKey --scan --format csv",
        [given](console& with) { return make_groups(*given, with); });
    add_selection(command, given->rows);
    command.add_option("PROPERTIES", given->by, "Properties A,B, or PartitionKey, whose values make the groups")
        ->required();
    command.add_option("--sum", given->sum, "Properties A,B to sum in each group")->type_name("NAMES");
    command.add_option("--max-groups", given->most_groups, "End if there are more groups, which need memory")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    add_format(command, given->format);
}

} // namespace tool
