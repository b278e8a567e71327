// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../fold.hpp"
#include "../selection.hpp"
#include <entitable/core/try.hpp>

namespace tool {

namespace {

struct sum_options {
    selection rows;
    std::string of;
    std::string format{"table"};
};

entitable::value number(std::uint64_t count) { return entitable::value_view{static_cast<std::int64_t>(count)}; }

outcome sum(sum_options const& given, console& with) {
    ENTITABLE_TRY(auto const names, names_in(given.of));
    ENTITABLE_TRY(auto asked, request_of(given.rows));
    ENTITABLE_TRY(auto const store, open_store(given.rows.store));
    asked.select = names;
    std::vector<number_fold> folds(names.size());
    ENTITABLE_CHECK(for_each_selected(
        store, given.rows, std::move(asked), [&](entitable::row_view each) -> entitable::result<bool> {
            for (std::size_t at = 0; at < names.size(); ++at) {
                if (auto const value = each.find(names[at])) { folds[at].add(*value); }
            }
            return true;
        }));
    result_output shown{with, given.format,
        {{"property", false}, {"count", true}, {"sum", true}, {"minimum", true}, {"maximum", true}, {"mean", true}}};
    for (std::size_t at = 0; at < names.size(); ++at) {
        number_fold const& each = folds[at];
        shown.add({entitable::value{entitable::value_view{std::string_view{names[at]}}}, number(each.count()),
            each.sum(), each.minimum(), each.maximum(), each.mean()});
    }
    shown.finish();
    for (std::size_t at = 0; at < names.size(); ++at) {
        if (folds[at].others() == 0) { continue; }
        with.out.flush();
        with.err << folds[at].others() << " values of " << printable(names[at]) << " are not numbers\n";
    }
    return exit_code::success;
}

} // namespace

void add_sum(command_list& all) {
    auto const given = std::make_shared<sum_options>();
    CLI::App& command = all.add("sum", "Print count, sum, minimum, maximum and mean of properties",
        "entitable sum shop.db orders Total --partition 2026-01\n"
        "entitable sum shop.db orders Total,Pieces --scan --filter \"Country eq 'NO'\"",
        [given](console& with) { return sum(*given, with); });
    add_selection(command, given->rows);
    command.add_option("PROPERTIES", given->of, "Properties A,B to sum")->required();
    add_format(command, given->format);
}

} // namespace tool
