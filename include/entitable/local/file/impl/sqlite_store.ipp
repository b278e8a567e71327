// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/file/detail/new_file.hpp>
#include <entitable/local/file/detail/row_run.hpp>
#include <entitable/local/file/detail/schema.hpp>
#include <entitable/local/file/sqlite_store.hpp>

#include <algorithm>
#include <array>

ENTITABLE_BEGIN_NAMESPACE

// ---- opening ----------------------------------------------------------------------------------------

namespace detail {

/// Opens the first connection of a store. A file in the requested form is only read, without waiting for writers. Otherwise it is
/// converted, while no other store has it open.
ENTITABLE_DECL result<connection> connection_to(
    file_place const& place, file_options const& options, file_form wanted, file_lock& lock, wait_budget& waits) {
    ENTITABLE_CHECK(use_within(lock, file_lock::use::with_others, waits));
    {
        auto opened = connection::open(place.path(), options, waits);
        auto const fits = opened ? schema_fits(*opened, wanted, waits) : false;
        if (!opened || !fits || *fits) { return fits ? std::move(opened) : failure{fits.error()}; }
    }
    // Two stores that need exclusive use do not wait for each other.
    static_cast<void>(lock.try_use(file_lock::use::none));
    if (!use_within(lock, file_lock::use::alone, waits)) {
        return failure{error_code::store_busy,
            "other connections have the file open, so its tables cannot be created and its journal mode cannot be "
            "changed"};
    }
    ENTITABLE_CHECK(lock_within(lock, waits));
    auto opened = connection::open(place.path(), options, waits);
    auto made = opened ? prepare_schema(*opened, wanted, waits) : result<void>{};
    lock.unlock();
    static_cast<void>(lock.try_use(file_lock::use::with_others)); // now all stores can take this lock again
    made = opened && made ? opened->set_durability(options, waits) : std::move(made);
    return made ? std::move(opened) : std::move(made).as_failure();
}

/// Opens the first connection of a read-only store.
ENTITABLE_DECL result<connection> connection_to_read(
    file_place const& place, file_options const& options, file_form wanted, wait_budget& waits) {
    ENTITABLE_TRY(auto const quiet, quiet_read::begin(place, waits));
    auto opened = connection::open(place.path(), options, waits, connection::access::read_quiet);
    auto const known = opened ? schema_can_be_read(*opened, wanted, waits) : false;
    ENTITABLE_CHECK(quiet.still());
    if (!opened || !known) { return opened ? failure{known.error()} : std::move(opened).as_failure(); }
    if (!*known) {
        failure empty = cannot_be_written(place.path());
        empty.error().message = text::joined({"the file is empty, and its folder ", folder_of(place.path()),
            " or the file is not writable, so tables cannot be created"});
        return empty;
    }
    return opened;
}

} // namespace detail

ENTITABLE_DECL result<sqlite_store::opened_file> sqlite_store::open(
    std::string_view path, file_options const& options) {
    ENTITABLE_CHECK(detail::check_own_name(path));
    ENTITABLE_TRY(auto place, detail::file_place::find(path, options));
    auto opened = open_to_write(place, options);
    bool const refused = !opened &&
        (opened.error().code == error_code::store_failed || opened.error().code == error_code::store_read_only);
    if (!refused || place.may_be_written()) { return opened; }
    call const unhurried;
    detail::wait_budget waits{options, unhurried};
    auto reading =
        detail::connection_to_read(place, options, {true, options.local.limits.table_names_without_case}, waits);
    if (!reading) { return std::move(reading).as_failure(); }
    return opened_file{std::move(place), {}, *std::move(reading), false, true};
}

ENTITABLE_DECL result<sqlite_store::opened_file> sqlite_store::open_to_write(
    detail::file_place const& place, file_options const& options) {
    detail::file_lock lock;
    auto const locks = lock.open(place.path());
    if (!locks) { return failure{locks.error()}; }
    if (!*locks && options.journal == file_journal::write_ahead_log) {
        return failure{error_code::not_supported,
            "the file system lacks advisory locks, without which the write-ahead "
            "log is not safe; use the rollback journal"};
    }
    detail::file_form const wanted{
        *locks && options.journal != file_journal::rollback, options.local.limits.table_names_without_case};
    call const unhurried;
    detail::wait_budget waits{options, unhurried};
    ENTITABLE_TRY(auto first, detail::connection_to(place, options, wanted, lock, waits));
    bool const unpurged = detail::statement{first, detail::sql::forgotten_table}.step() == detail::stepped::row;
    return opened_file{place, std::move(lock), std::move(first), unpurged};
}

