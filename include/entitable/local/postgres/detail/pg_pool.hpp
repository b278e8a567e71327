// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A pool of connections, reused between calls.

#include <entitable/core/detail/side_stack.hpp>
#include <entitable/local/postgres/detail/pg_connection.hpp>
#include <entitable/local/postgres/detail/pg_fiber.hpp>

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What a call does in a lane.
enum class pg_lane_use : std::uint8_t { read, write };

/// Thread safety: `borrow` and `forget_idle` may be called from several threads.
class pg_pool {
public:
    pg_pool(pg_target target, postgres_options options)
        : target_(std::move(target)), options_(std::move(options)), statements_(options_.schema) {}
    pg_pool(pg_pool const&) = delete;
    pg_pool& operator=(pg_pool const&) = delete;

    /// Lends a connection, which its destructor returns unless it is broken.
    class borrowed {
    public:
        borrowed(pg_pool& from, std::list<pg_connection> one, bool fresh) noexcept
            : from_(&from), one_(std::move(one)), fresh_(fresh) {}
        borrowed(borrowed&&) noexcept = default;
        borrowed& operator=(borrowed&&) = delete;
        ~borrowed() { give_back(); }
        /// Returns the connection early.
        void give_back() noexcept {
            if (one_.empty()) { return; }
            if (one_.front().in_lane()) {
                one_.clear();
            } else {
                from_->take_back(one_);
            }
        }
        /// Whether the connection has not been returned yet.
        [[nodiscard]] bool held() const noexcept { return !one_.empty(); }
        [[nodiscard]] pg_connection& operator*() noexcept { return one_.front(); }
        [[nodiscard]] pg_connection* operator->() noexcept { return &one_.front(); }
        /// Whether the connection was opened for this call; an idle connection may have been cut.
        [[nodiscard]] bool fresh() const noexcept { return fresh_; }

    private:
        pg_pool* from_;
        std::list<pg_connection> one_; ///< a list, so that returning it needs no allocation
        bool fresh_;
    };

    /// Borrows a connection; waits while the maximum number is borrowed, or the server accepts no more connections. First come, first
    /// served.
    [[nodiscard]] result<borrowed> borrow(call const& context);
    [[nodiscard]] result<borrowed> borrow(pg_wait const& until);
    /// Like `borrow`; on a stack of a channel it gets a place in one of the channel's lanes. Writes with the same `key` keep their order.
    [[nodiscard]] result<borrowed> borrow_place(pg_lane_use what, std::int64_t key, call const& context);
    /// Whether a call waits for a connection.
    [[nodiscard]] bool is_waited_for() noexcept;
    /// Closes the idle connections: one connection was broken, so the others may be broken too.
    void forget_idle() noexcept;
    /// Lends the stacks of a channel that was closed; null if there are none.
    [[nodiscard]] std::unique_ptr<stack_pool> take_stacks() noexcept;
    /// Keeps the stacks of a closed channel for the next one: the memory of new ones costs more than the requests of a short load.
    void keep_stacks(std::unique_ptr<stack_pool> stacks) noexcept;
    /// Opens the first connection, and creates the tables if they are missing.
    [[nodiscard]] result<void> open_first(call const& context);
    [[nodiscard]] postgres_options const& options() const noexcept { return options_; }

private:
    using moment = std::chrono::steady_clock::time_point;
    struct waiter {
        std::condition_variable woken;
        pg_fiber* fiber{}; ///< the stack of a channel that waits; null: a thread
        void wake() noexcept;
    };
    void take_back(std::list<pg_connection>& one) noexcept;
    [[nodiscard]] bool has_one() const noexcept; ///< whether one is idle or may be opened; call with the lock held
    [[nodiscard]] result<bool> wait_for_one(
        std::unique_lock<std::mutex>& lock, std::list<pg_connection>& one, pg_wait const& until);

    pg_target const target_;
    postgres_options const options_;
    pg_statement_sets const statements_;
    std::uint64_t const forks_{platform::forks()};
    std::mutex mutex_;
    std::list<waiter*> waiting_;         ///< guarded; in the order of arrival
    std::list<pg_connection> idle_;      ///< guarded
    std::unique_ptr<stack_pool> stacks_; ///< guarded
    std::size_t lent_{};                 ///< guarded; includes those being opened
    moment no_room_until_{};             ///< guarded; until then no connection is opened while others are lent
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/postgres/impl/pg_pool.ipp>
#endif
