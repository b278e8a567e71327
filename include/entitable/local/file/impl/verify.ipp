// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/local/file/impl/sqlite_store.ipp>

#include <set>

ENTITABLE_BEGIN_NAMESPACE

/// Uses its own connection: a pragma may read the schema again, and a reader's connection caches tables for its schema.
ENTITABLE_DECL result<file_report>(sqlite_store::verify)(call const& context) {
    constexpr std::size_t most_problems = 10;
    detail::wait_budget waits{options_, context};
    ENTITABLE_TRY(auto borrowed, readers_->open_another(waits));
    detail::connection* const reader = &*borrowed;
    file_report report;
    ENTITABLE_TRY(auto structure, reader->text_of("PRAGMA integrity_check(10)"));
    if (structure != "ok") { report.problems.push_back(std::move(structure)); }
    auto const found = [&](std::string_view problem, std::string_view partition, std::string_view row) {
        if (report.problems.size() < most_problems) {
            report.problems.push_back(
                text::joined({problem, ": PartitionKey \"", text::printable(text::shortened(partition)),
                    "\", RowKey \"", text::printable(text::shortened(row)), "\""}));
        }
    };
    detail::statement all{*reader, detail::sql::all_rows};
    std::int64_t table = 0;
    std::string last_partition;
    std::string last_row;
    auto more = all.first_row(waits);
    for (; more && *more; more = all.next_row()) {
        std::string_view const partition = all.bytes(1);
        std::string_view const row = all.bytes(2);
        auto const bytes =
            detail::unpack_row(*reader, all.bytes(3), detail::partition_checksum(all.number(0), partition), row);
        if (++report.rows % 1024 == 0 && waits.call_over()) { return waits.given_up(); }
        report.bytes += partition.size() + row.size() + (bytes ? bytes->size() : 0);
        if (!bytes && reader->broken()) { return detail::unreadable_row(*reader, partition, row); }
        if (!bytes) {
            ++report.damaged;
            found("a row is damaged", partition, row);
        }
        if (report.rows > 1 && table == all.number(0) &&
            (last_partition > partition || (last_partition == partition && last_row >= row))) {
            found("a row is out of order", partition, row);
        }
        if (report.rows == 1 || table != all.number(0)) {
            table = all.number(0);
            detail::statement owner{*reader, detail::sql::table_name};
            auto const named = owner.bind(1, table).first_row(waits);
            if (!named || !*named) { found("a row without a table", partition, row); }
        }
        last_partition = partition;
        last_row = row;
    }
    if (!more) { return std::move(more).as_failure(); }
    // A table's key is its name, in lower case or unchanged, so that a changed bit in either is detected.
    bool const without_case =
        options_.local.limits.table_names_without_case; // the setting matches the file, or the file would not be open
    std::set<std::string, std::less<>> names;
    detail::statement tables{*reader, detail::sql::list_tables};
    more = tables.bind(1, std::string_view{}).first_row(waits);
    for (; more && *more; more = tables.next_row()) {
        std::string const shown{tables.bytes(1)};
        if (tables.bytes(0) != (without_case ? text::ascii_lower(shown) : shown)) {
            report.problems.push_back("the name of a table is damaged");
        }
        if (without_case && !names.insert(text::ascii_lower(shown)).second) {
            report.problems.push_back("two table names differ only in case");
        }
    }
    ENTITABLE_CHECK(borrowed.still());
    if (!more) { return std::move(more).as_failure(); }
    return report;
}

ENTITABLE_END_NAMESPACE
