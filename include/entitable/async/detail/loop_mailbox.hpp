// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Functions posted to a loop by other threads, and the wake-up for them.

#include <entitable/core/io_driver.hpp>

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#if !defined(_WIN32)
#include <fcntl.h>
#include <unistd.h>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Functions to be called on the thread of a loop. `post` may be called on any thread, and all other functions on the loop's thread. If the
/// system has no pipes, or no pipe is left, the loop is not woken, and polls every few milliseconds.
class loop_mailbox final : io_handler {
public:
    using letter = std::function<void()>;

    explicit loop_mailbox(io_driver& io) : io_(io) {
#if !defined(_WIN32)
        if (::pipe(ends_) == 0) {
            for (int const end : ends_) {
                (void)::fcntl(end, F_SETFD, FD_CLOEXEC);
                (void)::fcntl(end, F_SETFL, O_NONBLOCK);
            }
            io_.watch(ends_[0], io_interest::read, this);
        }
#endif
    }
    loop_mailbox(loop_mailbox const&) = delete;
    loop_mailbox& operator=(loop_mailbox const&) = delete;
    ~loop_mailbox() {
#if !defined(_WIN32)
        if (wakes()) {
            io_.watch(ends_[0], io_interest::none, this);
            (void)::close(ends_[0]);
            (void)::close(ends_[1]);
        }
#endif
    }

    /// Whether a posted function wakes the driver.
    [[nodiscard]] bool wakes() const noexcept { return ends_[0] >= 0; }
    void post(letter one) {
        std::lock_guard const guard{lock_};
        letters_.push_back(std::move(one));
#if !defined(_WIN32)
        if (letters_.size() == 1 && wakes()) {
            char const byte{};
            (void)!::write(ends_[1], &byte, 1); // a full pipe also wakes the loop
        }
#endif
    }
    [[nodiscard]] bool empty() const {
        std::lock_guard const guard{lock_};
        return letters_.empty();
    }
    [[nodiscard]] std::vector<letter> take() {
        std::lock_guard const guard{lock_};
        return std::exchange(letters_, {});
    }

private:
    void ready(io_descriptor, io_interest) noexcept override {
#if !defined(_WIN32)
        char bytes[64];
        while (::read(ends_[0], bytes, sizeof bytes) == sizeof bytes) {}
#endif
    }

    io_driver& io_;
    int ends_[2]{-1, -1};
    std::mutex mutable lock_;
    std::vector<letter> letters_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
