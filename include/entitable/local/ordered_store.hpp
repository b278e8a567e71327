// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The interface below `local`: a transactional ordered map of bytes that knows tables and partitions, but not entities, ETags or filters.

#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/row/row.hpp>

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

// The enclosing namespace also declares `absent`, for merges.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
/// The result of a lookup.
enum class lookup : std::uint8_t {
    no_table, ///< the table does not exist
    absent,   ///< the row does not exist; a body returned false; a scan visited no row
    found,    ///< the row exists; a body was committed; a scan visited at least one row
};
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/// The start of a scan and its last partition, both inclusive. The other members are for stores that fetch rows in advance: a store may
/// visit rows after `last_row`, and more than `most_rows`.
struct scan_range {
    std::string_view from_partition;                ///< the first partition
    std::string_view from_row;                      ///< the first row in it
    std::optional<std::string_view> last_partition; ///< if absent, the scan continues to the end of the table
    std::optional<std::string_view> last_row{};     ///< last wanted row, if the range is within one partition
    std::size_t most_rows{};                        ///< the visitor stops after at most this many rows; 0: unknown
    /// If not null, the range is within one partition; a store may write here, before the first visit, about how many rows it has.
    std::size_t* rows_to_come{};
};

/// The rows that a store counts: of one partition, or of several. Keys are in the form of the store. Ends are exclusive.
struct count_range {
    bool one_partition{};                     ///< only `from_partition`
    std::string_view from_partition;          ///< the first partition
    std::string_view from_row;                ///< the first row in it
    std::optional<std::string> end_partition; ///< if absent: to the end of the table
    std::string first_row;                    ///< the first row of each partition
    std::optional<std::string> end_row;       ///< the end of each partition; if absent: all of its rows
    bool without_system_rows{};               ///< rows whose keys begin with `system_row::prefix` do not count
};

/// Receives the bytes of a row; the view is valid during the call.
using row_visitor = function_ref<void(std::string_view bytes)>;
/// Receives one row of a scan; returns whether to continue. The views are valid during the call.
using scan_visitor = function_ref<bool(std::string_view partition, std::string_view row, std::string_view bytes)>;
/// Receives consecutive rows of one partition, at least one; returns whether to continue. Keys are in the form of the store, the payload is
/// unchanged. The views are valid during the call.
using run_visitor = function_ref<bool(std::span<row_view const> run)>;
/// Calls its argument with the key of each row that a body will read.
using rows_ahead = function_ref<void(function_ref<void(std::string_view row)>)>;
/// Receives one table; returns whether to continue.
using table_visitor = function_ref<bool(std::string_view key, std::string_view shown_name)>;

/// A change of one row, whose condition the store checks itself: for `write_row`.
struct row_write {
    /// What is changed.
    enum class change : std::uint8_t {
        insert,  ///< the row must not exist
        put,     ///< the row may exist
        replace, ///< the row must exist, with the version
        erase,   ///< the row must exist, with the version
    };
    change kind{};                         ///< what is changed
    std::optional<std::int64_t> version{}; ///< the required version, in ticks; if absent: any
    std::string_view bytes{};              ///< the new bytes; the store sets their Timestamp
};

/// The outcome of a `row_write`.
struct row_written {
    /// What the store found.
    enum class outcome : std::uint8_t {
        done,     ///< the row was changed
        no_table, ///< the table does not exist
        no_row,   ///< the row does not exist
        differs,  ///< the row exists; for `replace` and `erase`: with another version
    };
    outcome met{};          ///< what the store found
    std::int64_t version{}; ///< the new version, in ticks, if the row was inserted, put or replaced
};

/// What becomes of one row: for `update_row`.
struct row_update {
    /// The change.
    enum class change : std::uint8_t {
        none,  ///< the row stays as it is
        put,   ///< the row gets new bytes, whether it exists or not
        erase, ///< the row is removed, if it exists
    };
    change kind{};            ///< the change
    std::string_view bytes{}; ///< the new bytes; the store sets their Timestamp, and copies them before it returns
    std::int64_t version{};   ///< the Timestamp, in ticks
};
/// Receives the bytes of a row, null if it does not exist; returns what becomes of it.
using row_decision = function_ref<row_update(std::string_view const* stored)>;

