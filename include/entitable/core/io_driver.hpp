// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `io_driver`: where one thread waits for all that it has under way: descriptors and times.

#include <entitable/core/clock.hpp>

#include <cstdint>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// A socket or file descriptor of the system.
using io_descriptor = std::intptr_t;

/// What a descriptor is watched for, or what it is ready for.
enum class io_interest : std::uint8_t {
    none = 0,  ///< nothing
    read = 1,  ///< something can be read
    write = 2, ///< something can be written
    both = 3,  ///< either
};

/// Called by a driver when a descriptor is ready.
class io_handler {
public:
    /// Called in `io_driver::wait`. May change what is watched.
    virtual void ready(io_descriptor descriptor, io_interest what) noexcept = 0;

protected:
    ~io_handler() = default;
};

/// An object that lives as long as a driver, one of its type each: what the channels of a thread share.
class io_guest {
public:
    virtual ~io_guest() = default;
};

/// Waits for descriptors and times. Outlives what it watches for: destroy channels before their driver. Thread safety: all calls
/// come from one thread.
class io_driver {
public:
    io_driver() = default; ///< without guests
    io_driver(io_driver const&) = delete;
    io_driver& operator=(io_driver const&) = delete;
    virtual ~io_driver() {
        for (auto const& [type, each] : guests_) {
            delete each;
        }
    }

    /// The time by which it waits.
    [[nodiscard]] virtual clock& time() const noexcept = 0;
    /// Calls `told` when the descriptor is ready for one of `what`; `none` ends that. The last call for a descriptor holds.
    virtual void watch(io_descriptor descriptor, io_interest what, io_handler* told) = 0;
    /// Whether anything is watched; if not, only time ends a wait.
    [[nodiscard]] virtual bool watches() const noexcept = 0;
    /// Returns once a handler was called, or at `until`. May return earlier without either: callers wait in a loop.
    virtual void wait(steady_time until) = 0;

    /// The guest of this type, made by `make()`, which returns a new one, when there is none.
    template <class Guest, class Make>
    [[nodiscard]] Guest& guest(Make const& make) {
        for (auto const& [known, each] : guests_) {
            if (known == &type_of<Guest>) {
                return static_cast<Guest&>(*each);
            }
        }
        guests_.reserve(guests_.size() + 1); // what was made is kept without a throw
        Guest* const made = make();
        guests_.emplace_back(&type_of<Guest>, made);
        return *made;
    }

private:
    template <class Guest>
    static constexpr char type_of{}; ///< its address tells types of guests apart

    std::vector<std::pair<void const*, io_guest*>> guests_;
};

/// A driver over the system's `poll`. With nothing to watch it waits by its clock.
class poll_driver final : public io_driver {
public:
    /// The clock must outlive it.
    explicit poll_driver(clock& time = system_clock()) noexcept : time_(&time) {}

    [[nodiscard]] clock& time() const noexcept override { return *time_; }             ///< as it was given
    void watch(io_descriptor descriptor, io_interest what, io_handler* told) override; ///< costs no system call
    [[nodiscard]] bool watches() const noexcept override { return !watched_.empty(); } ///< whether anything is watched
    void wait(steady_time until) override;                                             ///< in `poll`, or by its clock

private:
    struct watched {
        io_descriptor descriptor;
        io_interest what;
        io_handler* told;
    };
    struct ready_one {
        io_descriptor descriptor;
        io_interest what;
    };

    clock* time_;
    std::vector<watched> watched_;
    std::vector<ready_one> ready_; ///< of the present wait; kept for its memory
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/io_driver.ipp>
#endif
