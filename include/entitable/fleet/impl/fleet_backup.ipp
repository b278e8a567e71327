// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/table.hpp>
#include <entitable/core/try.hpp>
#include <entitable/fleet/detail/fill_table.hpp>
#include <entitable/fleet/detail/shard_visits.hpp>
#include <entitable/fleet/fleet_backup.hpp>
#include <entitable/fleet/fleet_check.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The tables of a backup. No name of a backup has a digit and no name of a table begins with one, so "0" tells them apart.
struct backup_place {
    any_transport store;
    std::string name;

    [[nodiscard]] std::string about() const { return text::joined({name, "0backup"}); }
    [[nodiscard]] table<backup_header> headers() const { return {store, about()}; }
    [[nodiscard]] table<backup_part> parts() const { return {store, about()}; }
    [[nodiscard]] std::string stored(backup_part const& part) const {
        return shard_table_name(text::joined({name, "0", part.table}), part.shard, part.attempt);
    }
};

inline result<void> check_backup_name(std::string_view name) {
    bool const letters = std::all_of(name.begin(), name.end(),
        [](char each) { return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z'); });
    if (!letters || name.empty() || name.size() > 20) {
        return failure{error_code::invalid_input, "the name of a backup has 1 to 20 letters"};
    }
    return {};
}

/// The parts that are there, by shard and table.
inline result<std::map<std::pair<std::int32_t, std::string>, backup_part>> parts_of(backup_place const& at) {
    using p = fields<backup_part>;
    std::map<std::pair<std::int32_t, std::string>, backup_part> all;
    ENTITABLE_TRY(auto found, at.parts().where(p::backup == "backup" && p::shard >= 0).to());
    for (backup_part& each : found) {
        std::pair<std::int32_t, std::string> key{each.shard, each.table};
        all.emplace(std::move(key), std::move(each));
    }
    return all;
}

inline result<void> same_backup(result<written> done) {
    if (done) {
        return {};
    }
    failure stopped{done.error()};
    if (stopped.error().code == error_code::update_condition_not_satisfied ||
        stopped.error().code == error_code::entity_already_exists) {
        stopped.error().code = error_code::update_condition_not_satisfied;
        stopped.error().message = "another process makes the same backup";
    }
    return stopped;
}

/// Whether an earlier run has copied a table of a shard whole, with the keys that the shard has now.
inline bool is_kept(
    std::map<std::pair<std::int32_t, std::string>, backup_part> const& before, shard_visit const& shard) {
    return std::all_of(shard.tables.begin(), shard.tables.end(), [&](visited_table const& table) {
        auto const part = before.find({shard.shard, table.name});
        return part != before.end() && part->second.state == "whole" &&
            part->second.low.value_or("") == shard.keys.lower.key &&
            part->second.high.value_or("") == shard.keys.upper.key;
    });
}

/// Drops what was copied of shards that are merged into others by now.
inline result<void> drop_merged_parts(backup_place const& at, shard_map_copy const& map) {
    ENTITABLE_TRY(auto const parts, parts_of(at));
    for (auto const& [key, part] : parts) {
        if (map.find_shard(part.shard) == nullptr) {
            ENTITABLE_CHECK(drop_if_there(at.store, part.stored));
            ENTITABLE_CHECK(at.parts().remove("backup", part.shard, part.table, any_etag));
        }
    }
    return {};
}

/// Copies one table of one shard into a table that no other attempt has.
inline result<void> copy_part(backup_place const& at, backup_part part, any_transport const& from,
    std::string const& table, key_interval const& keys, clock& time) {
    auto const parts = at.parts();
    auto const before = parts.get_stored("backup", part.shard, part.table);
    if (!before && before.error().code != error_code::resource_not_found) {
        return failure{before.error()};
    }
    part.state = "copying";
    part.attempt = before ? before->entity.attempt + 1 : 1;
    part.stored = at.stored(part);
    auto registered = before ? parts.replace(part, before->etag) : parts.insert(part);
    if (!registered) { // one whose answer was lost is begun anew by the next run
        return same_backup(std::move(registered));
    }
    if (before) {
        ENTITABLE_CHECK(drop_if_there(at.store, before->entity.stored));
    }
    call context;
    auto const made = at.store.execute(create_table{part.stored}, context);
    if (!made && made.error().code != error_code::table_already_exists) { // the name is of this attempt alone
        return failure{made.error()};
    }
    stored_rows rows{from, table, keys};
    ENTITABLE_TRY(auto const copied, fill_with_rows(rows, at.store, part.stored, time));
    ENTITABLE_TRY(auto const read_back, content_in(at.store, part.stored));
    if (!read_back.same_rows(copied)) {
        return failure{error_code::row_mismatch,
            text::joined({"the copy of the table ", part.table, " of the virtual shard ", std::to_string(part.shard),
                " is not what was written"})};
    }
    part.state = "whole";
    part.rows = static_cast<std::int64_t>(copied.rows);
    part.digest = static_cast<std::int64_t>(copied.digest);
    return same_backup(parts.replace(part, registered->etag));
}

/// The header of a backup that is whole.
inline result<backup_report> whole_backup(backup_place const& at) {
    ENTITABLE_CHECK(check_backup_name(at.name));
    auto header = at.headers().get("backup", "header");
    bool const missing = !header &&
        (header.error().code == error_code::resource_not_found || header.error().code == error_code::table_not_found);
    if (missing || (header && header->state != "whole")) {
        return failure{error_code::backup_incomplete,
            text::joined({"the backup ", at.name, missing ? " is not there" : " was not made to its end"})};
    }
    if (!header) {
        return std::move(header).as_failure();
    }
    backup_report told;
    told.header = *std::move(header);
    ENTITABLE_TRY(auto parts, parts_of(at));
    std::set<std::string, std::less<>> tables;
    for (std::string_view left = told.header.tables; !left.empty();) {
        std::size_t const end = left.find(';');
        tables.emplace(left.substr(0, end));
        left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    }
    for (auto& [key, part] : parts) { // a table that was dropped meanwhile has left some
        if (tables.find(part.table) != tables.end()) {
            told.rows += static_cast<std::uint64_t>(part.rows);
            told.parts.push_back(std::move(part));
        }
    }
    bool const all_whole = std::all_of(
        told.parts.begin(), told.parts.end(), [](backup_part const& each) { return each.state == "whole"; });
    if (!all_whole || told.parts.size() != tables.size() * static_cast<std::size_t>(told.header.shards)) {
        return failure{error_code::backup_incomplete, text::joined({"the backup ", at.name, " lacks parts"})};
    }
    return told;
}

inline failure damaged_part(backup_part const& part, rows_content const& found) {
    return failure{error_code::row_mismatch,
        text::joined(
            {"the backup of the table ", part.table, " of the virtual shard ", std::to_string(part.shard), " has ",
                std::to_string(found.rows), " rows, was made of ", std::to_string(part.rows), ", or they are others"})};
}

inline bool is_as_made(backup_part const& part, rows_content const& found) noexcept {
    return static_cast<std::int64_t>(found.rows) == part.rows && static_cast<std::int64_t>(found.digest) == part.digest;
}

/// Calls `work` for several parts at once; the first error, by their order.
inline result<void> for_parts(
    fleet_options const& options, std::size_t count, function_ref<result<void>(std::size_t)> work) {
    std::vector<result<void>> outcomes(count);
    in_parallel(count, options.in_flight, [&](std::size_t at) { outcomes[at] = work(at); });
    for (result<void>& each : outcomes) {
        ENTITABLE_CHECK(std::move(each));
    }
    return {};
}

} // namespace detail

ENTITABLE_DECL result<backup_report> back_up(
    fleet const& of, any_transport const& to, std::string name, backup_options const& options) {
    ENTITABLE_CHECK(detail::check_backup_name(name));
    detail::backup_place const at{to, std::move(name)};
    clock& time = *of.options().time;
    ENTITABLE_CHECK(at.headers().create_if_absent());
    backup_header header;
    header.state = "copying";
    header.snapshots = static_cast<bool>(options.snapshot);
    header.begun = time.now();
    auto inserted = at.headers().insert(header);
    ENTITABLE_TRY(auto const known, at.headers().get_stored("backup", "header")); // also after an answer that was lost
    if (!inserted && known.entity.state != "copying") {
        return failure{error_code::invalid_input, text::joined({"a backup ", at.name, " is there already"})};
    }
    header.begun = known.entity.begun;
    header.snapshots = header.snapshots && known.entity.snapshots;
    ENTITABLE_TRY(auto const before, detail::parts_of(at));
    auto const bound_of = [](key_bound const& bound) {
        return bound.end == key_bound::kind::open ? std::nullopt : std::optional{bound.key};
    };
    auto const copy = [&](detail::shard_visit const& shard, any_transport const& from) -> result<void> {
        for (detail::visited_table const& table : shard.tables) {
            backup_part part;
            part.shard = shard.shard;
            part.table = table.name;
            part.store = shard.store;
            part.low = bound_of(shard.keys.lower);
            part.high = bound_of(shard.keys.upper);
            ENTITABLE_CHECK(detail::copy_part(at, std::move(part), from, table.stored, shard.keys, time));
        }
        return {};
    };
    auto const is_left = [&](detail::shard_visit const& shard) { return !detail::is_kept(before, shard); };
    ENTITABLE_TRY(auto const visited, detail::visit_shards(of, is_left, options.snapshot, copy));
    for (detail::shard_visited const& each : visited.shards) {
        if (!each.outcome) {
            error why = each.outcome.error();
            why.message = text::joined({"the store ", each.store, ": ", why.message});
            return failure{std::move(why)};
        }
    }
    detail::shard_map_ref const& last = visited.map;
    ENTITABLE_CHECK(detail::drop_merged_parts(at, *last));
    for (detail::shard_table const& each : last->tables) {
        if (!each.dropping) {
            header.tables += text::joined({header.tables.empty() ? "" : ";", each.name});
        }
    }
    header.state = "whole";
    header.shards = static_cast<std::int32_t>(last->places.size());
    header.map_version = last->header.version;
    header.ended = time.now();
    ENTITABLE_CHECK(detail::same_backup(at.headers().replace(header, known.etag)));
    ENTITABLE_TRY(auto told, detail::whole_backup(at));
    told.kept = last->places.size() - visited.shards.size();
    return told;
}

ENTITABLE_DECL result<backup_report> verify_backup(any_transport const& from, std::string name) {
    detail::backup_place const at{from, std::move(name)};
    ENTITABLE_TRY(auto told, detail::whole_backup(at));
    ENTITABLE_CHECK(detail::for_parts({}, told.parts.size(), [&](std::size_t index) -> result<void> {
        backup_part const& part = told.parts[index];
        ENTITABLE_TRY(auto const found, detail::content_in(from, part.stored));
        return detail::is_as_made(part, found) ? result<void>{} : detail::damaged_part(part, found);
    }));
    return told;
}

ENTITABLE_DECL result<restore_report> restore(any_transport const& from, std::string name, fleet const& into) {
    detail::backup_place const at{from, std::move(name)};
    ENTITABLE_TRY(auto const backup, detail::whole_backup(at));
    any_transport const target{into.cloud()};
    std::map<std::string, rows_content> wanted;
    for (backup_part const& part : backup.parts) {
        rows_content& sum = wanted[part.table];
        sum.rows += static_cast<std::uint64_t>(part.rows);
        sum.digest += static_cast<std::uint64_t>(part.digest);
    }
    for (auto const& [table, content] : wanted) {
        call context;
        auto const made = target.execute(create_table{table}, context);
        if (!made && made.error().code != error_code::table_already_exists) {
            return failure{made.error()};
        }
    }
    restore_report told;
    std::mutex lock;
    ENTITABLE_CHECK(detail::for_parts(into.options(), backup.parts.size(), [&](std::size_t index) -> result<void> {
        backup_part const& part = backup.parts[index];
        detail::stored_rows rows{from, part.stored};
        std::uint64_t written = 0;
        ENTITABLE_TRY(
            auto const read, detail::fill_with_rows(rows, target, part.table, *into.options().time, &written));
        if (!detail::is_as_made(part, read)) {
            return detail::damaged_part(part, read);
        }
        std::lock_guard<std::mutex> const guard{lock};
        told.rows += read.rows;
        told.written += written;
        return {};
    }));
    ENTITABLE_TRY(auto const found, check_fleet(into));
    if (!found.unread.empty()) {
        return failure{found.unread.front().why};
    }
    for (auto const& [table, content] : wanted) {
        rows_content const there = found.of_table(table);
        if (!there.same_rows(content)) {
            return failure{error_code::row_mismatch,
                text::joined({"the restored table ", table, " has ", std::to_string(there.rows), " rows, the backup ",
                    std::to_string(content.rows), ", or they differ: it was not empty, or somebody writes"})};
        }
    }
    return told;
}

ENTITABLE_DECL result<void> drop_backup(any_transport const& from, std::string name) {
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
    dropping.state = "dropping"; // nobody restores half of it
    ENTITABLE_CHECK(at.headers().replace(dropping, header->etag));
    ENTITABLE_TRY(auto const parts, detail::parts_of(at));
    for (auto const& [key, part] : parts) {
        ENTITABLE_CHECK(detail::drop_if_there(from, part.stored));
    }
    return detail::drop_if_there(from, at.about());
}

ENTITABLE_END_NAMESPACE
