// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/detail/backup_parts.hpp>
#include <entitable/shards/fleet/detail/shard_visits.hpp>
#include <entitable/shards/fleet/detail/stored_rows.hpp>
#include <entitable/shards/fleet/fleet_backup.hpp>
#include <entitable/shards/fleet/fleet_check.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline result<void> check_backup_name(std::string_view name) {
    bool const letters = std::all_of(name.begin(), name.end(),
        [](char each) { return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z'); });
    if (!letters || name.empty() || name.size() > 20) {
        return failure{error_code::invalid_input, "the name of a backup must have 1 to 20 letters"};
    }
    return {};
}

/// Reports the parts of a backup with this header. BackupIncomplete unless there is one for each table of each shard, and all are whole.
inline result<backup_report> report_of(backup_place const& at, backup_header header) {
    backup_report told;
    told.header = std::move(header);
    ENTITABLE_TRY(auto parts, parts_of(at));
    std::set<std::string, std::less<>> tables;
    for (std::string_view left = told.header.tables; !left.empty();) { tables.emplace(text::take_part(left, ';')); }
    for (auto& [key, each] : parts) { // earlier programs leave parts of tables that were dropped in the meantime
        if (tables.find(each.part.table) != tables.end()) {
            told.rows += static_cast<std::uint64_t>(each.part.rows);
            told.parts.push_back(std::move(each.part));
        }
    }
    bool const all_whole = std::all_of(
        told.parts.begin(), told.parts.end(), [](backup_part const& each) { return each.state == "whole"; });
    if (!all_whole || told.parts.size() != tables.size() * static_cast<std::size_t>(told.header.shards)) {
        return failure{error_code::backup_incomplete, text::joined({"the backup ", at.name, " lacks parts"})};
    }
    return told;
}

/// Reports a complete backup.
inline result<backup_report> whole_backup(backup_place const& at) {
    ENTITABLE_CHECK(check_backup_name(at.name));
    auto header = at.headers().get("backup", "header");
    bool const missing = is_absent(header);
    if (missing || (header && header->state != "whole")) {
        return failure{error_code::backup_incomplete,
            text::joined({"the backup ", at.name, missing ? " does not exist" : " is incomplete"})};
    }
    if (!header) { return std::move(header).as_failure(); }
    return report_of(at, *std::move(header));
}

/// Starts a run, or takes over the parts of earlier runs. Returns the header.
inline result<backup_header> begin_run(fleet const& of, backup_run& run, bool snapshots) {
    backup_place const& at = run.at;
    ENTITABLE_CHECK(at.headers().create_if_absent());
    backup_header header;
    header.state = "copying";
    header.snapshots = snapshots;
    header.begun = of.options().time->now();
    if (auto inserted = at.headers().insert(header)) {
        run.header = inserted->etag;
    } else { // also happens after a lost response
        ENTITABLE_TRY(auto const known, at.headers().get_stored("backup", "header"));
        if (known.entity.state != "copying") {
            return failure{error_code::invalid_input, text::joined({"the backup ", at.name, " already exists"})};
        }
        header.begun = known.entity.begun;
        header.snapshots = header.snapshots &&
            known.entity.snapshots; // true only if every run used snapshots; stored before the first part
        auto const taken = at.headers().replace(header, known.etag);
        if (!taken) { return other_process(taken.error()); }
        run.header = taken->etag;
        ENTITABLE_TRY(auto const map, of.cloud().state().map.state().fresh({}));
        ENTITABLE_CHECK(drop_stale_parts(run, *map));
        ENTITABLE_CHECK(take_over_parts(run));
    }
    return header;
}

/// Copies the shards that no earlier run has copied, and writes the header of the complete backup.
inline result<backup_report> finish_run(
    fleet const& of, backup_run const& run, backup_header header, backup_options const& options) {
    backup_place const& at = run.at;
    clock& time = *of.options().time;
    ENTITABLE_TRY(auto const before, parts_of(at));
    auto const bound_of = [](key_bound const& bound) {
        return bound.end == key_bound::kind::open ? std::nullopt : std::optional{bound.key};
    };
    std::map<std::int32_t, std::vector<stored_part>> copied; // parts by shard, until the map has confirmed them
    std::mutex lock;
    auto const copy = [&](shard_visit const& shard, any_store const& from) -> result<void> {
        std::vector<stored_part> parts;
        for (visited_table const& table : shard.tables) {
            backup_part part;
            part.shard = shard.shard;
            part.table = table.name;
            part.store = shard.store;
            part.source = table.stored;
            part.epoch = shard.epoch;
            part.low = bound_of(shard.keys.lower);
            part.high = bound_of(shard.keys.upper);
            ENTITABLE_TRY(auto made, copy_part(run, std::move(part), from, shard.keys, time));
            parts.push_back(std::move(made));
        }
        std::lock_guard<std::mutex> const guard{lock};
        copied[shard.shard] = std::move(parts);
        return {};
    };
    auto const confirm = [&](shard_visit const& shard) -> result<void> {
        std::unique_lock<std::mutex> guard{lock};
        auto const parts = std::move(copied[shard.shard]);
        guard.unlock();
        return write_parts(at, parts);
    };
    auto const is_left = [&](shard_visit const& shard) { return !is_kept(before, shard); };
    ENTITABLE_TRY(auto const visited, visit_shards(of, is_left, options.snapshot, copy, confirm));
    for (shard_visited const& each : visited.shards) {
        if (!each.outcome) {
            error why = each.outcome.error();
            why.message = text::joined({"the store ", each.store, ": ", why.message});
            return failure{std::move(why)};
        }
    }
    shard_map_ref const& last = visited.map;
    ENTITABLE_CHECK(drop_stale_parts(run, *last));
    for (shard_table const& each : last->tables) {
        if (!each.dropping) { header.tables += text::joined({header.tables.empty() ? "" : ";", each.name}); }
    }
    header.state = "whole";
    header.shards = static_cast<std::int32_t>(last->places.size());
    header.map_version = last->header.version;
    header.ended = time.now();
    ENTITABLE_TRY(auto told, report_of(at, header)); // the report is made before the header is marked complete
    if (auto const done = at.headers().replace(header, run.header); !done) { return other_process(done.error()); }
    told.kept = last->places.size() - visited.shards.size();
    return told;
}

inline failure damaged_part(backup_part const& part, rows_content const& found) {
    return failure{error_code::row_mismatch,
        text::joined({"the backup of the table ", part.table, " of the virtual shard ", std::to_string(part.shard),
            " differs from what was backed up: ", std::to_string(found.rows), " rows, ", std::to_string(part.rows),
            " expected"})};
}

inline bool is_as_made(backup_part const& part, rows_content const& found) noexcept {
    return static_cast<std::int64_t>(found.rows) == part.rows && static_cast<std::int64_t>(found.digest) == part.digest;
}

/// Calls `work` for several parts concurrently; returns the first error, in their order.
inline result<void> for_parts(
    fleet_options const& options, std::size_t count, function_ref<result<void>(std::size_t)> work) {
    std::vector<result<void>> outcomes(count);
    in_parallel(count, options.in_flight, [&](std::size_t at) { outcomes[at] = work(at); });
    for (result<void>& each : outcomes) { ENTITABLE_CHECK(std::move(each)); }
    return {};
}

} // namespace detail

