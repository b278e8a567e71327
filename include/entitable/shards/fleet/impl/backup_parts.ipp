// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/detail/backup_parts.hpp>
#include <entitable/shards/fleet/detail/stored_rows.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<parts_by_shard> parts_of(backup_place const& at) {
    parts_by_shard all;
    stored_rows rows{at.store, at.about(), key_interval::only("backup")};
    for (;;) {
        ENTITABLE_TRY(auto const each, rows.next());
        if (!each) { return all; }
        if (each->row_key.starts_with("part")) {
            stored_part found{{}, each->etag()};
            ENTITABLE_CHECK(from_row(*each, found.part));
            std::pair<std::int32_t, std::string> key{found.part.shard, found.part.table};
            all.emplace(std::move(key), std::move(found));
        }
    }
}

ENTITABLE_DECL failure other_process(error why) {
    if (was_beaten(why, rival_change::changed_or_inserted)) {
        why.code = error_code::update_condition_not_satisfied;
        why.message = "another process is creating or dropping the same backup";
    }
    return failure{std::move(why)};
}

ENTITABLE_DECL result<void> write_parts(backup_place const& at, std::vector<stored_part> const& parts) {
    constexpr std::size_t most = 100; // limit of changes in a transaction
    for (std::size_t first = 0; first < parts.size(); first += most) {
        auto together = at.parts().batch();
        for (std::size_t index = first; index < (std::min)(parts.size(), first + most); ++index) {
            together.replace(parts[index].part, parts[index].version);
        }
        if (auto const done = together.submit(); !done) { return other_process(done.error()); }
    }
    return {};
}

ENTITABLE_DECL result<void> backup_run::is_last() const {
    ENTITABLE_TRY(auto const now, at.headers().get_stored("backup", "header"));
    return now.etag == header ? result<void>{} : other_process({error_code::update_condition_not_satisfied, {}});
}

ENTITABLE_DECL bool is_kept(parts_by_shard const& before, shard_visit const& shard) {
    return std::all_of(shard.tables.begin(), shard.tables.end(), [&](visited_table const& table) {
        auto const found = before.find({shard.shard, table.name});
        if (found == before.end()) { return false; }
        backup_part const& part = found->second.part;
        return part.state == "whole" && part.store == shard.store && part.source == table.stored &&
            part.epoch == shard.epoch && part.low.value_or("") == shard.keys.lower.key &&
            part.high.value_or("") == shard.keys.upper.key;
    });
}

inline result<void> drop_former(backup_place const& at, backup_part const& part) {
    std::string_view left = part.former ? std::string_view{*part.former} : std::string_view{};
    while (!left.empty()) { ENTITABLE_CHECK(drop_if_there(at.store, std::string{text::take_part(left, ';')})); }
    return {};
}

ENTITABLE_DECL result<void> drop_tables_of(backup_place const& at, backup_part const& part) {
    ENTITABLE_CHECK(drop_former(at, part));
    return drop_if_there(at.store, part.stored);
}

ENTITABLE_DECL result<void> drop_stale_parts(backup_run const& run, shard_map_copy const& map) {
    backup_place const& at = run.at;
    ENTITABLE_TRY(auto const parts, parts_of(at));
    for (auto const& [key, each] : parts) {
        shard_table const* const table = map.find(each.part.table);
        bool const there = table != nullptr && !table->dropping && table->name == each.part.table;
        if (!there || map.find_shard(each.part.shard) == nullptr) {
            ENTITABLE_CHECK(run.is_last());
            backup_part dropping = each.part;
            dropping.state = "dropping"; // recorded before its table is dropped, because a later run may keep the part
            auto const marked = at.parts().replace(dropping, each.version);
            if (!marked) { return other_process(marked.error()); }
            ENTITABLE_CHECK(drop_tables_of(at, dropping));
            if (auto const removed = at.parts().remove(dropping, marked->etag); !removed) {
                return other_process(removed.error());
            }
        }
    }
    return {};
}

ENTITABLE_DECL result<void> take_over_parts(backup_run const& run) {
    ENTITABLE_TRY(auto parts, parts_of(run.at));
    std::vector<stored_part> whole;
    for (auto& [key, each] : parts) {
        if (each.part.state == "whole" && each.part.source) { whole.push_back(std::move(each)); }
    }
    return write_parts(run.at, whole);
}

ENTITABLE_DECL result<stored_part> copy_part(
    backup_run const& run, backup_part part, any_store const& from, key_interval const& keys, clock& time) {
    backup_place const& at = run.at;
    auto const parts = at.parts();
    auto const before = parts.get_stored("backup", part.shard, part.table);
    if (!before && before.error().code != error_code::resource_not_found) { return failure{before.error()}; }
    ENTITABLE_CHECK(run.is_last());
    part.state = "copying";
    part.attempt = before ? before->entity.attempt + 1 : 1;
    part.stored = at.stored(part);
    if (before) {
        std::string const former = before->entity.former.value_or("");
        part.former = text::joined({former, former.empty() ? "" : ";", before->entity.stored});
    }
    auto const registered = before ? parts.replace(part, before->etag) : parts.insert(part);
    if (!registered) { // if the response for a part was lost, the next run starts over with that part
        return other_process(registered.error());
    }
    ENTITABLE_CHECK(drop_former(at, part));
    call context;
    auto const made = at.store.execute(create_table{part.stored}, context);
    if (!made && made.error().code != error_code::table_already_exists) { // the name is unique to this attempt
        return failure{made.error()};
    }
    stored_rows rows{from, *part.source, keys};
    ENTITABLE_TRY(auto const copied, fill_with_rows(rows, at.store, part.stored, time));
    ENTITABLE_TRY(auto const read_back, content_in(at.store, part.stored));
    if (!read_back.same_rows(copied)) {
        return failure{error_code::row_mismatch,
            text::joined({"the copy of the table ", part.table, " of the virtual shard ", std::to_string(part.shard),
                " differs from what was written"})};
    }
    part.state = "whole";
    part.former.reset();
    part.rows = static_cast<std::int64_t>(copied.rows);
    part.digest = static_cast<std::int64_t>(copied.digest);
    return stored_part{std::move(part), registered->etag};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
