// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/postgres/detail/pg_key.hpp>
#include <entitable/local/postgres/postgres_store.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE

/// Replaces a connection that was cut while idle: a read is repeated once, on a new connection.
template <class Work>
auto postgres_store::reading(call const& context, Work const& work, bool in_lane)
    -> decltype(work(std::declval<detail::pg_connection&>())) {
    for (;;) {
        ENTITABLE_TRY(
            auto on, in_lane ? pool_->borrow_place(detail::pg_lane_use::read, 0, context) : pool_->borrow(context));
        auto read = work(*on);
        if (read || !(on->skipped() || is_stale(on, read.error()))) { return read; }
        ENTITABLE_CHECK(check_call(context, time()));
    }
}

ENTITABLE_DECL result<lookup> postgres_store::get(
    std::string_view table, std::string_view partition, std::string_view row, row_visitor visit, call const& context) {
    std::string partition_key;
    std::string row_key;
    if (!detail::append_utf16_key(partition, partition_key) || !detail::append_utf16_key(row, row_key)) {
        return lookup::absent;
    }
    struct response {
        std::vector<detail::pg_rows> own;
        detail::pg_connection::grouped_row grouped;
    };
    // Together, rows must not take much memory.
    constexpr std::size_t longest_together = 32U * 1024;
    auto const read = [&](detail::pg_connection& on) -> result<response> {
        if (std::size_t const known = row_bytes_.load(memory_order::relaxed);
            on.in_lane() && known != 0 && known <= longest_together) {
            if (auto found = on.get_in_group(table, partition_key, row_key, context)) {
                if (!*found) { return std::move(*found).as_failure(); }
                return response{{}, **std::move(found)};
            }
        }
        set_timeout(on, context);
        on.send(detail::pg_statement::get, {table, partition_key, row_key});
        ENTITABLE_TRY(auto answers, on.run(context));
        return response{std::move(answers), {}};
    };
    ENTITABLE_TRY(auto const answer, reading(context, read, true));
    detail::pg_rows const& found = answer.own.empty() ? answer.grouped.rows() : answer.own.back();
    int const at = answer.grouped.at;
    if (found.size() == 0) { return lookup::no_table; }
    if (found.is_null(at, 0)) { return lookup::absent; }
    std::string_view const bytes = found.stamped(at, 0, 1);
    note_size(bytes.size());
    visit(bytes);
    return lookup::found;
}

/// A scan in the form of the server, and how far it has come.
struct postgres_store::row_scan {
    explicit row_scan(scan_range const& asked)
        : range(asked),
          one_partition(asked.last_partition == asked.from_partition),
          exact(detail::append_utf16_key(asked.from_partition, from_partition) &&
              detail::append_utf16_key(asked.from_row, from_row)),
          has_last(one_partition ? asked.last_row.has_value() : asked.last_partition.has_value()) {
        if (has_last) {
            has_last = detail::append_utf16_key(one_partition ? *asked.last_row : *asked.last_partition, last);
        }
        if (one_partition && !exact) { from_row.clear(); }
        statement = one_partition
            ? has_last ? detail::pg_statement::scan_partition_until : detail::pg_statement::scan_partition
            : has_last ? detail::pg_statement::scan_until
                       : detail::pg_statement::scan_from;
        begin();
    }
    void begin() {
        next_partition = from_partition;
        next_row = from_row;
        met = lookup::absent;
    }
    void send(detail::pg_connection& on, std::string_view table, std::size_t most) const {
        detail::pg_number const limit{static_cast<std::int64_t>(most)};
        if (has_last) {
            on.send(statement, {table, next_partition, next_row, limit, last});
        } else {
            on.send(statement, {table, next_partition, next_row, limit});
        }
    }
    /// Passes rows to the visitor; returns false if no further row is wanted.
    [[nodiscard]] result<bool> show(detail::pg_rows const& rows, scan_visitor visit) {
        auto const malformed = [] { return failure{error_code::store_corrupt, "a key in the database is malformed"}; };
        bytes = 0;
        for (int at = 0; at < rows.size(); ++at) {
            std::string_view const stored = rows.bytes(at, 0);
            bool const another = at == 0 || stored != rows.bytes(at - 1, 0);
            if (another && !detail::assign_stored_key(stored, partition)) { return malformed(); }
            std::string_view const value = rows.stamped(at, 2, 3);
            if (!detail::assign_stored_key(rows.bytes(at, 1), row)) { return malformed(); }
            bytes += value.size() + row.size();
            if (!exact &&
                (partition < range.from_partition || (partition == range.from_partition && row < range.from_row))) {
                continue;
            }
            if (!has_last && range.last_partition && partition > *range.last_partition) { return false; }
            met = lookup::found;
            shown = true;
            if (!visit(partition, row, value)) { return false; }
        }
        return true;
    }
    /// The next part begins with the smallest key after the last row.
    void go_behind(detail::pg_rows const& rows) {
        next_partition = rows.bytes(rows.size() - 1, 0);
        next_row = rows.bytes(rows.size() - 1, 1);
        next_row.append(2, '\0');
    }