ENTITABLE_DECL result<backup_report> back_up(
    fleet const& of, any_store const& to, std::string name, backup_options const& options) {
    ENTITABLE_CHECK(detail::check_backup_name(name));
    detail::backup_run run{{to, std::move(name)}, {}};
    ENTITABLE_TRY(auto header, detail::begin_run(of, run, static_cast<bool>(options.snapshot)));
    auto made = detail::finish_run(of, run, std::move(header), options);
    if (!made) { // a later run may have dropped the tables of this run, which can cause any error
        auto const last = run.is_last();
        if (!last && detail::was_beaten(last.error(), detail::rival_change::changed_or_inserted)) {
            return failure{last.error()};
        }
    }
    return made;
}

ENTITABLE_DECL result<backup_report> verify_backup(any_store const& from, std::string name) {
    detail::backup_place const at{from, std::move(name)};
    ENTITABLE_TRY(auto told, detail::whole_backup(at));
    ENTITABLE_CHECK(detail::for_parts({}, told.parts.size(), [&](std::size_t index) -> result<void> {
        backup_part const& part = told.parts[index];
        ENTITABLE_TRY(auto const found, detail::content_in(from, part.stored));
        return detail::is_as_made(part, found) ? result<void>{} : detail::damaged_part(part, found);
    }));
    return told;
}

