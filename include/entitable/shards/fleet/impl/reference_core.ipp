// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/table.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/detail/stored_rows.hpp>
#include <entitable/shards/fleet/reference_table.hpp>
#include <entitable/shards/map/placement_rules.hpp>

#include <algorithm>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Parses a list of names: "a;b".
inline std::vector<std::string> listed_copies(std::string_view list) {
    std::vector<std::string> names;
    while (!list.empty()) { names.emplace_back(text::take_part(list, ';')); }
    return names;
}
inline void list_copy(std::string& list, std::string_view name) {
    list += text::joined({list.empty() ? "" : ";", name});
}
inline void unlist_copy(std::string& list, std::string_view name) {
    std::string rest;
    for (std::string const& each : listed_copies(list)) {
        if (each != name) { list_copy(rest, each); }
    }
    list = std::move(rest);
}

inline table<reference_pointer> pointers_of(reference_place const& at) {
    return {at.store, text::joined({at.name, "0ref"})};
}

ENTITABLE_DECL result<reference_pointer> read_pointer(reference_place const& at) {
    auto found = pointers_of(at).get("reference", at.who);
    if (is_absent(found)) {
        reference_pointer none;
        none.who = at.who;
        return none;
    }
    return found;
}

/// Makes one change of the pointer under its ETag. `edit` receives the current pointer, any number of times, and returns whether to change
/// it. The pointer shows whether an earlier send, whose response was lost, was applied.
inline result<void> change_pointer(reference_place const& at, function_ref<result<bool>(reference_pointer&)> edit) {
    constexpr int most_attempts = 50;
    auto const pointers = pointers_of(at);
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        auto const before = pointers.get_stored("reference", at.who);
        if (!before && !is_absent(before)) { return failure{before.error()}; }
        reference_pointer changed;
        changed.who = at.who;
        if (before) { changed = before->entity; }
        ENTITABLE_TRY(bool const wanted, edit(changed));
        if (!wanted) { return {}; }
        auto const done = before ? pointers.replace(changed, before->etag) : pointers.insert(changed);
        if (done) { return {}; }
        if (done.error().effect != effect::unknown && !was_beaten(done.error(), rival_change::changed_or_inserted)) {
            return failure{done.error()};
        }
    }
    return failure{error_code::store_busy, "too many conflicts with other changes of the reference table's pointer"};
}

/// Creates a table name for one version, unique to this attempt; records it in the pointer before the table is created.
inline result<std::string> begin_copy(reference_place const& at, std::int64_t version) {
    std::string stored = text::joined({at.name, "0v", std::to_string(version), "x",
        guid::random().to_string().substr(0, 8), guid::random().to_string().substr(0, 8)});
    ENTITABLE_CHECK(pointers_of(at).create_if_absent());
    ENTITABLE_CHECK(change_pointer(at, [&](reference_pointer& pointer) -> result<bool> {
        if (list_contains(pointer.making, stored)) { return false; }
        list_copy(pointer.making, stored);
        return true;
    }));
    call context;
    auto const made = at.store.execute(create_table{stored}, context);
    if (!made && made.error().code != error_code::table_already_exists && made.error().effect != effect::unknown) {
        return failure{made.error()};
    }
    return stored;
}

/// Activates a filled and verified table in place of the previous table; false if a newer table is already active.
inline result<bool> flip_pointer(reference_place const& at, std::int64_t version, std::string const& stored,
    rows_content const& content, bool is_next) {
    bool flipped = false;
    ENTITABLE_CHECK(change_pointer(at, [&](reference_pointer& pointer) -> result<bool> {
        flipped = pointer.stored == stored; // an earlier attempt whose response was lost has applied it
        if (flipped) { return false; }
        if (!list_contains(pointer.making, stored) || (is_next && pointer.version + 1 != version)) {
            return failure{
                error_code::update_condition_not_satisfied, "another process is publishing the reference table"};
        }
        if (pointer.version > version) { return false; }
        unlist_copy(pointer.making, stored);
        if (!pointer.stored.empty()) { list_copy(pointer.retired, pointer.stored); }
        pointer.stored = stored;
        pointer.version = version;
        pointer.rows = static_cast<std::int64_t>(content.rows);
        pointer.digest = static_cast<std::int64_t>(content.digest);
        flipped = true;
        return true;
    }));
    return flipped;
}

/// Drops unused copies: abandoned copies, and copies older than the previous one. Before they are dropped, they are
/// removed from the lists that a flip checks, so that none of them can still be activated.
inline result<void> sweep_copies(reference_place const& at) {
    ENTITABLE_TRY(auto const seen, read_pointer(at));
    if (seen.making.empty() && seen.dropping.empty() && listed_copies(seen.retired).size() <= 1) { return {}; }
    std::vector<std::string> drop;
    ENTITABLE_CHECK(change_pointer(at, [&](reference_pointer& pointer) -> result<bool> {
        for (std::string const& each : listed_copies(pointer.making)) { list_copy(pointer.dropping, each); }
        pointer.making.clear();
        auto old = listed_copies(pointer.retired);
        for (std::size_t index = 0; index + 1 < old.size(); ++index) { // readers may still use the last copy
            list_copy(pointer.dropping, old[index]);
            unlist_copy(pointer.retired, old[index]);
        }
        drop = listed_copies(pointer.dropping);
        return true;
    }));
    for (std::string const& each : drop) { ENTITABLE_CHECK(drop_if_there(at.store, each)); }
    return change_pointer(at, [&](reference_pointer& pointer) -> result<bool> {
        std::string const before = pointer.dropping;
        for (std::string const& each : drop) { unlist_copy(pointer.dropping, each); }
        return pointer.dropping != before;
    });
}