ENTITABLE_DECL sqlite_store::sqlite_store(opened_file file, file_options options)
    : options_(std::move(options)),
      writer_(file.place, options_, std::move(file.lock), std::move(file.first), file.read_only),
      readers_(file.place, options_, file.read_only) {
    if (file.unpurged) {
        call context;
        context.deadline = time().steady() + std::chrono::milliseconds{200};
        static_cast<void>(purge(context));
    }
}

// ---- tables -----------------------------------------------------------------------------------------

/// Whether a job, or its commit, failed for lack of space.
template <class Outcome>
bool is_full(result<void> const& committed, result<Outcome> const& outcome) {
    return committed ? !outcome && outcome.error().code == error_code::store_full
                     : committed.error().code == error_code::store_full;
}

ENTITABLE_DECL result<bool> sqlite_store::create_table(
    std::string_view key, std::string_view shown_name, call const& context) {
    result<bool> made{false};
    auto const job = [&](detail::commit_group& group) {
        made = false;
        detail::statement find{group.on, detail::sql::find_table};
        detail::stepped const found = find.bind(1, key).step();
        if (found == detail::stepped::row) { return detail::job_end::nothing; }
        if (found != detail::stepped::done ||
            detail::statement{group.on, detail::sql::add_table}.bind(1, key).bind_text(2, shown_name).finish() !=
                detail::stepped::done) {
            made = group.on.problem("cannot create the table");
            return detail::job_end::broken;
        }
        made = true;
        group.growth += 4;
        return detail::job_end::written;
    };
    auto committed = writer_->run(job, context);
    if (is_full(committed, made) && purge(context)) { committed = writer_->run(job, context); }
    if (!committed) { return std::move(committed).as_failure(); }
    return made;
}

ENTITABLE_DECL result<bool> sqlite_store::drop_table(std::string_view key, call const& context) {
    result<bool> removed{false};
    auto const job = [&](detail::commit_group& group) {
        removed = false;
        detail::statement find{group.on, detail::sql::find_table};
        detail::stepped const found = find.bind(1, key).step();
        if (found == detail::stepped::done) { return detail::job_end::nothing; }
        find.reset();
        if (found != detail::stepped::row ||
            detail::statement{group.on, detail::sql::forget_table}.bind(1, key).finish() != detail::stepped::done ||
            detail::end_known_tables(group.on) != detail::stepped::done) {
            removed = group.on.problem("cannot remove the table");
            return detail::job_end::broken;
        }
        group.known_table.reset();
        removed = true;
        return detail::job_end::written;
    };
    auto committed = writer_->run(job, context);
    if (!committed) { return std::move(committed).as_failure(); }
    if (removed && *removed) {
        static_cast<void>(purge(context)); // the table is removed; the space of its rows can be freed later
    }
    return removed;
}

/// Removes rows of dropped tables until the call's deadline. Uses smaller slices if the disk has no space to log larger slices.
/// Returns whether any rows were removed.
ENTITABLE_DECL bool sqlite_store::purge(call const& context) {
    std::int64_t rows_at_once = 1000;
    bool removed = false;
    bool more = true;
    bool full = false;
    auto const job = [&](detail::commit_group& group) {
        using detail::sql;
        using detail::stepped;
        more = full = false;
        detail::statement find{group.on, sql::forgotten_table};
        stepped const found = find.step();
        if (found == stepped::done) { return detail::job_end::nothing; }
        std::int64_t const table = found == stepped::row ? find.number(0) : 0;
        find.reset();
        detail::statement slice{group.on, sql::purge_slice};
        stepped ended = found == stepped::row ? slice.bind(1, table).bind(2, rows_at_once).finish() : found;
        if (ended == stepped::done && slice.changed_rows() == 0) {
            ended = detail::statement{group.on, sql::purge_table}.bind(1, table).finish();
            if (ended == stepped::done) {
                ended = detail::statement{group.on, sql::purged_table}.bind(1, table).finish();
            }
        }
        more = ended == stepped::done;
        full = !more && group.on.out_of_room();
        return more ? detail::job_end::written : detail::job_end::broken;
    };
    while (more && check_call(context, *options_.local.time)) {
        auto const committed = writer_->run(job, context);
        if (full || (!committed && committed.error().code == error_code::store_full)) {
            more = rows_at_once > 1;
            rows_at_once = rows_at_once > 10 ? rows_at_once / 10 : 1;
        } else if (!committed) {
            break;
        } else {
            removed = removed || more;
        }
    }
    return removed;
}

