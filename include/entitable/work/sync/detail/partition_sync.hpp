// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `partition_sync`: the protocol that makes one partition of a local table and of a table in the cloud the same.
///
/// Each row has a base in the local table: the content that both sides had last. A row that differs from its base was changed on that side;
/// a base without a row tells a removal from a row that never was. Rows and bases change in one local transaction. The rows in the cloud
/// change in one way only: by a push, a transaction under the versions that were compared with the bases.
///
/// A push is noted in the local table before it is sent. The receipt, a row in the cloud that is written by the same transaction under its
/// version, has the random name of the last push. After a lost response the receipt tells whether the push was applied; if it was not, the
/// receipt is written once more, which gives it another version, so that a late push is refused. A receipt with an unknown name tells
/// that the local rows are older than what was sent from them.

#include <entitable/client/companion_writer.hpp>
#include <entitable/core/request/resumable.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/work/messaging/detail/held_time.hpp>
#include <entitable/work/sync/detail/sync_rows.hpp>
#include <entitable/work/sync/sync_report.hpp>

#include <functional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What is synchronised, and how. All that it refers to must outlive the protocol.
struct synced_partition {
    std::string here;          ///< local table
    std::string there;         ///< table in the cloud
    std::string partition_key; ///< its partition
    sync_policy const* conflicts{};
    bool allow_many_removals{};
    std::uint32_t max_attempts{};
    entitable::backoff delays;
    profile local;
    profile cloud;
    fresh_ids* ids{};
    random_source* delays_from{};         ///< jitter of delays; null for that of `ids`
    companion_writer const* log{};        ///< reads the change log of the table in the cloud; null without one
    companion_writer const* companions{}; ///< of both tables; null if writes of rows change no other rows
    std::function<void()> const* watch{}; ///< called after each transaction that changed rows; null for none
};

/// Transports of the protocol, by index. Writes are sent once: a repetition below would meet the version that the first attempt has made.
enum class sync_place : std::size_t {
    here,       ///< the local table, each request once
    there,      ///< reads of the table in the cloud
    there_once, ///< writes to the table in the cloud, each once
};

/// Synchronises one partition, once.
class partition_sync {
public:
    partition_sync(synced_partition of, sync_report& report);
    partition_sync(partition_sync const&) = delete;
    partition_sync& operator=(partition_sync const&) = delete;
    ~partition_sync() = default;

    /// Runs the protocol. The object must outlive the coroutine.
    [[nodiscard]] resumable<void> run();
    /// Returns a row of a side as it was last read; nullopt without it.
    [[nodiscard]] std::optional<row_view> known_row(bool local, std::string_view row_key) const;
    /// Adds what is not synchronised to the report: rows that are held back, and the partition if `run` failed.
    void end(result<void> const& ran);

private:
    /// The change of one row in the local table, and its new base.
    struct local_change {
        std::string row_key;
        std::optional<mutation> row{};
        std::optional<mutation> renamed{};
        std::optional<mutation> base{};
        std::optional<settled_conflict> conflict{};
    };
    /// A changed local row that has to be pushed.
    struct pushed_row {
        std::string_view row_key;
        std::optional<row_view> here;
        std::optional<row_view> there;
    };
    struct plan {
        std::vector<local_change> changes;
        std::vector<pushed_row> pushes;
        std::size_t pulls{}; ///< rows whose content in the cloud differs from their base
    };
    /// The three contents of a row.
    struct sides {
        std::string_view row_key;
        std::optional<row_view> base;
        std::optional<row_view> here;
        std::optional<row_view> there;
    };