/// The rows of one partition inside an update.
template <class T>
concept store_transaction = requires(T& transaction, std::string_view row, row_visitor visit, std::string bytes) {
    // calls visit with the latest committed bytes; false if the row does not exist
    { transaction.get(row, visit) } -> std::same_as<bool>;
    // stages new bytes
    transaction.put(row, std::move(bytes));
    // stages a removal; has no effect if the row does not exist
    transaction.erase(row);
};

/// A transactional ordered map of bytes.
///
/// Semantic rules:
/// 1. Keys of tables, partitions and rows are bytes, compared with memcmp; a prefix sorts first. Any bytes are valid; a key may be empty.
/// 2. `update` runs `body` in a transaction over one partition: it reads the latest committed rows. If it returns true, all staged
///    changes become visible at once; if it returns false, no change does. No other update of the partition runs in between. The body may
///    be run again from its start, and on another thread while the caller waits; it resets its outputs first. It calls the store only
///    through its transaction.
/// 3. Reads of the same transaction need not see the changes that the update has staged.
/// 4. An error from `update` has `effect::none` if nothing was applied, and `effect::unknown` if the outcome is unknown.
/// 5. All rows of one partition that one `scan` visits come from one snapshot of that partition; there is no guarantee across
///    partitions. Rows are visited in the order of (partition, row).
/// 6. A visitor does not call the store. A row read by `get` or `scan` was committed before the call, or during it.
/// 7. A visitor or a body should not block readers and writers of other partitions.
/// 8. An update that began before its table was dropped cannot write to it: it ends with `no_table`.
/// 9. Safe to use from several threads.
/// 10. A store that waits for other calls or processes stops when the call's deadline has passed or the call was cancelled, with the error
/// that
///    `check_call` returns and `effect::none`. A store that never waits for long ignores its last argument.
///
/// Optional extensions:
/// - `transaction.last_version()`, an `std::int64_t&`: the highest version that any process has ever stored in the store (or the
///   partition). It can be raised, and is stored with the changes of the update. Without it versions increase as long as the backend lives.
/// - `transaction.insert(row, bytes)`: stages new bytes, which it may move from, and returns true, if the row does not exist; otherwise it
///   changes nothing and returns false. `local` inserts with this instead of `get` and `put`. A later `get` of the same row need not see
///   it.
/// - `scan_runs(table, range, visit, call)`: `scan` with a `run_visitor`, which may receive rows after the one at which it would stop.
///   Used to read pages that are passed to a visitor.
/// - `update_rows(table, partition, rows, body, call)`: `update` with `rows`, a `rows_ahead` of the rows that the body will read, so that a
///   store over a network can fetch them together. The body may read other rows too.
/// - `transaction.drawn_version()`, an `std::int64_t`: the version of all changes that are staged next. It is greater than every version
///   that the rows read so far ever had, in any process. A store has either this or `last_version`.
/// - `write_row(table, partition, row, row_write, call)`, a `result<row_written>`: one change of one row, which needs no body. The store draws
///   the version: it is greater than every version that this row ever had. Between the test of the version and the change nothing else
///   changes the row.
/// - `update_row(table, partition, row, decide, call)`: `update` of one row, with a `row_decision` instead of a body. Its rules are those of
///   `update`. A decision of `none` ends with `absent`.
/// - `transaction.update_row(row, decide)`: changes one row by a `row_decision`, which is called once, before it returns. `local` uses this
///   instead of `get`, `put` and `erase`. Later reads of the transaction see the change.
/// - `count_rows(table, count_range, call)`, a `result<std::optional<std::uint64_t>>`: the number of rows of a range, in one snapshot; nothing if
///   the store does not count this range. If the table does not exist, it does not count.
/// - `S::identity`, a static `server_identity`: reported to observers.
template <class S>
concept ordered_store = store_transaction<typename S::transaction> &&
    requires(S& store, std::string_view text, row_visitor visit_row, scan_visitor visit_entry,
        table_visitor visit_table, scan_range const& range, function_ref<bool(typename S::transaction&)> body,
        call const& context) {
        // opts in
        typename S::is_ordered_store;
        // the last argument of each member: the caller's call, see rule 10
        // creates a table under a key, with its display name; false if the key is taken
        { store.create_table(text, text, context) } -> std::same_as<result<bool>>;
        // removes a table and its rows; false if it does not exist
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