ENTITABLE_DECL result<void> sqlite_store::tables(std::string_view from_key, table_visitor visit, call const& context) {
    detail::wait_budget waits{options_, context};
    ENTITABLE_TRY(auto reader, readers_->borrow(waits));
    detail::statement list{*reader, detail::sql::list_tables};
    auto more = list.bind(1, from_key).first_row(waits);
    while (more && *more && reader.still() && visit(list.bytes(0), list.bytes(1))) { more = list.next_row(); }
    if (auto still = reader.still(); !still) { return still; }
    if (!more) { return std::move(more).as_failure(); }
    return {};
}

// ---- reading ----------------------------------------------------------------------------------------

ENTITABLE_DECL result<lookup> sqlite_store::get(
    std::string_view table, std::string_view partition, std::string_view row, row_visitor visit, call const& context) {
    detail::wait_budget waits{options_, context};
    ENTITABLE_TRY(auto reader, readers_->borrow(waits));
    auto const checked = [&](result<lookup> outcome) -> result<lookup> {
        auto still = reader.still();
        return still ? std::move(outcome) : std::move(still).as_failure();
    };
    for (;;) {
        auto const id = reader->table_id(table, waits);
        if (!id || !*id) { return checked(id ? result<lookup>{lookup::no_table} : failure{id.error()}); }
        detail::statement asked{*reader, detail::sql::get};
        auto const found = asked.bind(1, **id).bind(2, partition).bind(3, row).first_row(waits);
        if (!found) { return checked(failure{found.error()}); }
        if (!asked.table_was_known()) { continue; }
        if (!*found) { return checked(lookup::absent); }
        auto const bytes =
            detail::unpack_row(*reader, asked.bytes(0), detail::partition_checksum(**id, partition), row);
        if (!bytes) { return checked(detail::unreadable_row(*reader, partition, row)); }
        auto outcome = checked(lookup::found);
        if (outcome) { visit(*bytes); }
        return outcome;
    }
}

ENTITABLE_DECL result<lookup> sqlite_store::scan(
    std::string_view table, scan_range const& range, scan_visitor visit, call const& context) {
    auto const each = [&](std::span<row_view const> run) {
        for (row_view const& one : run) {
            if (!visit(one.partition_key, one.row_key, one.payload)) { return false; }
        }
        return true;
    };
    return scan_runs(table, range, each, context);
}

namespace detail {

/// Scans one partition, or whole partitions. `stopped` becomes true if the visitor returns false.
ENTITABLE_DECL result<lookup> scan_part(reader_pool::borrowed& reader, std::string_view table, scan_range const& range,
    run_visitor visit, wait_budget& waits, bool& stopped) {
    auto const checked = [&](result<lookup> outcome) -> result<lookup> {
        auto still = reader.still();
        return still ? std::move(outcome) : std::move(still).as_failure();
    };
    bool const one_partition = range.last_partition == range.from_partition;
    row_run run{range.from_partition};
    auto const show = [&] {
        bool const wanted = run.rows().empty() || (reader.still() && visit(run.rows()));
        run.clear();
        stopped = !wanted;
        return wanted;
    };
    for (;;) {
        auto const id = reader->table_id(table, waits);
        if (!id || !*id) { return checked(id ? result<lookup>{lookup::no_table} : failure{id.error()}); }
        bool const has_last_row = one_partition && range.last_row;
        statement asked{*reader,
            has_last_row               ? sql::scan_rows
                : one_partition        ? sql::scan_partition
                : range.last_partition ? sql::scan_until
                                       : sql::scan};
        asked.bind(1, **id).bind(2, range.from_partition);
        if (one_partition) {
            asked.bind(3, range.from_row);
        } else if (range.last_partition) {
            asked.bind(3, *range.last_partition);
        }
        if (has_last_row) { asked.bind(4, *range.last_row); }
        auto more = asked.first_row(waits);
        if (more && !asked.table_was_known()) { continue; }
        lookup const found = more && *more ? lookup::found : lookup::absent;
        std::uint64_t partition_hash = partition_checksum(**id, run.partition());
        std::size_t rows = 0;
        // Rows read before an unreadable row are delivered before the error: the visitor may stop there.
        for (; more && *more; more = asked.next_row()) {
            if (!one_partition && asked.bytes(2) != run.partition()) {
                if (!show()) { return checked(found); }
                run.begin(asked.bytes(2));
                partition_hash = partition_checksum(**id, run.partition());
            }
            std::string_view const row = asked.bytes(0);
            auto const parts = check_row(*reader, asked.bytes(1), partition_hash, row);
            if (!parts) {
                return checked(show() ? result<lookup>{unreadable_row(*reader, run.partition(), row)} : found);
            }
            if (!run.add(row, *parts)) {
                if (!show()) { return checked(found); }
                static_cast<void>(run.add(row, *parts));
            }
            if (++rows == range.most_rows && !show()) { return checked(found); }
        }
        if (!show()) { return checked(found); }
        if (more && !reader->in_own_process()) { // the visitor called fork, and this is the child
            more = asked.next_row();
        }
        if (!more) { return checked(std::move(more).as_failure()); }
        return checked(found);
    }
}

} // namespace detail

