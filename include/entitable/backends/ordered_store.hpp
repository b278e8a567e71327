// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The seam below `local`: a transactional ordered map of bytes that knows tables and partitions, and nothing of
/// entities, ETags or filters.

#include <entitable/core/function_ref.hpp>
#include <entitable/core/result.hpp>
#include <entitable/request/call.hpp>
#include <entitable/row/row.hpp>

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

// `absent` is a word of merges too, in the namespace around this.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
/// What a store found.
enum class lookup : std::uint8_t {
    no_table, ///< the table is not there
    absent,   ///< the row is not there; a body returned false; a scan met no row
    found,    ///< the row is there; a body was committed; a scan visited at least one row
};
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/// Where a scan starts and which partition is its last, both included. The rest is for stores that fetch rows ahead: a store may visit
/// rows after `last_row`, and more than `most_rows`.
struct scan_range {
    std::string_view from_partition;                ///< the first partition
    std::string_view from_row;                      ///< the first row in it
    std::optional<std::string_view> last_partition; ///< none: to the end of the table
    std::optional<std::string_view> last_row{};     ///< in a range of one partition: no row after it is wanted
    std::size_t most_rows{};                        ///< the visitor stops at this row at the latest; 0: not known
};

/// Receives the bytes of a row; the view is valid during the call.
using row_visitor = function_ref<void(std::string_view bytes)>;
/// Receives one row of a scan; returns whether to continue. The views are valid during the call.
using scan_visitor = function_ref<bool(std::string_view partition, std::string_view row, std::string_view bytes)>;
/// Receives consecutive rows of one partition, at least one; returns whether to continue. Keys are as the store holds them, the payload
/// is what was stored. The views are valid during the call.
using run_visitor = function_ref<bool(std::span<row_view const> run)>;
/// Calls its argument with the key of each row that a body will read.
using rows_ahead = function_ref<void(function_ref<void(std::string_view row)>)>;
/// Receives one table; returns whether to continue.
using table_visitor = function_ref<bool(std::string_view key, std::string_view shown_name)>;

/// The rows of one partition inside an update.
template <class T>
concept store_transaction = requires(T& transaction, std::string_view row, row_visitor visit, std::string bytes) {
    // calls visit with the latest committed bytes; false when there is no such row
    { transaction.get(row, visit) } -> std::same_as<bool>;
    // stages new bytes
    transaction.put(row, std::move(bytes));
    // stages a removal; nothing happens when there is no such row
    transaction.erase(row);
};

/// A transactional ordered map of bytes.
///
/// Semantic rules:
/// 1. Keys of tables, partitions and rows are bytes, compared with memcmp; a prefix comes first. Any bytes are legal; a key may be empty.
/// 2. `update` runs `body` in a transaction over one partition: it reads the latest committed rows, and when it returns true
///    all that it staged becomes visible at once; when it returns false nothing does. No other update of the partition runs
///    in between. The body may be run again from its start, and on another thread while the caller waits; it resets its
///    outputs first. It calls the store only through its transaction.
/// 3. What an update staged need not be seen by reads of the same transaction.
/// 4. An error from `update` has `effect::none` when nothing was applied, `effect::unknown` when that is not known.
/// 5. All rows of one partition that one `scan` visits come from one snapshot of that partition; nothing is promised across
///    partitions. Rows come in the order of (partition, row).
/// 6. A visitor does not call the store. A row read by `get` or `scan` was committed before the call, or during it.
/// 7. A visitor or a body should not hold up readers and writers of other partitions.
/// 8. A dropped table cannot be written to by an update that began before: it ends with `no_table`.
/// 9. Safe to use from several threads.
/// 10. A store that waits for others gives up when the call's deadline has passed or the call was cancelled, with the error that
///    `check_call` returns and `effect::none`. A store that never waits for long ignores its last argument.
///
/// Optional extensions:
/// - `transaction.last_version()`, an `std::int64_t&`: the greatest version that the store, or the partition, ever kept, in any process.
///   It can be raised, and is stored with the changes of the update. Without it versions increase as long as the backend lives.
/// - `transaction.insert(row, bytes)`: stages new bytes, which it may move from, and returns true, if there is no such row; else it
///   changes nothing and returns false. `local` inserts with this instead of `get` and `put`. `get` of the same row afterwards need not
///   see it.
/// - `scan_runs(table, range, visit, call)`: `scan` with a `run_visitor`, which may be given rows after the one at which it would stop.
///   Pages that are passed to a visitor are read with it.
/// - `update_rows(table, partition, rows, body, call)`: `update` with `rows`, a `rows_ahead` of what the body will read, so that a store
///   over a network fetches it at once. The body may read other rows too.
/// - `S::identity`, a static `server_identity`: what observers receive about it.
template <class S>
concept ordered_store = store_transaction<typename S::transaction> &&
    requires(S& store, std::string_view text, row_visitor visit_row, scan_visitor visit_entry,
        table_visitor visit_table, scan_range const& range, function_ref<bool(typename S::transaction&)> body,
        call const& context) {
        // opts in
        typename S::is_ordered_store;
        // the last argument of each member: the call that asks, see rule 10
        // creates a table under a key, with the name to show for it; false when the key is taken
        { store.create_table(text, text, context) } -> std::same_as<result<bool>>;
        // removes a table and its rows; false when there is none
        { store.drop_table(text, context) } -> std::same_as<result<bool>>;
        // visits the tables whose key is not less than `text`, in order
        { store.tables(text, visit_table, context) } -> std::same_as<result<void>>;
        // visits one row: (table, partition, row)
        { store.get(text, text, text, visit_row, context) } -> std::same_as<result<lookup>>;
        // visits the rows of a range in order, until the visitor returns false
        { store.scan(text, range, visit_entry, context) } -> std::same_as<result<lookup>>;
        // changes rows of one partition: (table, partition, body)
        { store.update(text, text, body, context) } -> std::same_as<result<lookup>>;
    };

ENTITABLE_END_NAMESPACE