    scan_range const& range;
    std::string from_partition;
    std::string from_row;
    std::string last;
    bool one_partition;
    bool
        exact; ///< otherwise a bound that is not a valid key is replaced by a smaller one, and the rows between the two are skipped
    bool has_last;
    detail::pg_statement statement{};
    std::string next_partition;
    std::string next_row;
    std::string partition;
    std::string row;
    std::size_t bytes{}; ///< of the rows of the last part
    lookup met{lookup::absent};
    bool shown{}; ///< rows were passed to the visitor: the scan cannot be repeated then
};

ENTITABLE_DECL result<lookup> postgres_store::scan(
    std::string_view table, scan_range const& range, scan_visitor visit, call const& context) {
    row_scan all{range};
    return reading(context, [&](detail::pg_connection& on) { return scan_on(on, table, all, visit, context); });
}

/// Keeps an approximate size of rows, which falls slowly.
ENTITABLE_DECL void postgres_store::note_size(std::size_t bytes) noexcept {
    std::size_t const known = row_bytes_.load(memory_order::relaxed);
    std::size_t const now = bytes > known ? bytes : known - (known - bytes) / 8;
    if (now != known) { row_bytes_.store(now, memory_order::relaxed); }
}

/// Fetches rows in parts of some megabytes. If the first part covers the whole request, it is one statement; otherwise the parts are read
/// in one transaction, which has one snapshot.
ENTITABLE_DECL result<lookup> postgres_store::scan_on(
    detail::pg_connection& on, std::string_view table, row_scan& all, scan_visitor visit, call const& context) {
    constexpr std::size_t part_bytes = 4U * 1024 * 1024;
    constexpr std::size_t part_rows = 4096;
    all.begin();
    std::size_t left = all.range.most_rows;
    bool in_transaction = false;
    struct guard { // for exceptions of a visitor
        detail::pg_connection& on;
        call const& context;
        ~guard() { on.roll_back(context); }
    } const rolls_back{on, context};
    for (bool first = true;; first = false) {
        std::size_t const known = row_bytes_.load(memory_order::relaxed);
        std::size_t part = known == 0 ? 64 : part_bytes / known;
        part = part < 16 ? 16 : part > part_rows ? part_rows : part;
        bool const suffices = left != 0 && left <= part;
        part = suffices ? left : part;
        if (first && !suffices) {
            on.send(detail::pg_statement::begin_read);
            in_transaction = true;
        }
        if (first) { set_timeout(on, context); }
        all.send(on, table, part);
        auto answers = on.run(context);
        if (!answers) {
            failure why = std::move(answers).as_failure();
            if (all.shown && why.error().code == error_code::transport_failed) {
                return failure{
                    error_code::transport_failed, "the connection to the database was lost while a page was read"};
            }
            return why;
        }
        detail::pg_rows const& rows = answers->back();
        if (first && rows.size() == 0) {
            on.send(detail::pg_statement::find_table, {table});
            auto found = on.run(context);
            return !found                   ? result<lookup>{std::move(found).as_failure()}
                : found->back().size() == 0 ? lookup::no_table
                                            : lookup::absent;
        }
        ENTITABLE_TRY(bool const wanted, all.show(rows, visit));
        if (!wanted) { return all.met; }
        if (rows.size() > 0) {
            std::size_t const mean = all.bytes / static_cast<std::size_t>(rows.size()) + 32;
            note_size(mean);
        }
        if (static_cast<std::size_t>(rows.size()) < part) { return all.met; }
        if (!in_transaction) { // the visitor did not stop as it should
            on.send(detail::pg_statement::begin_read);
            in_transaction = true;
        }
        left = left > part ? left - part : 0;
        all.go_behind(rows);
    }
}