ENTITABLE_DECL result<lookup> sqlite_store::scan_runs(
    std::string_view table, scan_range const& range, run_visitor visit, call const& context) {
    detail::wait_budget waits{options_, context};
    ENTITABLE_TRY(auto reader, readers_->borrow(waits));
    bool stopped = false;
    if (range.from_row.empty() || (range.last_partition && *range.last_partition <= range.from_partition)) {
        return detail::scan_part(reader, table, range, visit, waits, stopped);
    }
    // The rest of the first partition, then whole partitions, in one snapshot.
    struct snapshot {
        detail::connection& on;
        ~snapshot() { static_cast<void>(on.run(detail::sql::commit)); }
    };
    if (reader->run(detail::sql::begin_read) != detail::stepped::done) {
        return reader->problem("cannot read the file");
    }
    snapshot const both{*reader};
    std::size_t visited = 0;
    auto const counting = [&](std::span<row_view const> rows) {
        visited += rows.size();
        return visit(rows);
    };
    scan_range part = range;
    part.last_partition = range.from_partition;
    auto first = detail::scan_part(reader, table, part, counting, waits, stopped);
    if (!first || *first == lookup::no_table || stopped) { return first; }
    std::string const next = std::string{range.from_partition} + '\0'; // the smallest key after it
    part = {next, {}, range.last_partition, {}, range.most_rows > visited ? range.most_rows - visited : 0};
    auto rest = detail::scan_part(reader, table, part, visit, waits, stopped);
    return rest && *rest == lookup::absent ? std::move(first) : std::move(rest);
}

