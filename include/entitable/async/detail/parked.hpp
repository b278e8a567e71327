// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The waiters of a loop, and the sets that are cancelled together. All links are members of the waiters, so waiting needs no allocation
/// and leaving needs no search.

#include <entitable/core/clock.hpp>
#include <entitable/core/error.hpp>

#if !defined(__cpp_impl_coroutine)
#error "entitable/async.hpp needs a compiler with coroutines: GCC 11 or newer, Clang 14 or newer, MSVC 19.28 or newer"
#endif
#include <coroutine>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A link of a ring. Must not be moved.
class ring_link {
public:
    ring_link() = default;
    ring_link(ring_link const&) = delete;
    ring_link& operator=(ring_link const&) = delete;
    ~ring_link() { unlink(); }

    [[nodiscard]] bool alone() const noexcept { return next_ == this; }
    [[nodiscard]] ring_link* next() const noexcept { return next_; }
    /// Links this object in front of `other`; in front of the head means at the end.
    void link_before(ring_link& other) noexcept {
        unlink();
        next_ = &other;
        before_ = other.before_;
        before_->next_ = this;
        other.before_ = this;
    }
    void unlink() noexcept {
        before_->next_ = next_;
        next_->before_ = before_;
        before_ = next_ = this;
    }

private:
    ring_link* before_{this};
    ring_link* next_{this};
};

struct in_scope : ring_link {};
struct in_queue : ring_link {};

/// A set of waiters and of nested sets, which is ended as a whole.
class wait_scope : ring_link {
public:
    explicit wait_scope(wait_scope* around) : around_(around) {
        if (around != nullptr) {
            link_before(around->scopes_);
            if (around->ended_) { ended_.emplace(*around->ended_); }
        }
    }

    /// Returns the reason why it ended; null before that.
    [[nodiscard]] error const* ended() const noexcept { return ended_ ? &*ended_ : nullptr; }
    /// Ends all waiters of the set, present and future ones. The first reason is retained.
    inline void end(error const& why);
    /// Records that a write was sent in this scope.
    void note_write() noexcept {
        for (wait_scope* each = this; each != nullptr && !each->wrote_; each = each->around_) { each->wrote_ = true; }
    }
    /// Whether a write was sent in this scope or a nested one.
    [[nodiscard]] bool wrote() const noexcept { return wrote_; }

private:
    friend class parked;

    wait_scope* around_;
    bool wrote_{};

    ring_link members_;
    ring_link scopes_;
    std::optional<error> ended_;
};

/// A waiter in a loop. Must not be moved; leaves all rings and the timers on destruction.
class parked : public in_scope, public in_queue {
public:
    parked(parked const&) = delete;
    parked& operator=(parked const&) = delete;

    /// Ends the wait early, now or later.
    virtual void end_early(error const& why) = 0;
    /// Called when its timer expires.
    virtual void timer_fired() {}
    /// Checks whether its token was cancelled, because a cancellation does not wake the thread.
    virtual void look_at_token() {}

    static constexpr std::uint32_t no_timer = ~std::uint32_t{0};

    std::coroutine_handle<> waiting;     ///< coroutine to resume when it is ready
    wait_scope* scope{};                 ///< scope of the wait
    steady_time wakes{};                 ///< expiry of its timer
    std::uint32_t timer_index{no_timer}; ///< index among the timers

    [[nodiscard]] static parked& of(ring_link& queued) noexcept {
        return static_cast<parked&>(static_cast<in_queue&>(queued));
    }
    void join(wait_scope& joined) noexcept {
        scope = &joined;
        in_scope::link_before(joined.members_);
    }

protected:
    parked() = default;
    ~parked() = default;
};

inline void wait_scope::end(error const& why) {
    if (ended_) { return; }
    ended_.emplace(why);
    for (ring_link* each = members_.next(); each != &members_;) {
        ring_link* const next = each->next(); // ending a member removes only that member from the ring
        static_cast<parked&>(static_cast<in_scope&>(*each)).end_early(why);
        each = next;
    }
    for (ring_link* each = scopes_.next(); each != &scopes_; each = each->next()) {
        static_cast<wait_scope&>(*each).end(why);
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
