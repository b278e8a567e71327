// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The single writer of a store: jobs of several threads share a commit, because the disk takes as long for many jobs as for one.

#include <entitable/core/function_ref.hpp>
#include <entitable/local/file/detail/connection.hpp>
#include <entitable/local/file/detail/file_lock.hpp>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The effect of a job on the transaction.
enum class job_end : std::uint8_t {
    nothing, ///< the update changed nothing; its result is valid if the transaction succeeds
    written, ///< the update must be committed
    broken,  ///< its changes must be undone; its result is an error
};

/// The transaction that jobs write into.
struct commit_group {
    struct table {
        std::string key;
        std::int64_t id;
    };

    connection& on;
    std::int64_t last_version;          ///< the highest version used
    std::optional<table> known_table{}; ///< the last table looked up
    std::size_t growth{}; ///< the file has become longer by at most this many pages; removals are not counted

    /// Returns the number of a table; nullopt if the table does not exist.
    [[nodiscard]] result<std::optional<std::int64_t>> table_id(std::string_view key);
};

/// The highest version ever used, stored in the file for the next store. Storing every version would cost one more page per commit. So the
/// file stores a bound that no version exceeds. The bound is exact when a store begins to write after another store; the longer a store is
/// the only writer, the further ahead its bound is, by at most a second. The next store continues from the bound, so its Timestamps may run
/// ahead of the clock by at most the time that the previous store was the only writer.
class version_memory {
public:
    /// Returns the highest version that can exist if `bound` is in the file.
    [[nodiscard]] std::int64_t last(std::int64_t bound) const noexcept { return bound == bound_ ? last_ : bound; }
    /// Returns the bound to store when `version` is committed over `bound`.
    [[nodiscard]] std::int64_t bound_for(std::int64_t version, std::int64_t bound) const noexcept;
    /// Records that this version was committed.
    void committed(std::int64_t version, std::int64_t bound_before, std::int64_t bound) noexcept;
    /// Records that the outcome of the commit is unknown.
    void forget() noexcept { bound_ = -1; }

private:
    std::int64_t bound_{-1}; ///< the bound in the file, unless other stores have written; -1 at first
    std::int64_t first_{};   ///< start of the current period without writes by other stores
    std::int64_t last_{};
};

/// Runs in the transaction, possibly again from its start, and possibly on another thread while its caller waits.
using write_job = function_ref<job_end(commit_group&)>;

/// Thread safety: `run` and `checkpoint` may be called from several threads.
///
/// A thread that finds no leader becomes the leader: it commits its own job with the jobs of all threads that have arrived in the meantime,
/// and then lets another thread lead. While other stores hold the file, each job, claimed or not, ends with the deadline and the
/// cancellation of its call and with the busy timeout; a leader whose own job ends this way hands the remaining jobs to another thread. The
/// writer lock is held from the beginning of a transaction to after its checkpoint, so that a checkpoint and a commit never overlap in any
/// process: SQLite before 3.51.3 can lose pages then (its "WAL-reset" defect).
class writer {
public:
    /// `read_only`: for a file that cannot be written; every call returns StoreReadOnly.
    writer(file_place place, file_options const& options, file_lock lock, connection first, bool read_only);
    ~writer();
    writer(writer const&) = delete;
    writer& operator=(writer const&) = delete;

    /// Commits the changes of `job`. If the commit fails, the file is reopened to determine its outcome: an error has `effect::unknown`
    /// only if reopening fails too.
    [[nodiscard]] result<void> run(write_job job, call const& context);
    /// Moves the whole write-ahead log into the file.
    [[nodiscard]] result<void> checkpoint(call const& context);

    /// Marks a long read while this object exists: commits do not wait for that reader, however long the log is.
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
    /// Waiting jobs, in the order of arrival. Needs no memory of its own.
    class line {
    public:
        [[nodiscard]] waiting* first() const noexcept { return first_; }
        [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
        void push_back(waiting& one) noexcept;
        void remove(waiting& one) noexcept;
        void clear() noexcept { first_ = last_ = nullptr; }
        /// Removes and returns all except the first.
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
    enum class commit_outcome : std::uint8_t { applied, none, unknown };
    [[nodiscard]] commit_outcome settle(std::uint32_t counter_before);
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
    std::uint64_t log_{}; ///< the identity of the connection's log; 0 before the connection had a log
    std::size_t log_pages_{};
    std::size_t checkpoint_at_; ///< pages
    std::atomic<std::size_t> long_logs_{0};

    bool fresh_{true};  ///< the connection has not written anything
    bool one_by_one_{}; ///< there was no space for all claimed jobs together
    bool room_won_{};   ///< the log was moved to make space for these jobs

    line claimed_;   ///< owned by the leader, like the members above
    line held_back_; ///< jobs that are also claimed and will be committed later

    std::mutex queue_mutex_;
    // guarded by queue_mutex_
    line queue_;                ///< jobs that are not claimed
    std::size_t checkpoints_{}; ///< the number of checkpoints among them
    bool led_{};
    std::size_t generation_{}; ///< the number of claims so far
    bool stalled_{};           ///< the leader waits for other stores that hold the file
    std::size_t stall_{};      ///< the number of such waits
    /// All jobs of one generation wait on one of two condition variables, alternately, so that one call wakes them. Checkpoints wait on the
    /// third one.
    std::condition_variable wake_[3];
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/writer.ipp>
#include <entitable/local/file/impl/writer_commit.ipp>
#include <entitable/local/file/impl/writer_log.ipp>
#include <entitable/local/file/impl/writer_queue.ipp>
#endif