    // ---- the steps ----
    [[nodiscard]] resumable<synced_rows> read(sync_place from);
    [[nodiscard]] resumable<void> read_here();
    /// Takes the version of the state that was read. Errors: SyncRunning if it differs from the version that is known.
    [[nodiscard]] result<void> know_version();
    [[nodiscard]] resumable<void> read_there();
    [[nodiscard]] resumable<void> read_receipt();
    /// Reads only the rows that the change log of the cloud names. False if everything is to be read: the log does not reach back, many rows
    /// have changed, or a local row has. A local change needs the versions of the rows in the cloud.
    [[nodiscard]] resumable<bool> read_changes_there();
    /// Whether the log of the cloud has no change since before its rows were read. False without a log.
    [[nodiscard]] result<bool> is_unchanged_there() const;
    /// Whether each local row has the content of its base.
    [[nodiscard]] bool is_unchanged_here() const;
    /// Stores the position in the log up to which all changes of the cloud are in the bases.
    [[nodiscard]] resumable<void> note_position();
    /// Notes whether a push of an earlier run was applied, and makes sure that it never will be if it was not.
    [[nodiscard]] resumable<void> settle();
    /// Returns bases with the content that the push sent. If it is unknown whether the push was applied, they name it.
    [[nodiscard]] std::vector<mutation> bases_of_push(bool is_known) const;
    /// Makes the local changes. False if a local program was faster.
    [[nodiscard]] resumable<bool> apply(std::vector<local_change> changes, bool restored);
    /// Reads the version of the state, after a write whose response did not have it.
    [[nodiscard]] resumable<void> read_version();
    /// Sends the changed local rows. False if another writer was faster.
    [[nodiscard]] resumable<bool> push(std::vector<pushed_row> rows);
    /// Sends one transaction of changed rows.
    [[nodiscard]] resumable<bool> push_part(std::vector<pushed_row> rows);
    [[nodiscard]] transact pushing(std::vector<pushed_row> const& rows, std::string_view name) const;
    /// Makes local changes, and writes the state under the version that was read. False if another writer was faster, or if the row of a
    /// change is now held back. `row_keys`: the row of the application that each change belongs to. `divides`: as for `refused`.
    [[nodiscard]] resumable<bool> write_here(
        std::vector<mutation> changes, std::vector<std::string> row_keys, sync_state next, bool divides = false);
    /// Whether the pages of a side show one point in time; if not, they are to be read again.
    [[nodiscard]] resumable<bool> is_steady(sync_place of);
    /// Begins the next attempt, after a delay if others were faster or a store is busy. `reads_cloud`: it reads the cloud again.
    [[nodiscard]] resumable<void> begin_again(bool reads_cloud);
    /// Judges a refused transaction: false if another attempt may succeed. `divides`: it may be sent with fewer rows.
    [[nodiscard]] result<bool> refused(error why, std::vector<std::string> const& row_keys, bool divides);

    [[nodiscard]] std::size_t most_rows_a_push() const;
    void show_progress() const {
        if (of_.watch != nullptr) { (*of_.watch)(); }
    }
    [[nodiscard]] random_source& delays_from() const {
        return of_.delays_from != nullptr ? *of_.delays_from : of_.ids->random();
    }

    // ---- decisions, without requests ----
    [[nodiscard]] result<plan> decide(bool restored);
    [[nodiscard]] result<void> check_removals(plan const& made, bool restored) const;
    [[nodiscard]] std::optional<local_change> change_of(sides const& of, bool restored);
    [[nodiscard]] std::optional<local_change> settle_conflict(sides const& of, local_change made, bool restored);
    /// Whether a policy may decide a conflict so.
    [[nodiscard]] result<void> check_decision(sides const& of, sync_decision const& decided) const;
    /// Whether a store accepts a row that is written to it; if not, the row is held back.
    [[nodiscard]] bool is_accepted(std::string_view row_key, row_view written, profile const& by);
    [[nodiscard]] mutation base_to(std::string_view row_key, std::optional<row_view> content) const;
    /// Whether a row cannot be synchronised because of its size or its key; it is then held back.
    [[nodiscard]] bool is_held(sides const& of);
    void hold(std::string_view row_key, error why);
    /// Whether a base is the content of a push of this device that may not have been applied.
    [[nodiscard]] bool is_uncertain(std::string_view row_key) const;
    [[nodiscard]] std::optional<row_view> view_of_base(std::string_view row_key) const;

    synced_partition of_;
    sync_report& report_;
    contention rivals_;
    synced_rows here_;
    std::optional<synced_rows> there_;
    std::optional<row> receipt_; ///< of this device, read after the rows
    sync_state state_;
    /// When the next attempt begins.
    enum class attempt : std::uint8_t {
        after_delay, ///< others were faster, or a store is busy: this counts
        at_once,     ///< a row was held back, or fewer rows are sent at once
    };
    attempt next_{};
    error last_;                  ///< of the last attempt that failed
    std::optional<etag> version_; ///< of the state; none if it was never written
    bool version_known_{};        ///< whether the state was read: from then on nobody else may write it
    bool tried_log_{};            ///< whether the log was asked
    bool by_log_{};               ///< whether `there_` has only been read where the log names changes
    std::string seen_;            ///< position from before the rows in the cloud were read
    bool cleared_{};              ///< whether the push in the state is known to be refused
    bool settled_here_{};         ///< whether several pages of local rows were read at one point in time
    bool settled_there_{};
    std::size_t unsteady_{};
    std::size_t unnamed_{}; ///< refusals that named no row
    std::size_t rows_a_push_;
    std::map<std::string, error, std::less<>> held_;
    std::vector<std::string> renamed_; ///< new row keys of the current plan
};

/// Adds the key of a partition to a list of the report, once.
inline void list_once(std::vector<std::string>& list, std::string const& partition_key) {
    if (list.empty() || list.back() != partition_key) { list.push_back(partition_key); }
}
/// Options of a request at one of the places.
inline ask_options at_place(sync_place place) {
    ask_options how;
    how.place = static_cast<std::size_t>(place);
    return how;
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/sync/impl/log_pull.ipp>
#include <entitable/work/sync/impl/partition_sync.ipp>
#include <entitable/work/sync/impl/partition_writes.ipp>
#include <entitable/work/sync/impl/sync_plan.ipp>
#endif
