// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `io_driver`: lets one thread wait for all its descriptors and deadlines.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/clock.hpp>

#include <cstdint>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// A socket or file descriptor of the system.
using io_descriptor = std::intptr_t;

/// Readiness of a descriptor, either watched for or reported.
enum class io_interest : std::uint8_t {
    none = 0,  ///< not ready, not watched
    read = 1,  ///< readable
    write = 2, ///< writable
    both = 3,  ///< either
};

/// Receives the readiness of a descriptor.
class io_handler {
public:
    /// Called in `io_driver::wait`. May change the watched descriptors.
    virtual void ready(io_descriptor descriptor, io_interest what) noexcept = 0;

protected:
    ~io_handler() = default;
};

/// An object shared by the channels of a thread: one of each type, destroyed with its driver.
class io_guest {
public:
    virtual ~io_guest() = default;
};

/// Waits for descriptors and deadlines. Outlives its users: destroy channels before their driver. Thread safety: all calls come from one
/// thread.
class io_driver {
public:
    io_driver() = default; ///< makes a driver without guests
    io_driver(io_driver const&) = delete;
    io_driver& operator=(io_driver const&) = delete;
    virtual ~io_driver() {
        for (auto const& [type, each] : guests_) { delete each; }
    }

    /// The clock that `wait` uses.
    [[nodiscard]] virtual clock& time() const noexcept = 0;
    /// Calls `told` when the descriptor is ready for one of `what`; `none` removes the descriptor. The latest call for a descriptor wins.
    virtual void watch(io_descriptor descriptor, io_interest what, io_handler* told) = 0;
    /// Whether any descriptor is watched; if not, only time ends a wait.
    [[nodiscard]] virtual bool watches() const noexcept = 0;
    /// Returns after a handler was called, or at `until`. May return earlier: callers wait in a loop.
    virtual void wait(steady_time until) = 0;
    /// Called when there is new work outside of `wait` and of a turn of the loop: a driver whose waits happen elsewhere arranges a turn. Not
    /// needed by a driver that waits only in `wait`.
    virtual void wake() noexcept {}

    /// Returns the guest of this type; makes it with `make()`, which returns a new object, if there is none.
    template <class Guest, class Make>
    [[nodiscard]] Guest& guest(Make const& make) {
        for (auto const& [known, each] : guests_) {
            if (known == &type_of<Guest>) { return static_cast<Guest&>(*each); }
        }
        guests_.reserve(guests_.size() + 1); // reserved first: storing the new guest does not throw
        Guest* const made = make();
        guests_.emplace_back(&type_of<Guest>, made);
        return *made;
    }

private:
    template <class Guest>
    static constexpr char type_of{}; ///< its address identifies the type of a guest

    std::vector<std::pair<void const*, io_guest*>> guests_;
};

/// A driver over the system's `poll`, and on Linux over `epoll` once there are many descriptors. Without descriptors it waits by its clock.
/// Its virtual functions are declared inline, because otherwise GCC would emit all of them in each file.
class poll_driver final : public io_driver {
public:
    /// The clock must outlive the driver.
    explicit poll_driver(clock& time = system_clock()) noexcept : time_(&time) {}
    ENTITABLE_DECL ~poll_driver() override;

    [[nodiscard]] clock& time() const noexcept override { return *time_; } ///< the clock of the constructor
    /// Costs no system call with few descriptors, otherwise one, and none to remove a descriptor.
    ENTITABLE_DECL void watch(io_descriptor descriptor, io_interest what, io_handler* told) override;
    [[nodiscard]] bool watches() const noexcept override {
        return !watched_.empty() || many_ > 0;
    } ///< whether any is watched
    /// Waits in `poll`, or by its clock.
    ENTITABLE_DECL void wait(steady_time until) override;

private:
    struct watched {
        io_descriptor descriptor;
        io_interest what;
        io_handler* told;
    };

    // With many descriptors.
    bool begin_many();
    void watch_many(io_descriptor descriptor, io_interest what, io_handler* told);
    bool enter_many(watched const& one);
    void wait_many(steady_time until);
    void forget_many(io_descriptor descriptor);

    clock* time_;
    int epoll_{-1};                           ///< the system's set of descriptors, once there are many
    std::size_t many_{};                      ///< number of descriptors in the set
    std::vector<watched> by_descriptor_;      ///< those of the set, with `none` for descriptors that are not watched
    std::vector<io_descriptor> always_ready_; ///< descriptors that the set does not take
    std::vector<watched> watched_;            ///< descriptors without a set
    std::vector<watched> ready_;              ///< ready descriptors of the current wait; a member to reuse its memory
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/io_driver.ipp>
#endif

#endif