namespace detail {

/// Row keys that do not count: from `from` to `to`, or to the end of each partition.
struct left_out_rows {
    std::string_view from;
    std::optional<std::string_view> to;
};

/// Counts the rows of a table that has the file almost to itself: SQLite adds up the numbers of rows in all pages, and the rows of other tables
/// and those that are left out are subtracted. Returns nothing if visiting the rows is not much dearer: if the table has few rows, other tables
/// have many, or the partitions are small. `known` becomes false if a table was removed in the meantime.
ENTITABLE_DECL result<std::optional<std::uint64_t>> count_by_pages(
    connection& on, std::int64_t table, left_out_rows const& out, wait_budget& waits, bool& known) {
    constexpr std::int64_t few_rows = 512;
    constexpr std::int64_t most_others = 64;
    constexpr std::int64_t few_pages = 32;
    constexpr std::int64_t pages_of_partition = 4; // finding a partition takes as long as visiting 16 rows
    std::int64_t const pages = on.pages();
    if (pages < few_pages) { return std::optional<std::uint64_t>{}; }
    {
        statement asked{on, sql::count_pays};
        auto const found = asked.bind(1, table).bind(2, few_rows).bind(3, most_others + 1).first_row(waits);
        known = asked.table_was_known();
        if (!found) { return failure{found.error()}; }
        if (!known || asked.is_null(0) || asked.number(0) > most_others) { return std::optional<std::uint64_t>{}; }
    }
    statement asked{on, out.to ? sql::count_pages : sql::count_pages_end};
    asked.bind(1, table).bind(2, most_others + 1).bind(3, out.from).bind(4, pages / pages_of_partition);
    if (out.to) { asked.bind(5, *out.to); }
    auto const found = asked.first_row(waits);
    known = asked.table_was_known();
    if (!found) { return failure{found.error()}; }
    if (!known || asked.is_null(0) || asked.number(1) > most_others) { return std::optional<std::uint64_t>{}; }
    return std::optional{static_cast<std::uint64_t>(asked.number(0) - asked.number(1) - asked.number(2))};
}

/// Returns the rows of a whole table that a count leaves out; nothing if it counts only a part of the table, or all of its rows.
ENTITABLE_DECL std::optional<left_out_rows> left_out_of(count_range const& range) {
    bool const whole =
        !range.one_partition && range.from_partition.empty() && !range.end_partition && range.first_row.empty();
    if (!whole || !range.without_system_rows) { return std::nullopt; }
    if (!range.end_row) { return left_out_rows{system_row::prefix, system_row::end}; }
    return *range.end_row == system_row::prefix ? std::optional{left_out_rows{*range.end_row, std::nullopt}}
                                                : std::nullopt;
}

/// The statement of a count, with its values from the third on.
struct count_statement {
    sql text;
    std::array<std::string_view, 4> values;
    std::size_t size;
};

/// Returns nothing for ranges that are not counted: rows of several partitions that begin after the first, or lie on both sides of system rows.
ENTITABLE_DECL std::optional<count_statement> statement_for(count_range const& range) {
    std::string_view const first = (std::max)(range.from_row, std::string_view{range.first_row});
    // The rows before `before`, and those from `behind` on.
    std::string_view before = range.without_system_rows ? system_row::prefix : first;
    std::string_view behind = range.without_system_rows ? system_row::end : first;
    if (range.one_partition) {
        behind = (std::max)(behind, first);
        if (!range.end_row) { return count_statement{sql::count_partition, {first, before, behind, {}}, 3}; }
        before = (std::min)(before, std::string_view{*range.end_row});
        return count_statement{sql::count_partition_until, {first, before, behind, *range.end_row}, 4};
    }
    bool const until = range.end_partition.has_value();
    std::string_view const end = until ? std::string_view{*range.end_partition} : std::string_view{};
    if (range.end_row && range.from_row.empty() &&
        (!range.without_system_rows || *range.end_row <= system_row::prefix)) {
        return count_statement{
            until ? sql::count_between_until : sql::count_between, {first, *range.end_row, end, {}}, until ? 3U : 2U};
    }
    if (!first.empty() || range.end_row) { return std::nullopt; }
    return count_statement{until ? sql::count_rows_until : sql::count_rows, {before, behind, end, {}}, until ? 3U : 2U};
}

} // namespace detail

ENTITABLE_DECL result<std::optional<std::uint64_t>> sqlite_store::count_rows(
    std::string_view table, count_range const& range, call const& context) {
    auto const how = detail::statement_for(range);
    if (!how) { return std::optional<std::uint64_t>{}; }
    auto const left_out = detail::left_out_of(range);
    detail::wait_budget waits{options_, context};
    ENTITABLE_TRY(auto reader, readers_->borrow(waits));
    struct watched {
        detail::connection& on;
        ~watched() { on.watch_call(nullptr); }
    } const watch{*reader};
    reader->watch_call(&waits);
    for (;;) {
        auto const id = reader->table_id(table, waits);
        if (!id) { return failure{id.error()}; }
        if (!*id) { return std::optional<std::uint64_t>{}; }
        if (left_out) {
            bool known = true;
            auto counted = detail::count_by_pages(*reader, **id, *left_out, waits, known);
            if (!known) { continue; }
            if (auto still = reader.still(); !still) { return std::move(still).as_failure(); }
            if (!counted && waits.call_over()) { return waits.given_up(); }
            if (!counted || *counted) { return counted; }
        }
        detail::statement asked{*reader, how->text};
        asked.bind(1, **id).bind(2, range.from_partition);
        for (std::size_t at = 0; at < how->size; ++at) { asked.bind(static_cast<int>(at) + 3, how->values[at]); }
        auto const found = asked.first_row(waits);
        if (found && !asked.table_was_known()) { continue; }
        if (auto still = reader.still(); !still) { return std::move(still).as_failure(); }
        if (!found) { return waits.call_over() ? waits.given_up() : failure{found.error()}; }
        return std::optional{static_cast<std::uint64_t>(asked.number(0))};
    }
}

// ---- writing ----------------------------------------------------------------------------------------

