// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/local/postgres/detail/pg_key.hpp>
#include <entitable/local/postgres/postgres_store.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Replaces a connection that was cut while idle: a read is repeated once, on a new connection.
template <class Work>
auto postgres_store::reading(call const& context, Work const& work)
    -> decltype(work(std::declval<detail::pg_connection&>())) {
    for (;;) {
        ENTITABLE_TRY(auto on, pool_->borrow(context));
        auto read = work(*on);
        if (read || !is_stale(on, read.error())) { return read; }
    }
}

ENTITABLE_DECL result<lookup> postgres_store::get(
    std::string_view table, std::string_view partition, std::string_view row, row_visitor visit, call const& context) {
    std::string partition_key;
    std::string row_key;
    if (!detail::append_utf16_key(partition, partition_key) || !detail::append_utf16_key(row, row_key)) {
        return lookup::absent;
    }
    auto answers = reading(context, [&](detail::pg_connection& on) {
        set_timeout(on, context);
        on.send(detail::pg_statement::get, {table, partition_key, row_key});
        return on.run(context);
    });
    if (!answers) { return std::move(answers).as_failure(); }
    detail::pg_rows const& found = answers->back();
    if (found.size() == 0) { return lookup::no_table; }
    if (found.is_null(0, 0)) { return lookup::absent; }
    visit(found.stamped(0, 0, 1));
    return lookup::found;
}

/// Fetches rows in parts of some megabytes. If the first part covers the whole request, it is one statement; otherwise the parts are read
/// in one transaction, which has one snapshot.
ENTITABLE_DECL result<lookup> postgres_store::scan(
    std::string_view table, scan_range const& range, scan_visitor visit, call const& context) {
    constexpr std::size_t part_bytes = 4U * 1024 * 1024;
    constexpr std::size_t part_rows = 4096;
    bool const one_partition = range.last_partition == range.from_partition;
    std::string from_partition;
    std::string from_row;
    std::string last;
    // A bound that is not a valid key is replaced by a smaller bound; the rows between the two are skipped.
    bool const exact = detail::append_utf16_key(range.from_partition, from_partition) &&
        detail::append_utf16_key(range.from_row, from_row);
    bool has_last = one_partition ? range.last_row.has_value() : range.last_partition.has_value();
    if (has_last) {
        has_last = detail::append_utf16_key(one_partition ? *range.last_row : *range.last_partition, last);
    }
    if (one_partition && !exact) { from_row.clear(); }
    auto const statement = one_partition
        ? has_last ? detail::pg_statement::scan_partition_until : detail::pg_statement::scan_partition
        : has_last ? detail::pg_statement::scan_until
                   : detail::pg_statement::scan_from;
    bool shown = false; // set once rows were passed to the visitor: the scan cannot be repeated then
    return reading(context, [&](detail::pg_connection& on) -> result<lookup> {
        std::string next_partition = from_partition;
        std::string next_row = from_row;
        std::string partition;
        std::string row;
        std::size_t left = range.most_rows;
        lookup met = lookup::absent;
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
            detail::pg_number const limit{static_cast<std::int64_t>(part)};
            if (has_last) {
                on.send(statement, {table, next_partition, next_row, limit, last});
            } else {
                on.send(statement, {table, next_partition, next_row, limit});
            }
            auto answers = on.run(context);
            if (!answers) {
                failure why = std::move(answers).as_failure();
                if (shown && why.error().code == error_code::transport_failed) {
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
            std::size_t bytes = 0;
            for (int at = 0; at < rows.size(); ++at) {
                std::string_view const stored = rows.bytes(at, 0);
                if (at == 0 || stored != rows.bytes(at - 1, 0)) {
                    if (!detail::assign_stored_key(stored, partition)) {
                        return failure{error_code::store_corrupt, "a key in the database is malformed"};
                    }
                }
                std::string_view const value = rows.stamped(at, 2, 3);
                if (!detail::assign_stored_key(rows.bytes(at, 1), row)) {
                    return failure{error_code::store_corrupt, "a key in the database is malformed"};
                }
                bytes += value.size() + row.size();
                if (!exact &&
                    (partition < range.from_partition || (partition == range.from_partition && row < range.from_row))) {
                    continue;
                }
                if (!has_last && range.last_partition && partition > *range.last_partition) { return met; }
                met = lookup::found;
                shown = true;
                if (!visit(partition, row, value)) { return met; }
            }
            if (rows.size() > 0) {
                std::size_t const mean = bytes / static_cast<std::size_t>(rows.size()) + 32;
                row_bytes_.store(mean > known ? mean : known - (known - mean) / 8, memory_order::relaxed);
            }
            if (static_cast<std::size_t>(rows.size()) < part) { return met; }
            if (!in_transaction) { // the visitor did not stop as it should
                on.send(detail::pg_statement::begin_read);
                in_transaction = true;
            }
            left = left > part ? left - part : 0;
            next_partition = rows.bytes(rows.size() - 1, 0);
            next_row = rows.bytes(rows.size() - 1, 1);
            next_row.append(2, '\0'); // the smallest greater key
        }
    });
}

ENTITABLE_DECL result<std::optional<std::uint64_t>> postgres_store::count_rows(
    std::string_view table, count_range const& range, call const& context) {
    std::string from_partition;
    std::string from_row;
    std::string end_partition;
    std::string first_row;
    std::string end_row;
    std::string const behind_all(1100, '\xFF'); // a key has at most 1,024 bytes
    auto const end_of = [&](std::optional<std::string> const& key, std::string& to) {
        if (!key) { to = behind_all; }
        return !key || detail::append_utf16_key(*key, to);
    };
    bool const exact = detail::append_utf16_key(range.from_partition, from_partition) &&
        detail::append_utf16_key(range.from_row, from_row) && end_of(range.end_partition, end_partition) &&
        detail::append_utf16_key(range.first_row, first_row) && end_of(range.end_row, end_row);
    if (!exact) { return std::optional<std::uint64_t>{}; }
    auto answers = reading(context, [&](detail::pg_connection& on) {
        set_timeout(on, context);
        if (range.one_partition) {
            std::string const& first = first_row > from_row ? first_row : from_row;
            on.send(detail::pg_statement::count_partition, {table, from_partition, first, end_row});
        } else {
            on.send(detail::pg_statement::count_range,
                {table, from_partition, from_row, end_partition, first_row, end_row});
        }
        return on.run(context);
    });
    if (!answers) { return std::move(answers).as_failure(); }
    detail::pg_rows const& counted = answers->back();
    if (counted.size() == 0) { return std::optional<std::uint64_t>{}; }
    return std::optional<std::uint64_t>{static_cast<std::uint64_t>(counted.number(0, 0))};
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
