// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Blocking code of the store on stacks of a channel: a wait leaves the stack, and the thread continues with other calls.

#include <entitable/core/detail/side_stack.hpp>
#include <entitable/core/io_driver.hpp>

#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

// The structure of `poll`, whose header only the bodies include.
struct pollfd;

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

class pg_fibers;
class pg_lanes;

/// A function that runs on a stack.
class pg_job {
public:
    pg_job() = default;
    pg_job(pg_job const&) = delete;
    pg_job& operator=(pg_job const&) = delete;
    virtual ~pg_job() = default;
    virtual void run() noexcept = 0;
};

/// A stack that runs one job after another. Used by one thread at a time.
class pg_fiber final : public io_handler {
public:
    explicit pg_fiber(pg_fibers& of) noexcept;
    pg_fiber(pg_fiber const&) = delete;
    pg_fiber& operator=(pg_fiber const&) = delete;
    ~pg_fiber();

    /// Returns the stack on which the calling code runs; null on the stack of a thread.
    [[nodiscard]] static pg_fiber* running() noexcept;
    [[nodiscard]] pg_fibers& host() const noexcept { return of_; }

    // For the code on this stack.
    /// Leaves the stack until `wake`, or until the given time.
    void pause(steady_time until);
    /// Leaves the stack until a descriptor is ready (true), `wake`, or the given time.
    bool pause_for(io_descriptor descriptor, io_interest what, steady_time until);

    // For the other stacks of the thread.
    /// Lets a paused stack continue.
    void wake() noexcept;
    void ready(io_descriptor descriptor, io_interest what) noexcept override;

private:
    friend class pg_fibers;
    static constexpr std::size_t not_paused = (std::numeric_limits<std::size_t>::max)();
    static void first(void* of);
    void enter();
    void leave();

    pg_fibers& of_;
    side_stack side_;
    pg_job* job_{};
    steady_time wakes_{};
    std::size_t at_{not_paused}; ///< position among the paused stacks
    bool begun_{};
    bool ends_{};
    bool seen_{}; ///< the descriptor is ready
};

/// The stacks of one channel. Used by one thread at a time.
class pg_fibers {
public:
    /// Takes the stacks of an earlier channel, if they are not null. `take_memory` passes them on.
    pg_fibers(io_driver& io, std::unique_ptr<stack_pool> stacks) noexcept : io_(io), memory_(std::move(stacks)) {
        if (memory_ == nullptr) { memory_ = std::make_unique<stack_pool>(); }
    }
    pg_fibers(pg_fibers const&) = delete;
    pg_fibers& operator=(pg_fibers const&) = delete;
    ~pg_fibers() = default;

    /// Ends the stacks, whose jobs have ended, and returns their memory.
    [[nodiscard]] std::unique_ptr<stack_pool> take_memory() noexcept {
        all_.clear();
        return std::move(memory_);
    }

    /// Queues a job for the next `run_ready`. Returns false if no stack is free and no further one can be made.
    [[nodiscard]] bool begin(pg_job& job);
    /// Runs until every stack is paused or idle.
    void run_ready();
    /// Wakes the stacks whose time has come.
    void fire(steady_time now) noexcept;
    /// Returns the time at which a stack continues.
    [[nodiscard]] steady_time wakes_at() const noexcept { return ready_.empty() ? next_ : (steady_time::min)(); }
    /// Lets all jobs end: from here on waits block, and are short.
    void end_all();
    [[nodiscard]] bool ending() const noexcept { return ending_; }
    [[nodiscard]] io_driver& io() const noexcept { return io_; }
    /// Returns the stacks that the calling thread polls; null outside `poll`.
    [[nodiscard]] static pg_fibers*& polled() noexcept;

    pg_lanes* lanes{}; ///< connections that the jobs share

private:
    friend class pg_fiber;
    static constexpr std::size_t most = 1024;

    io_driver& io_;
    std::unique_ptr<stack_pool> memory_; ///< outlives the stacks
    std::vector<std::unique_ptr<pg_fiber>> all_;
    std::vector<pg_fiber*> idle_;
    std::vector<pg_fiber*> ready_;
    std::vector<pg_fiber*> paused_;
    steady_time next_{(steady_time::max)()}; ///< not later than the first time of a paused stack
    bool ending_{};
};

/// `poll` of one descriptor; on a stack of a channel it leaves the stack. Returns what `poll` returns, without the events.
[[nodiscard]] int pg_poll(pollfd& at, int milliseconds);
/// Sleeps; on a stack of a channel it leaves the stack.
void pg_sleep(std::chrono::milliseconds time);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/postgres/impl/pg_fiber.ipp>
#endif