ENTITABLE_DECL result<lookup> sqlite_store::update(
    std::string_view table, std::string_view partition, function_ref<bool(transaction&)> body, call const& context) {
    result<lookup> outcome{lookup::absent};
    auto const job = [&](detail::commit_group& group) {
        outcome = lookup::absent;
        auto const id = group.table_id(table);
        if (!id) {
            outcome = failure{id.error()};
            return detail::job_end::broken;
        }
        if (!*id) {
            outcome = lookup::no_table;
            return detail::job_end::nothing;
        }
        transaction rows{group.on, **id, partition, group.last_version};
        bool const wanted = body(rows);
        if (!rows.problem_) {
            outcome = std::move(rows.problem_).as_failure();
            return !group.on.broken() && rows.take_back() ? detail::job_end::nothing : detail::job_end::broken;
        }
        if (!wanted) {
            if (rows.take_back()) { return detail::job_end::nothing; }
            outcome = group.on.problem("cannot write the file");
            return detail::job_end::broken;
        }
        if (auto applied = rows.apply(); !applied) {
            outcome = std::move(applied).as_failure();
            return detail::job_end::broken;
        }
        outcome = lookup::found;
        group.last_version = rows.last_version_;
        group.growth += rows.growth_;
        bool const nothing = rows.changes_.empty() && rows.inserted_.empty();
        return nothing ? detail::job_end::nothing : detail::job_end::written;
    };
    auto committed = writer_->run(job, context);
    if (is_full(committed, outcome) && purge(context)) { // these are rows of tables that were removed
        committed = writer_->run(job, context);
    }
    if (!committed) { return std::move(committed).as_failure(); }
    return outcome;
}

ENTITABLE_DECL bool sqlite_store::transaction::get(std::string_view row, row_visitor visit) {
    if (!problem_) { return false; }
    detail::statement asked{on_, detail::sql::get};
    detail::stepped const found = asked.bind(1, table_).bind(2, partition_).bind(3, row).step();
    if (found == detail::stepped::done) { return false; }
    if (found != detail::stepped::row) {
        problem_ = on_.problem("cannot read the file");
        return false;
    }
    auto const bytes = detail::unpack_row(on_, asked.bytes(0), partition_hash_, row);
    if (!bytes) {
        problem_ = detail::unreadable_row(on_, partition_, row);
        return false;
    }
    visit(*bytes);
    return true;
}

ENTITABLE_DECL void sqlite_store::transaction::put(std::string_view row, std::string bytes) {
    changes_.push_back({std::string{row}, std::move(bytes)});
}

ENTITABLE_DECL void sqlite_store::transaction::erase(std::string_view row) {
    changes_.push_back({std::string{row}, std::nullopt});
}

/// Runs one of the write statements, with bytes if it takes any; false on failure.
ENTITABLE_DECL bool sqlite_store::transaction::write(
    detail::statement& with, std::string_view row, std::string* bytes) {
    with.bind(1, table_).bind(2, partition_).bind(3, row);
    if (bytes != nullptr) {
        auto const packed = detail::pack_row(on_, *bytes, partition_hash_, row);
        if (!packed) { return false; }
        with.bind(4, *packed);
        growth_ += 4 + packed->size() / (detail::file_format::page_bytes / 2); // each level of the tree may be split
    }
    bool const written = with.finish() == detail::stepped::done;
    with.reset();
    return written;
}

ENTITABLE_DECL bool sqlite_store::transaction::insert(std::string_view row, std::string& bytes) {
    detail::statement insert{on_, detail::sql::insert};
    if (!problem_) { return false; }
    if (!write(insert, row, &bytes)) {
        problem_ = on_.problem("cannot write the file");
        return false;
    }
    if (insert.changed_rows() == 0) { return false; }
    inserted_.emplace_back(row);
    return true;
}

/// Undoes the inserts one by one: the commit may include changes of other jobs, so it cannot be rolled back. False on failure.
ENTITABLE_DECL bool sqlite_store::transaction::take_back() {
    detail::statement remove{on_, detail::sql::erase};
    for (std::string const& row : inserted_) {
        if (!write(remove, row, nullptr)) { return false; }
    }
    return true;
}

ENTITABLE_DECL result<void> sqlite_store::transaction::apply() {
    detail::statement put{on_, detail::sql::put};
    detail::statement remove{on_, detail::sql::erase};
    for (change& each : changes_) {
        std::string* const bytes = each.bytes ? &*each.bytes : nullptr;
        if (!write(bytes != nullptr ? put : remove, each.row, bytes)) { return on_.problem("cannot write the file"); }
    }
    return {};
}

ENTITABLE_END_NAMESPACE
