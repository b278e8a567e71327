// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/logged_writes.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <limits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The changes of a lane after a number.
struct read_lane {
    std::vector<logged_change> changes;
    std::int64_t number{};        ///< of the last entry that was read, void or not
    std::optional<log_head> head; ///< nullopt unless it was on a page that was read
    bool gap{};                   ///< whether an entry is missing between the number and the entries, or among them
    bool ended{};                 ///< whether all entries were read
};

/// Reads the entries of a lane after a number, and its head: pages until there is an entry, or the end.
ENTITABLE_DECL result<read_lane> read_lane_after(index_family const& family, std::string_view partition_key,
    std::uint32_t lane, std::int64_t after, std::uint32_t most, call const& context) {
    result<read_lane> read{std::in_place};
    read->number = after;
    std::size_t const lanes = family.log->lanes;
    constexpr std::int64_t last = (std::numeric_limits<std::int64_t>::max)();
    query_entities asked;
    asked.table = family.main.name();
    asked.range.partition = key_interval::only(std::string{partition_key});
    asked.range.row = {key_bound::including(log_entry_key(lanes, lane, after == last ? last : after + 1).to_string()),
        key_bound::including(log_head_key(lanes, lane).to_string())};
    asked.page_size = (std::min)(std::uint32_t{1000}, most + 1); // the head as well
    page_cursor pages{std::move(asked)};
    while (pages.more() && read->changes.empty() && read->number == after) {
        call own = context;
        ENTITABLE_TRY(auto const found, pages.take(family.main.store().execute(pages.request(), own)));
        for (std::size_t at = 0; at < found.rows.size(); ++at) {
            row_view const each = found.rows[at];
            if (each.row_key == log_head_key(lanes, lane).view()) {
                ENTITABLE_TRY(read->head, read_log_head(each));
                continue;
            }
            ENTITABLE_TRY(stored_log_entry entry, read_log_entry(each, lane));
            if (entry.previous != read->number) {
                read->gap = true;
                return read;
            }
            if (read->changes.size() == most) { return read; } // `ended` is not set: there are more
            read->number = entry.change.number;
            if (!entry.is_void) { read->changes.push_back(std::move(entry.change)); }
        }
    }
    read->ended = !pages.more();
    return read;
}

ENTITABLE_DECL result<std::optional<log_head>> read_head_of(
    index_family const& family, std::string_view partition_key, std::uint32_t lane, call const& context) {
    call own = context;
    auto const found = family.main.store().execute(get_entity{family.main.name(), std::string{partition_key},
                                                       log_head_key(family.log->lanes, lane).to_string(), {}},
        own);
    if (!found) {
        if (found.error().code == error_code::resource_not_found) { return std::optional<log_head>{}; }
        return failure{found.error()};
    }
    ENTITABLE_TRY(log_head head, read_log_head(found->entity));
    return std::optional{std::move(head)};
}

/// The answer that asks for a full read, with the position of the heads before that read.
ENTITABLE_DECL result<logged_changes> full_read_of(
    index_family const& family, std::string_view partition_key, guid const& log, call const& context) {
    result<logged_changes> made{std::in_place};
    made->needs_full_read = true;
    made->position.log = log;
    for (std::uint32_t lane = 0; lane < family.log->lanes; ++lane) {
        ENTITABLE_TRY(auto const head, read_head_of(family, partition_key, lane, context));
        made->position.numbers.push_back(head ? head->number : 0);
    }
    return made;
}

/// Returns the declared log. `again`: reads the declaration even if it is known.
ENTITABLE_DECL result<guid> declared_log(index_family const& family, bool again, call& context) {
    if (again) { ENTITABLE_CHECK(family.read_states(context)); }
    ENTITABLE_CHECK(family.check_ready(family.log->companion, context));
    ENTITABLE_TRY(shared<index_states> const states, family.states(context));
    return states->log;
}

ENTITABLE_DECL result<logged_changes> read_logged_changes(index_family const& family, std::string_view partition_key,
    log_position const& after, changes_options const& options) {
    call context{family.main.options(), *family.options.time};
    context.operation_id.clear();
    if (options.max_changes == 0 || options.max_changes > 1000) {
        return failure{error_code::invalid_input, "max_changes must be between 1 and 1000"};
    }
    if (!after.numbers.empty() && after.numbers.size() != family.log->lanes) {
        return failure{error_code::invalid_input,
            "the position belongs to a log with another number of lanes: begin with a new position"};
    }
    ENTITABLE_TRY(guid log, declared_log(family, false, context));
    if (after.numbers.empty()) { return full_read_of(family, partition_key, log, context); }
    if (after.log != log) { // it may have been started again since
        ENTITABLE_TRY(log, declared_log(family, true, context));
        if (after.log != log) { return full_read_of(family, partition_key, log, context); }
    }
    result<logged_changes> made{std::in_place};
    made->position = after;
    for (std::uint32_t lane = 0; lane < family.log->lanes; ++lane) {
        std::int64_t const begun = after.numbers[lane];
        ENTITABLE_TRY(
            read_lane read, read_lane_after(family, partition_key, lane, begun, options.max_changes, context));
        auto head = read.head;
        if (!head && !read.gap) { ENTITABLE_TRY(head, read_head_of(family, partition_key, lane, context)); }
        if (head && head->log != after.log) {
            // Written by a program with another declaration: earlier, or later than the known one.
            ENTITABLE_TRY(log, declared_log(family, true, context));
            if (after.log != log) { return full_read_of(family, partition_key, log, context); }
        }
        if (!head && begun > 0) { read.gap = true; } // the rows of the partition were removed
        if (head && !read.gap && read.ended && head->number > read.number) {
            // An entry that was written during the read is found now. One that is still missing was trimmed.
            std::int64_t const due = head->number;
            ENTITABLE_TRY(read_lane again,
                read_lane_after(family, partition_key, lane, read.number, options.max_changes, context));
            read.gap = again.gap || (again.number == read.number && due > read.number);
            read.number = again.number;
            read.ended = again.ended;
            for (logged_change& each : again.changes) { read.changes.push_back(std::move(each)); }
        }
        bool const is_behind = head && head->number < begun; // restored to an earlier state
        if (read.gap || is_behind) { return full_read_of(family, partition_key, log, context); }
        made->more = made->more || !read.ended;
        made->position.numbers[lane] = read.number;
        for (logged_change& each : read.changes) { made->changes.push_back(std::move(each)); }
    }
    return made;
}

