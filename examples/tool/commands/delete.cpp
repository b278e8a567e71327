// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../writing.hpp"

namespace tool {

void add_delete(command_list& all) {
    auto const given = std::make_shared<write_options>();
    CLI::App& command = all.add("delete", "Delete rows",
        "entitable delete shop.db orders 2026-01 0107\n"
        "entitable query shop.db orders --partition 2025-01 --format jsonl | entitable delete shop.db orders --yes",
        [given](console& with) { return write_rows(writing::remove, *given, with); });
    add_write_options(command, writing::remove, *given);
}

} // namespace tool
