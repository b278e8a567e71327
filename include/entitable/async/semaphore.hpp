// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `async_semaphore`: limits how many tasks of a loop do something concurrently.

#include <entitable/async/event_loop.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A number of permits, granted in the order of the requests. Must outlive its permits and the tasks that wait for a permit.
///
/// Thread safety: only the loop's thread.
class async_semaphore {
public:
    /// Released on destruction. Movable.
    class permit {
    public:
        permit(permit&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {} ///< takes over the permit
        /// Releases its old permit.
        permit& operator=(permit other) noexcept {
            std::swap(of_, other.of_);
            return *this;
        }
        ~permit() {
            if (of_ != nullptr) { of_->give_back(); }
        }

    private:
        friend class async_semaphore;
        explicit permit(async_semaphore& of) noexcept : of_(&of) {}

        async_semaphore* of_;
    };

    /// Waits for a permit.
    class awaiter final : detail::parked {
    public:
        explicit awaiter(async_semaphore& of) noexcept : of_(of) {} ///< used by `acquire`
        ~awaiter() {
            if (permitted_ && !taken_) { of_.give_back(); }
        }

        /// Returns whether a permit is available immediately.
        [[nodiscard]] bool await_ready() {
            if (error const* const ended = of_.core_.scope().ended()) {
                why_.emplace(*ended);
            } else if (of_.left_ > 0) {
                --of_.left_;
                permitted_ = true;
            }
            return permitted_ || why_;
        }
        /// Waits until the permit is granted.
        void await_suspend(std::coroutine_handle<> frame) noexcept {
            waiting = frame;
            join(of_.core_.scope());
            static_cast<detail::in_queue&>(*this).link_before(of_.waiting_);
        }
        /// Returns the permit, or the error.
        result<permit> await_resume() {
            if (why_) { return failure{*std::move(why_)}; }
            taken_ = true;
            return permit{of_};
        }

    private:
        friend class async_semaphore;
        void end_early(error const& why) override {
            if (!permitted_ && !why_) {
                why_.emplace(why);
                of_.core_.make_ready(*this);
            }
        }

        async_semaphore& of_;
        std::optional<error> why_;
        bool permitted_{};
        bool taken_{};
    };

    /// Makes a semaphore with this number of permits.
    async_semaphore(event_loop& loop, std::size_t permits) noexcept : core_(loop.core()), left_(permits) {}
    async_semaphore(async_semaphore const&) = delete;
    async_semaphore& operator=(async_semaphore const&) = delete;

    /// `ENTITABLE_CO_TRY(auto const permit, co_await limit.acquire());`. Cancelled or DeadlineExceeded if the scope ends first.
    [[nodiscard]] awaiter acquire() noexcept { return awaiter{*this}; }

private:
    void give_back() noexcept {
        if (waiting_.alone()) {
            ++left_;
            return;
        }
        auto& next = static_cast<awaiter&>(detail::parked::of(*waiting_.next()));
        next.permitted_ = true;
        core_.make_ready(next);
    }

    detail::loop_core& core_;
    std::size_t left_;
    detail::in_queue waiting_;
};

ENTITABLE_END_NAMESPACE
