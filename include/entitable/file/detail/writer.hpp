// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The one writer of a store: jobs of several threads go into one commit, because the disk takes as long for many as for one.

#include <entitable/core/function_ref.hpp>
#include <entitable/file/detail/connection.hpp>
#include <entitable/file/detail/file_lock.hpp>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What a job left in the transaction.
enum class job_end : std::uint8_t {
    nothing, ///< it changed nothing; its answer stands if the transaction does
    written, ///< it is to be committed
    broken,  ///< what it changed has to be taken back; its answer is an error
};

/// The transaction that jobs write into.
struct commit_group {
    struct table {
        std::string key;
        std::int64_t id;
    };

    connection& on;
    std::int64_t last_version;          ///< the greatest there is
    std::optional<table> known_table{}; ///< the one asked for last
    std::size_t growth{}; ///< the file has become longer by that many pages, at most; not counted for removals

    /// The number of a table, none when there is no such table.
    [[nodiscard]] result<std::optional<std::int64_t>> table_id(std::string_view key);
};

/// The greatest version ever given, kept in the file for the next store. To store each one would cost one page more for each commit. So
/// the file has a bound that no version exceeds: exact when a store begins to write after another, then further ahead the longer it is the
/// only writer, a second at most. The next store continues from the bound, so its Timestamps may run ahead of the clock by at most the time
/// that the previous store was the only writer.
class version_memory {
public:
    /// The greatest version there can be, when the file has `bound`.
    [[nodiscard]] std::int64_t last(std::int64_t bound) const noexcept { return bound == bound_ ? last_ : bound; }
    /// What the file is to have when `version` is to be committed over `bound`.
    [[nodiscard]] std::int64_t bound_for(std::int64_t version, std::int64_t bound) const noexcept;
    /// It was committed.
    void committed(std::int64_t version, std::int64_t bound_before, std::int64_t bound) noexcept;
    /// It is not known whether it was.
    void forget() noexcept { bound_ = -1; }

private:
    std::int64_t bound_{-1}; ///< what the file has unless others wrote; -1 at first
    std::int64_t first_{};   ///< since when nobody else wrote
    std::int64_t last_{};
};

/// Runs in the transaction; possibly again from its start, possibly on another thread while its caller waits.
using write_job = function_ref<job_end(commit_group&)>;

/// Thread-safety: `run` and `checkpoint` from several threads.
///
/// A thread that finds no leader leads: it commits its own job with those of all threads that came meanwhile, and then lets
/// another lead. While others hold the file each job, claimed or not, ends with the deadline and the cancellation of its call and
/// with the busy timeout; a leader whose own job ends so leaves the others to one of them. The writer lock is held from the beginning of a transaction to after its checkpoint, so
/// that in no process a checkpoint and a commit overlap: SQLite before 3.51.3 can lose pages then (its "WAL-reset" defect).
class writer {
public:
    /// `read_only`: of a file that cannot be written; all that it is asked for is StoreReadOnly.
    writer(file_place place, file_options const& options, file_lock lock, connection first, bool read_only);
    ~writer();
    writer(writer const&) = delete;
    writer& operator=(writer const&) = delete;

    /// Commits what `job` does. When the commit fails, the file is looked at anew at once, to see what became of it: an error has
    /// `effect::unknown` only when that fails too.
    [[nodiscard]] result<void> run(write_job job, call const& context);
    /// Moves the whole write-ahead log into the file.
    [[nodiscard]] result<void> checkpoint(call const& context);

    /// While one lives, a reader stays for long that is worth it: commits do not wait for it, however long the log is.
    class long_log {
    public:
        explicit long_log(writer& of) noexcept : of_(of) { ++of_.long_logs_; }
        long_log(long_log const&) = delete;
        long_log& operator=(long_log const&) = delete;
        ~long_log() { --of_.long_logs_; }

    private:
        writer& of_;
    };

private:
    struct waiting;
    /// Some that wait, in the order they came. Needs no memory of its own.
    class line {
    public:
        [[nodiscard]] waiting* first() const noexcept { return first_; }
        [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
        void push_back(waiting& one) noexcept;
        void remove(waiting& one) noexcept;
        void clear() noexcept { first_ = last_ = nullptr; }
        /// Takes out all but the first.
        [[nodiscard]] line without_first() noexcept;
        void append(line& others) noexcept;

    private:
        waiting* first_{};
        waiting* last_{};
    };

    [[nodiscard]] result<void> run_or_move_log(write_job const* job, call const& context);
    void await(waiting& mine);
    [[nodiscard]] bool may_lead(waiting const& mine) const noexcept;
    [[nodiscard]] bool gives_up(waiting& mine);
    void wake_next() noexcept;
    void claim() noexcept;
    void lead(waiting& mine);
    void commit_claimed(waiting& mine);
    void move_log(waiting& mine);
    [[nodiscard]] result<bool> try_begin();
    [[nodiscard]] result<void> open_connection();
    [[nodiscard]] bool lost_log();
    [[nodiscard]] bool has_last_log();
    [[nodiscard]] bool begin(waiting& mine);
    [[nodiscard]] waiting* run_jobs(commit_group& group, bool& any);
    enum class ended : std::uint8_t { done, again, full };
    [[nodiscard]] ended run_once(waiting& mine);
    [[nodiscard]] ended commit(waiting& mine, commit_group const& group, std::int64_t bound_before);
    enum class fate : std::uint8_t { applied, none, unknown };
    [[nodiscard]] fate settle(std::uint32_t counter_before);
    void find_room(waiting& mine);
    [[nodiscard]] bool win_room(waiting const& mine);
    void give_up() noexcept;
    [[nodiscard]] bool wait_on(waiting& mine);
    void stalled(bool now) noexcept;
    void finish(waiting& one);
    void finish_all();
    void fail_all(failure why);
    void release() noexcept;
    void keep_log_short(waiting const& mine);

    bool const read_only_;
    file_place const place_;
    file_options const& options_;
    file_lock lock_;
    std::optional<connection> on_;
    version_memory versions_;
    std::uint64_t log_{}; ///< which file the log of the connection is; 0 when it has had none
    std::size_t log_pages_{};
    std::size_t checkpoint_at_; ///< pages
    std::atomic<std::size_t> long_logs_{0};

    bool fresh_{true};  ///< nothing was written with the connection
    bool one_by_one_{}; ///< there was no room for all that are claimed
    bool room_won_{};   ///< the log was moved for them since the last commit

    line claimed_;   ///< the leader's, as is all that stands above
    line held_back_; ///< claimed too, and to be committed later

    std::mutex queue_mutex_;
    // guarded by it
    line queue_;                ///< those that are not claimed
    std::size_t checkpoints_{}; ///< so many of these are checkpoints
    bool led_{};
    std::size_t generation_{}; ///< how often jobs were claimed
    bool stalled_{};           ///< the leader waits for others that hold the file
    std::size_t stall_{};      ///< how often it began to
    /// All jobs that come in one generation wait in one place, in turn, so that one call wakes them. Checkpoints wait in the third.
    std::condition_variable wake_[3];
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/file/impl/writer.ipp>
#endif
