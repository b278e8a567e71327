// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/io_driver.hpp>

#if defined(_WIN32)
#include <winsock2.h>
#else
#include <poll.h>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

#if defined(_WIN32)
using poll_entry = WSAPOLLFD;
using poll_socket = SOCKET;
inline int system_poll(poll_entry* entries, std::size_t count, int timeout) {
    return WSAPoll(entries, static_cast<ULONG>(count), timeout);
}
#else
using poll_entry = pollfd;
using poll_socket = int;
inline int system_poll(poll_entry* entries, std::size_t count, int timeout) {
    return ::poll(entries, static_cast<nfds_t>(count), timeout);
}
#endif

/// Returns the milliseconds from `now` until `until`, rounded up, for a call of `poll`.
ENTITABLE_DECL int poll_timeout(steady_time until, steady_time now) noexcept {
    constexpr std::chrono::milliseconds longest{60'000}; // longer waits call `poll` again
    if (until <= now) { return 0; }
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
    return static_cast<int>((left < longest ? left : longest).count());
}

} // namespace detail

ENTITABLE_DECL void poll_driver::watch(io_descriptor descriptor, io_interest what, io_handler* told) {
    for (watched& each : watched_) {
        if (each.descriptor == descriptor) {
            if (what == io_interest::none) {
                each = watched_.back();
                watched_.pop_back();
            } else {
                each = {descriptor, what, told};
            }
            return;
        }
    }
    if (what != io_interest::none) { watched_.push_back({descriptor, what, told}); }
}

ENTITABLE_DECL void poll_driver::wait(steady_time until) {
    if (watched_.empty()) {
        if (until > time_->steady()) { time_->wait_until(until); }
        return;
    }
    constexpr std::size_t few = 32; // usual number of descriptors: no heap allocation
    detail::poll_entry some[few];
    std::vector<detail::poll_entry> many;
    detail::poll_entry* entries = &some[0];
    if (watched_.size() > few) {
        many.resize(watched_.size());
        entries = many.data();
    }
    for (std::size_t index = 0; index < watched_.size(); ++index) {
        auto const wanted = static_cast<unsigned>(watched_[index].what);
        entries[index] = {static_cast<detail::poll_socket>(watched_[index].descriptor),
            static_cast<short>(((wanted & 1U) != 0 ? POLLIN : 0) | ((wanted & 2U) != 0 ? POLLOUT : 0)), 0};
    }
    std::size_t const count = watched_.size();
    if (detail::system_poll(entries, count, detail::poll_timeout(until, time_->steady())) <= 0) {
        return; // timed out, or interrupted by a signal
    }
    ready_.clear();
    for (std::size_t index = 0; index < count; ++index) {
        if (int const seen = entries[index].revents; seen != 0) {
            // An error calls every handler, with any interest.
            bool const broken = (seen & (POLLERR | POLLHUP | POLLNVAL)) != 0;
            unsigned const what =
                ((seen & POLLIN) != 0 || broken ? 1U : 0U) | ((seen & POLLOUT) != 0 || broken ? 2U : 0U);
            ready_.push_back({watched_[index].descriptor, static_cast<io_interest>(what), nullptr});
        }
    }
    for (watched const& each : ready_) {
        for (watched const& known : watched_) {
            if (known.descriptor == each.descriptor) { // if not, an earlier handler has removed the descriptor
                known.told->ready(each.descriptor, each.what);
                break;
            }
        }
    }
}

ENTITABLE_END_NAMESPACE
