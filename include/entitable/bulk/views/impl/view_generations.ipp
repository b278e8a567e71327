// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/views/detail/view_generations.hpp>
#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/load/detail/bulk_run.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/random_seed.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/row/compare.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct view_generations::note {
    std::string table;
    std::int64_t ticket{};
    date_time since; // start of its refresh
    std::optional<date_time>
        retired; // time at which the next generation replaced it; nullopt if never current, or still current
};

/// Name of a generation's table and row.
ENTITABLE_DECL std::string view_note_key(std::string_view table) { return text::joined({system_row::view, table}); }

template <class T>
[[nodiscard]] T view_value(row_view stored, std::string_view name, edm_type type) {
    auto const found = stored.find(name);
    if (!found || found->type() != type) { return T{}; }
    if constexpr (std::is_same_v<T, std::string>) {
        return std::string{found->bytes()};
    } else if constexpr (std::is_same_v<T, date_time>) {
        return found->as_date_time();
    } else {
        return found->as_int64();
    }
}

ENTITABLE_DECL view_generations::view_generations(table_core core, view_options how)
    : core_(std::move(core)), how_(std::move(how)) {}

template <class Request>
result<response_of<Request>> view_generations::ask(Request const& request) const {
    call context{core_.options(), *how_.load.time};
    context.operation_id.clear(); // the id identifies one write
    return core_.store().execute(request, context);
}

ENTITABLE_DECL result<void> view_generations::wait(contention& rivals) const {
    call const context{core_.options(), *how_.load.time};
    random_source random{how_.load.seed != 0 ? how_.load.seed + rivals.attempt() : random_seed()};
    return rivals.wait(random.unit(), context, *how_.load.time);
}

// ---- existing generations -------------------------------------------------------------------------

ENTITABLE_DECL result<view_pointer> view_generations::pointer() const {
    view_pointer made;
    auto found = ask(get_entity{core_.name(), std::string{system_row::view}, std::string{system_row::view}, {}});
    if (!found) {
        if (found.error().code == error_code::resource_not_found) { return made; }
        return std::move(found).as_failure();
    }
    row_view const stored = found->entity;
    made.begun = view_value<std::int64_t>(stored, "Begun", edm_type::int64);
    made.ticket = view_value<std::int64_t>(stored, "Ticket", edm_type::int64);
    made.table = view_value<std::string>(stored, "Generation", edm_type::string);
    made.from = view_value<date_time>(stored, "From", edm_type::date_time);
    made.until = view_value<date_time>(stored, "Until", edm_type::date_time);
    made.version = std::move(found->etag);
    return made;
}

ENTITABLE_DECL result<view_pointer> view_generations::shown() const {
    ENTITABLE_TRY(view_pointer now, pointer());
    if (now.table.empty()) {
        return failure{
            error_code::view_not_ready, text::joined({"the view ", core_.name(), " has never completed a refresh"})};
    }
    return now;
}

ENTITABLE_DECL result<std::vector<view_generations::note>> view_generations::notes() const {
    std::vector<note> all;
    ENTITABLE_CHECK(
        core_.for_each_row({key_interval::only(std::string{system_row::view}), {}}, {}, true, [&](row_view each) {
            std::string_view const table =
                each.row_key.substr((std::min)(each.row_key.size(), system_row::view.size()));
            if (!each.row_key.starts_with(system_row::view) || table.empty()) { return; }
            note& made = all.emplace_back();
            made.table = table;
            made.ticket = view_value<std::int64_t>(each, "Ticket", edm_type::int64);
            made.since = view_value<date_time>(each, "Since", edm_type::date_time);
            if (each.find("Retired")) { made.retired = view_value<date_time>(each, "Retired", edm_type::date_time); }
        }));
    return all;
}

// ---- one refresh ------------------------------------------------------------------------------------