ENTITABLE_DECL result<log_position> first_position(index_family const& family) {
    call context{family.main.options(), *family.options.time};
    context.operation_id.clear();
    ENTITABLE_TRY(guid const log, declared_log(family, false, context));
    return log_position{log, std::vector<std::int64_t>(family.log->lanes)};
}

ENTITABLE_DECL result<void> void_number(
    index_family const& family, std::string const& partition_key, std::uint32_t lane, std::int64_t number) {
    call context{family.main.options(), *family.options.time};
    context.operation_id.clear();
    context.location = read_location::primary;
    ENTITABLE_TRY(guid const log, declared_log(family, false, context));
    call own = context;
    std::string const head_key = log_head_key(family.log->lanes, lane).to_string();
    auto const found = family.main.store().execute(get_entity{family.main.name(), partition_key, head_key, {}}, own);
    if (!found && found.error().code != error_code::resource_not_found) { return failure{found.error()}; }
    log_head head;
    if (found) { ENTITABLE_TRY(head, read_log_head(found->entity)); }
    if (head.number >= number) { return {}; }
    log_entry taken;
    taken.lane = lane;
    taken.number = number;
    taken.previous = head.number;
    taken.id = family.draw_guid();
    taken.is_void = true;
    row next = log_head_row(partition_key, head_key, number, log, head.announced);
    transact request{family.main.name(), {}};
    request.changes.push_back(
        found ? mutation::replace(std::move(next), found->etag) : mutation::insert(std::move(next)));
    request.changes.push_back(
        mutation::insert(log_entry_row(partition_key, log_entry_key(family.log->lanes, lane, number), taken)));
    call writing = context;
    static_cast<void>(family.main.store().execute(request, writing)); // the next look tells whether it was applied
    return {};
}

ENTITABLE_DECL result<std::uint64_t> trim_log(index_family const& family, std::string_view partition_key,
    log_position const& up_to, trim_options const& options) {
    call context{family.main.options(), *family.options.time};
    context.operation_id.clear();
    context.location = read_location::primary;
    ENTITABLE_TRY(guid const log, declared_log(family, false, context));
    if (up_to.numbers.size() != family.log->lanes || up_to.log != log) {
        return failure{error_code::invalid_input,
            "the position does not belong to this log: trim up to a position that changes_of has returned"};
    }
    std::int64_t const before = options.keep.count() > 0 ? family.options.time->now().ticks - options.keep.count() / 100
                                                         : (std::numeric_limits<std::int64_t>::max)();
    std::size_t const most = family.main.store().profile().max_operations;
    std::uint64_t removed = 0;
    for (std::uint32_t lane = 0; lane < family.log->lanes; ++lane) {
        std::size_t const lanes = family.log->lanes;
        if (up_to.numbers[lane] <= 0) { continue; }
        bool young = false;
        for (std::uint32_t beaten = 0; !young;) {
            query_entities asked;
            asked.table = family.main.name();
            asked.range.partition = key_interval::only(std::string{partition_key});
            asked.range.row = {key_bound::including(log_entry_key(lanes, lane, 0).to_string()),
                key_bound::including(log_entry_key(lanes, lane, up_to.numbers[lane]).to_string())};
            asked.page_size = static_cast<std::uint32_t>((std::min)(std::size_t{1000}, most));
            transact request{family.main.name(), {}};
            page_cursor pages{std::move(asked)};
            while (pages.more() && request.changes.empty() && !young) {
                call own = context;
                ENTITABLE_TRY(auto const found, pages.take(family.main.store().execute(pages.request(), own)));
                for (std::size_t at = 0; at < found.rows.size() && !young; ++at) {
                    row_view const each = found.rows[at];
                    young = each.timestamp().ticks > before; // the entries after it are younger
                    if (!young) {
                        request.changes.push_back(
                            mutation::remove(row{each.partition_key, each.row_key, {}}, any_etag));
                    }
                }
            }
            if (request.changes.empty()) { break; }
            call own = context;
            auto const made = family.main.store().execute(request, own);
            if (made) {
                removed += request.changes.size();
            } else if (made.error().code != error_code::resource_not_found || ++beaten > family.options.max_attempts) {
                return failure{made.error()}; // otherwise another program trims the log as well
            }
        }
    }
    return removed;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