ENTITABLE_DECL result<restore_report> restore(any_store const& from, std::string name, fleet const& into) {
    detail::backup_place const at{from, std::move(name)};
    ENTITABLE_TRY(auto const backup, detail::whole_backup(at));
    any_store const target{into.cloud()};
    std::map<std::string, rows_content> wanted;
    for (backup_part const& part : backup.parts) {
        rows_content& sum = wanted[part.table];
        sum.rows += static_cast<std::uint64_t>(part.rows);
        sum.digest += static_cast<std::uint64_t>(part.digest);
    }
    for (auto const& [table, content] : wanted) {
        call context;
        auto const made = target.execute(create_table{table, true}, context);
        if (!made && made.error().code != error_code::table_already_exists) { return failure{made.error()}; }
    }
    restore_report told;
    std::mutex lock;
    ENTITABLE_CHECK(detail::for_parts(into.options(), backup.parts.size(), [&](std::size_t index) -> result<void> {
        backup_part const& part = backup.parts[index];
        detail::stored_rows rows{from, part.stored};
        std::uint64_t written = 0;
        ENTITABLE_TRY(
            auto const read, detail::fill_with_rows(rows, target, part.table, *into.options().time, &written));
        if (!detail::is_as_made(part, read)) { return detail::damaged_part(part, read); }
        std::lock_guard<std::mutex> const guard{lock};
        told.rows += read.rows;
        told.written += written;
        return {};
    }));
    ENTITABLE_TRY(auto const found, check_fleet(into));
    if (!found.unread.empty()) { return failure{found.unread.front().error}; }
    for (auto const& [table, content] : wanted) {
        rows_content const there = found.of_table(table);
        if (!there.same_rows(content)) {
            return failure{error_code::row_mismatch,
                text::joined(
                    {"the restored table ", table, " differs from the backup: ", std::to_string(there.rows), " rows, ",
                        std::to_string(content.rows), " expected: it was not empty, or another program writes to it"})};
        }
    }
    return told;
}

ENTITABLE_DECL result<void> drop_backup(any_store const& from, std::string name) {
    detail::backup_place const at{from, std::move(name)};
    ENTITABLE_CHECK(detail::check_backup_name(at.name));
    auto const header = at.headers().get_stored("backup", "header");
    if (!header) {
        bool const gone = header.error().code == error_code::table_not_found;
        return gone                                                 ? result<void>{}
            : header.error().code == error_code::resource_not_found ? detail::drop_if_there(from, at.about())
                                                                    : result<void>{failure{header.error()}};
    }
    backup_header dropping = header->entity;
    dropping.state = "dropping"; // ensures that a partial backup is never restored
    ENTITABLE_CHECK(at.headers().replace(dropping, header->etag));
    ENTITABLE_TRY(auto const parts, detail::parts_of(at));
    for (auto const& [key, each] : parts) { ENTITABLE_CHECK(detail::drop_tables_of(at, each.part)); }
    return detail::drop_if_there(from, at.about());
}

ENTITABLE_END_NAMESPACE
