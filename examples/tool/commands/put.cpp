// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../writing.hpp"

namespace tool {

void add_put(command_list& all) {
    auto const given = std::make_shared<write_options>();
    CLI::App& command = all.add("put", "Insert rows, or overwrite them",
        "entitable put shop.db orders 2026-01 0107 --set Name=Ann --set Total:double=9.5\n"
        "entitable put shop.db orders --create < rows.jsonl",
        [given](console& with) { return write_rows(writing::put, *given, with); });
    add_write_options(command, writing::put, *given);
}

} // namespace tool