ENTITABLE_DECL result<view_generations::generation> view_generations::begin() const {
    for (contention rivals{how_.max_attempts, how_.delays};;) {
        ENTITABLE_TRY(view_pointer const now, pointer());
        generation own{core_.name() + 'v', now.begun + 1};
        std::uint64_t const seed = how_.load.seed;
        random_source random{seed != 0 ? seed ^ static_cast<std::uint64_t>(own.ticket) << 32U : random_seed()};
        append_hexadecimal(own.table, random.bits());
        row_builder noted{system_row::view, view_note_key(own.table)};
        noted.add("Ticket", value_view{own.ticket});
        noted.add("Since", value_view{how_.load.time->now()});
        row_builder counted{system_row::view, system_row::view};
        counted.add("Begun", value_view{own.ticket});
        transact request{core_.name(), {}};
        request.changes.push_back(
            now.version.empty() ? mutation::insert(counted.build()) : mutation::merge(counted.build(), now.version));
        request.changes.push_back(mutation::insert(noted.build()));
        auto drawn = ask(request);
        if (drawn) { return own; }
        // A ticket whose response was lost may have been taken. It stays unused: the refresh takes another ticket.
        bool const again = was_beaten(drawn.error()) || drawn.error().effect == effect::unknown;
        if (!again || rivals.is_last()) { return std::move(drawn).as_failure(); }
        ENTITABLE_CHECK(wait(rivals));
    }
}

ENTITABLE_DECL result<void> view_generations::create(generation const& own) const {
    for (contention rivals{how_.max_attempts, how_.delays};;) {
        auto made = ask(create_table{own.table});
        if (made || made.error().code == error_code::table_already_exists) { // each ticket has its own table name
            return {};
        }
        if (made.error().effect == effect::none || rivals.is_last()) { return std::move(made).as_failure(); }
        ENTITABLE_CHECK(wait(rivals));
    }
}

ENTITABLE_DECL result<void> view_generations::write(generation const& own, std::vector<row> rows) const {
    std::size_t at = 0;
    auto const source = [&](bulk_item& item) {
        if (at == rows.size()) { return bulk_input::end; }
        item.change = mutation::insert_or_replace(std::move(rows[at++]));
        return bulk_input::row;
    };
    bulk_options how = how_.load;
    how.total = rows.size();
    how.max_refused = 0;
    call_options calls = core_.options();
    calls.operation_id.clear();
    bulk_run load{core_.store(), own.table, std::move(calls), bulk_mode::insert_or_replace, source, nullptr, how};
    ENTITABLE_TRY(bulk_report const done, load.run());
    return done.all();
}

ENTITABLE_DECL result<void> view_generations::discard(std::string const& table) const {
    call context{core_.options(), *how_.load.time};
    context.operation_id.clear();
    context.cancellation = {}; // a cancelled refresh removes its table
    auto dropped = core_.store().execute(delete_table{table}, context);
    if (!dropped && dropped.error().code != error_code::resource_not_found) { return std::move(dropped).as_failure(); }
    return {};
}

ENTITABLE_DECL result<view_refresh> view_generations::show(
    generation const& own, date_time from, date_time until) const {
    for (contention rivals{how_.max_attempts, how_.delays};;) {
        ENTITABLE_TRY(view_pointer const now, pointer());
        if (now.ticket >= own.ticket) { return view_refresh{now.ticket == own.ticket, 0, 0, now.from, now.until}; }
        row_builder pointing{system_row::view, system_row::view};
        pointing.add("Ticket", value_view{own.ticket});
        pointing.add("Generation", value_view{std::string_view{own.table}});
        pointing.add("From", value_view{from});
        pointing.add("Until", value_view{until});
        transact request{core_.name(), {}};
        request.changes.push_back(mutation::merge(pointing.build(), now.version));
        if (!now.table.empty()) {
            row_builder retired{system_row::view, view_note_key(now.table)};
            retired.add("Retired", value_view{how_.load.time->now()});
            request.changes.push_back(mutation::insert_or_merge(retired.build()));
        }
        auto flipped = ask(request);
        if (flipped) { return view_refresh{true, 0, 0, from, until}; }
        // Under the same version the write cannot be applied twice, and the row shows whether it was applied.
        bool const again = was_beaten(flipped.error()) || flipped.error().effect == effect::unknown;
        if (!again || rivals.is_last()) { return std::move(flipped).as_failure(); }
        ENTITABLE_CHECK(wait(rivals));
    }
}