/// Fills a new copy from a table, compares it with the expected content (or with the content read, if none is given), and flips.
inline result<bool> fill_copy(reference_place const& at, std::int64_t version, std::string const& stored,
    any_store const& from, std::string const& table, rows_content const* expected, bool is_next, clock& time) {
    stored_rows rows{from, table};
    ENTITABLE_TRY(auto const read, fill_with_rows(rows, at.store, stored, time));
    ENTITABLE_TRY(auto const written, content_in(at.store, stored));
    if (!written.same_rows(expected != nullptr ? *expected : read)) {
        return failure{error_code::row_mismatch,
            text::joined({"the copy of version ", std::to_string(version), " of the reference table ", at.name,
                " differs from the published content: it is not served"})};
    }
    if (is_next) { // the source may change during the read
        ENTITABLE_TRY(auto const again, content_in(from, table));
        if (!again.same_rows(read)) {
            return failure{error_code::update_condition_not_satisfied,
                "the source of the reference table changed while it was published: publish again"};
        }
    }
    return flip_pointer(at, version, stored, written, is_next);
}

/// Installs a new copy. UpdateConditionNotSatisfied if another process has swept it as abandoned.
inline result<bool> install_copy(reference_place const& at, std::int64_t version, any_store const& from,
    std::string const& table, rows_content const* expected, bool is_next, clock& time) {
    ENTITABLE_TRY(auto const stored, begin_copy(at, version));
    auto done = fill_copy(at, version, stored, from, table, expected, is_next, time);
    if (done) { return done; }
    auto const now = read_pointer(at);
    if (!now || now->stored == stored || list_contains(now->making, stored) || list_contains(now->retired, stored) ||
        list_contains(now->dropping, stored)) {
        return done;
    }
    ENTITABLE_CHECK(drop_if_there(at.store, stored)); // the table may have been made after the sweep
    return failure{error_code::update_condition_not_satisfied, "another process is publishing the reference table"};
}

inline rows_content content_of_pointer(reference_pointer const& pointer) noexcept {
    return {static_cast<std::uint64_t>(pointer.rows), 0, static_cast<std::uint64_t>(pointer.digest)};
}

ENTITABLE_DECL result<reference_pointer> make_version(
    any_store const& source, std::string const& source_table, std::string const& name, clock& time) {
    reference_place const master{source, name, "master"};
    ENTITABLE_TRY(auto const last, read_pointer(master));
    ENTITABLE_TRY(auto const present, content_in(source, source_table));
    if (last.version == 0 || !present.same_rows(content_of_pointer(last))) {
        ENTITABLE_CHECK(install_copy(master, last.version + 1, source, source_table, nullptr, true, time));
    }
    ENTITABLE_CHECK(sweep_copies(master));
    return read_pointer(master);
}

ENTITABLE_DECL result<std::int64_t> fill_reference(
    any_store const& source, std::string const& name, any_store const& there, bool from_scratch, clock& time) {
    constexpr int most_attempts = 10;
    reference_place const master{source, name, "master"};
    reference_place const copy{there, name, "copy"};
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        ENTITABLE_TRY(auto const published, read_pointer(master));
        if (published.version == 0) {
            return failure{error_code::reference_missing,
                text::joined({"the reference table ", name, " has never been published"})};
        }
        ENTITABLE_TRY(auto const has, read_pointer(copy));
        if (has.version < published.version || from_scratch) {
            rows_content const wanted = content_of_pointer(published);
            auto const done = install_copy(copy, published.version, source, published.stored, &wanted, false, time);
            if (!done) {
                ENTITABLE_TRY(auto const now, read_pointer(master));
                ENTITABLE_TRY(auto const there_now, read_pointer(copy));
                if (now.version != published.version || there_now.stored != has.stored) {
                    continue; // a newer version may have removed the source of the copy, or another process came first
                }
                return failure{done.error()};
            }
        }
        ENTITABLE_CHECK(sweep_copies(copy));
        ENTITABLE_TRY(auto const after, read_pointer(copy));
        return after.version;
    }
    return failure{error_code::store_busy, "the reference table is published faster than a store can copy it"};
}

ENTITABLE_DECL result<reference_state> check_reference(
    any_store const& source, std::string const& name, any_store const& there) {
    ENTITABLE_TRY(auto const published, read_pointer({source, name, "master"}));
    ENTITABLE_TRY(auto const has, read_pointer({there, name, "copy"}));
    reference_state told;
    told.version = has.version;
    told.is_current = has.version == published.version;
    if (has.version > 0) {
        auto const found = content_in(there, has.stored);
        if (!found && !is_absent(found.error())) { return failure{found.error()}; }
        told.is_sound = found && found->same_rows(content_of_pointer(has));
    }
    return told;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
