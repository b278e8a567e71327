// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/file/impl/sqlite_store.ipp>

ENTITABLE_BEGIN_NAMESPACE

/// On a connection of its own: a pragma may read the schema anew, and what a reader's connection remembers of tables depends on
/// that.
ENTITABLE_DECL result<file_report> sqlite_store::verify(steady_time until) {
    constexpr std::size_t most_problems = 10;
    detail::patience waits{options_, until};
    auto reader = readers_.open_another(waits);
    if (!reader) {
        return std::move(reader).as_failure();
    }
    file_report report;
    auto structure = reader->text_of("PRAGMA integrity_check(10)");
    if (!structure) {
        return std::move(structure).as_failure();
    }
    if (*structure != "ok") {
        report.problems.push_back(*std::move(structure));
    }
    detail::query all{*reader, detail::sql::all_rows};
    auto more = all.first_row(waits);
    for (; more && *more; more = all.next_row()) {
        std::string_view const partition = all.bytes(1);
        std::string_view const row = all.bytes(2);
        std::string_view bytes = all.bytes(3);
        bool const sound = detail::unseal(bytes, detail::partition_checksum(all.number(0), partition), row);
        ++report.rows;
        report.bytes += partition.size() + row.size() + bytes.size();
        if (!sound) {
            ++report.damaged;
            if (report.problems.size() < most_problems) {
                failure damaged = detail::damaged_row(partition, row);
                report.problems.push_back(text::joined({damaged.error().message, ": ", damaged.error().detail}));
            }
        }
    }
    if (!more) {
        return std::move(more).as_failure();
    }
    return report;
}

ENTITABLE_END_NAMESPACE
