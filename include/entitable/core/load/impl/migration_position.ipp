// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/load/detail/migration_position.hpp>
#include <entitable/core/load/impl/bulk_position.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::string_view migration_heading = "entitable migration 1\n";

ENTITABLE_DECL std::string migration_position::text(std::string_view table, std::string_view input) const {
    std::string made{migration_heading};
    auto const line = [&](std::string_view name, std::string_view value) {
        made.append(name).append(" ").append(value).append("\n");
    };
    line("table", line_text(table));
    line("input", line_text(input));
    line("token", token); // printable: see `query::resume`
    line("read", std::to_string(read));
    line("written", std::to_string(counts.written));
    line("already_there", std::to_string(counts.already_there));
    line("refused", std::to_string(counts.refused));
    line("bytes", std::to_string(counts.bytes));
    made += text::joined({"sum ", digest_text(digest_of_text(made)), "\n"});
    return made;
}

ENTITABLE_DECL result<migration_position> read_migration_position(
    std::string_view text, std::string_view table, std::string_view input) {
    auto const refused = [](std::string_view why) {
        return failure{error_code::checkpoint_invalid, text::joined({"the checkpoint ", why})};
    };
    if (!text.starts_with("entitable migration ")) { return refused("does not belong to a migration"); }
    if (!text.starts_with(migration_heading)) { return refused("has an unknown version"); }
    constexpr std::size_t sum_size = 4 + 16 + 1; // name, digits, end of the line
    std::string_view const summed = text.substr(0, text.size() < sum_size ? 0 : text.size() - sum_size);
    if (text.substr(summed.size()) != text::joined({"sum ", digest_text(digest_of_text(summed)), "\n"})) {
        return refused("is damaged");
    }
    bulk_text_reader reader{summed.substr(migration_heading.size())};
    migration_position made;
    std::string_view const of_table = reader.line("table");
    std::string_view const of_input = reader.line("input");
    made.token = reader.line("token");
    made.read = reader.number(reader.line("read"));
    made.counts.written = reader.number(reader.line("written"));
    made.counts.already_there = reader.number(reader.line("already_there"));
    made.counts.refused = reader.number(reader.line("refused"));
    made.counts.bytes = reader.number(reader.line("bytes"));
    if (!reader.good()) { return refused("is damaged"); }
    if (of_table != line_text(table)) { return refused("belongs to a migration of a different table"); }
    if (of_input != line_text(input)) { return refused("belongs to a migration with a different input"); }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