/// The bounds of a count in the form of the server.
struct postgres_store::counted_keys {
    std::string from_partition;
    std::string from_row;
    std::string end_partition;
    std::string first_row;
    std::string end_row;
    std::string without_from; ///< rows from this key to before the next one do not count
    std::string without_end;

    /// Returns false if a bound is not a valid key.
    [[nodiscard]] bool take(count_range const& range) {
        std::string const behind_all(1100, '\xFF'); // a key has at most 1,024 bytes
        auto const end_of = [&](std::optional<std::string> const& key, std::string& to) {
            if (!key) { to = behind_all; }
            return !key || detail::append_utf16_key(*key, to);
        };
        if (!detail::append_utf16_key(range.from_partition, from_partition) ||
            !detail::append_utf16_key(range.from_row, from_row) || !end_of(range.end_partition, end_partition) ||
            !detail::append_utf16_key(range.first_row, first_row) || !end_of(range.end_row, end_row)) {
            return false;
        }
        if (range.one_partition && from_row > first_row) { first_row = from_row; }
        if (!range.without_system_rows) { return true; }
        static_cast<void>(detail::append_utf16_key(system_row::prefix, without_from));
        static_cast<void>(detail::append_utf16_key(system_row::end, without_end));
        without_from = (std::max)(without_from, first_row);
        without_end = (std::min)(without_end, end_row);
        return true;
    }
};

ENTITABLE_DECL result<std::optional<std::uint64_t>> postgres_store::count_rows(
    std::string_view table, count_range const& range, call const& context) {
    using detail::pg_statement;
    counted_keys keys;
    if (!keys.take(range)) { return std::optional<std::uint64_t>{}; }
    bool const all_rows = !range.end_row && keys.first_row.empty();
    auto answers = reading(context, [&](detail::pg_connection& on) {
        set_timeout(on, context);
        if (range.one_partition && all_rows) {
            on.send(pg_statement::count_partition, {table, keys.from_partition, keys.without_from, keys.without_end});
        } else if (range.one_partition) {
            on.send(pg_statement::count_rows,
                {table, keys.from_partition, keys.first_row, keys.end_row, keys.without_from, keys.without_end});
        } else if (on.send(pg_statement::count_plan);
            all_rows && keys.from_partition.empty() && keys.from_row.empty() && !range.end_partition) {
            on.send(pg_statement::count_table, {table, keys.without_from, keys.without_end});
        } else {
            on.send(pg_statement::count_range,
                {table, keys.from_partition, keys.from_row, keys.end_partition, keys.first_row, keys.end_row,
                    keys.without_from, keys.without_end});
        }
        return on.run(context);
    });
    if (!answers) { return std::move(answers).as_failure(); }
    detail::pg_rows const& counted = answers->back();
    if (counted.is_null(0, 0)) { return std::optional<std::uint64_t>{}; }
    return std::optional<std::uint64_t>{static_cast<std::uint64_t>(counted.number(0, 1))};
}

ENTITABLE_DECL result<void> postgres_store::tables(
    std::string_view from_key, table_visitor visit, call const& context) {
    std::string from{from_key};
    for (;;) {
        constexpr int part = 1000;
        auto answers = reading(context, [&](detail::pg_connection& on) {
            set_timeout(on, context);
            on.send(detail::pg_statement::list_tables, {from, detail::pg_number{std::int64_t{part}}});
            return on.run(context);
        });
        if (!answers) { return std::move(answers).as_failure(); }
        detail::pg_rows const& rows = answers->back();
        for (int at = 0; at < rows.size(); ++at) {
            if (!visit(rows.bytes(at, 0), rows.bytes(at, 1))) { return {}; }
        }
        if (rows.size() < part) { return {}; }
        from = rows.bytes(part - 1, 0);
        from += '\0';
    }
}

ENTITABLE_END_NAMESPACE
