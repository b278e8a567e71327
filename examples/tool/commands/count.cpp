// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../selection.hpp"
#include <entitable/core/try.hpp>

namespace tool {

namespace {

outcome count(selection const& given, console& with) {
    ENTITABLE_TRY(auto asked, request_of(given));
    ENTITABLE_TRY(auto const store, open_store(given.store));
    asked.select = {"PartitionKey", "RowKey"};
    std::uint64_t rows = 0;
    ENTITABLE_CHECK(
        for_each_selected(store, given, std::move(asked), [&](entitable::row_view) -> entitable::result<bool> {
            ++rows;
            return true;
        }));
    with.out << rows << '\n';
    return exit_code::success;
}

} // namespace

void add_count(command_list& all) {
    auto const given = std::make_shared<selection>();
    CLI::App& command = all.add("count", "Count rows",
        "entitable count shop.db orders --partition 2026-01 --filter \"Total gt 100\"\n"
        "entitable count shop.db orders --scan",
        [given](console& with) { return count(*given, with); });
    add_selection(command, *given);
}

} // namespace tool