ENTITABLE_DECL result<view_refresh> view_generations::refresh(view_maker make) const {
    ENTITABLE_TRY(generation const own, begin());
    date_time const from = how_.load.time->now(); // the ticket is taken: a greater ticket means a later start
    std::uint64_t entities = 0;
    std::size_t count = 0;
    date_time until;
    auto const build = [&]() -> result<void> {
        ENTITABLE_TRY(std::vector<row> rows, make(entities));
        until = how_.load.time->now();
        count = rows.size();
        ENTITABLE_CHECK(create(own));
        return write(own, std::move(rows));
    };
    auto built = build();
    if (!built) {
        // The table was removed if a later refresh overtook this refresh.
        auto const now = pointer();
        if (!now || now->ticket < own.ticket) {
            (void)discard(own.table); // a later refresh removes the leftovers
            return std::move(built).as_failure();
        }
    }
    ENTITABLE_TRY(view_refresh told, show(own, from, until));
    told.entities = entities;
    told.rows = count;
    auto now = pointer();
    if (now) {
        (void)sweep(*now); // if this fails, the next refresh sweeps
    }
    return told;
}

ENTITABLE_DECL result<void> view_generations::sweep(view_pointer const& now) const {
    ENTITABLE_TRY(std::vector<note> const all, notes());
    date_time const time = how_.load.time->now();
    auto const is_old = [&](date_time since) { return (time.ticks - since.ticks) >= how_.keep.count() / 100; };
    for (note const& each : all) {
        if (each.ticket >= now.ticket || (each.retired && !is_old(*each.retired))) { continue; }
        ENTITABLE_CHECK(discard(each.table));
        // An overtaken refresh may still create the table: it is removed again until the refresh is old enough.
        if (is_old(each.since)) {
            auto removed = ask(write_entity{
                core_.name(), mutation::remove(row{system_row::view, view_note_key(each.table), {}}, any_etag)});
            if (!removed && removed.error().code != error_code::resource_not_found) {
                return std::move(removed).as_failure();
            }
        }
    }
    return {};
}

ENTITABLE_DECL result<void> view_generations::drop() const {
    ENTITABLE_TRY(std::vector<note> const all, notes());
    for (note const& each : all) { ENTITABLE_CHECK(discard(each.table)); }
    return core_.drop();
}

// ---- audit ------------------------------------------------------------------------------------------

ENTITABLE_DECL result<view_audit> view_generations::audit(view_maker make) const {
    ENTITABLE_TRY(view_pointer const now, shown());
    view_audit told;
    told.from = now.from;
    told.until = now.until;
    ENTITABLE_TRY(std::vector<row> const wanted, make(told.entities));
    auto const sample = [&](std::string_view row_key) {
        if (told.samples.size() < 10) { told.samples.emplace_back(row_key); }
    };
    auto at = wanted.begin();
    auto const skip_missing = [&] {
        ++told.missing;
        sample(at->row_key());
        ++at;
    };
    table_core const stored{core_.store(), now.table, core_.options()};
    ENTITABLE_CHECK(stored.for_each_row({}, {}, false, [&](row_view each) {
        while (at != wanted.end() && view_row_less(*at, each)) { skip_missing(); }
        if (at == wanted.end() || view_row_less(each, *at)) {
            ++told.dangling;
            sample(each.row_key);
            return;
        }
        if (same_properties(*at, each)) {
            ++told.rows;
        } else {
            ++told.different;
            sample(each.row_key);
        }
        ++at;
    }));
    while (at != wanted.end()) { skip_missing(); }
    return told;
}

ENTITABLE_DECL bool view_row_less(row_view left, row_view right) noexcept {
    int const partitions = text::compare_utf16(left.partition_key, right.partition_key);
    return partitions != 0 ? partitions < 0 : text::compare_utf16(left.row_key, right.row_key) < 0;
}

ENTITABLE_DECL result<void> order_view_rows(std::vector<row>& rows) {
    std::sort(rows.begin(), rows.end(), [](row const& left, row const& right) { return view_row_less(left, right); });
    for (std::size_t at = 1; at < rows.size(); ++at) {
        if (!view_row_less(rows[at - 1], rows[at])) {
            return failure{error_code::invalid_duplicate_row,
                text::joined({"two groups of the view have the keys \"", text::printable(rows[at].partition_key()),
                    "\", \"", text::printable(rows[at].row_key()),
                    "\": add a component to its row key that distinguishes them"})};
        }
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
