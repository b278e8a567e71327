// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../writing.hpp"

namespace tool {

void add_merge(command_list& all) {
    auto const given = std::make_shared<write_options>();
    CLI::App& command = all.add("merge", "Change some properties of rows",
        "entitable merge shop.db orders 2026-01 0107 --set Paid:boolean=true\n"
        "entitable merge shop.db orders --yes < changes.jsonl",
        [given](console& with) { return write_rows(writing::merge, *given, with); });
    add_write_options(command, writing::merge, *given);
}

} // namespace tool
