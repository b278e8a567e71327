// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/io_driver.hpp>

#if defined(_WIN32)
#include <winsock2.h>
#else
#include <poll.h>
#endif
#if defined(__linux__)
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
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

#if defined(__linux__)

ENTITABLE_DECL poll_driver::~poll_driver() {
    if (epoll_ >= 0) { (void)::close(epoll_); }
}

/// Moves all descriptors into a set of the system. Returns false if there is none.
ENTITABLE_DECL bool poll_driver::begin_many() {
    int const made = ::epoll_create1(EPOLL_CLOEXEC);
    if (made < 0) { return false; }
    if (epoll_ >= 0) { (void)::close(epoll_); } // a set that has a descriptor that cannot be removed
    epoll_ = made;
    for (watched const& each : by_descriptor_) {
        if (each.what != io_interest::none) { (void)enter_many(each); }
    }
    for (watched const& each : std::exchange(watched_, {})) { watch_many(each.descriptor, each.what, each.told); }
    return true;
}

/// Tells the set what is watched. A closed descriptor has left the set, and another one may have its number.
ENTITABLE_DECL bool poll_driver::enter_many(watched const& one) {
    auto const wanted = static_cast<unsigned>(one.what);
    epoll_event event{};
    event.events = ((wanted & 1U) != 0 ? EPOLLIN : 0U) | ((wanted & 2U) != 0 ? EPOLLOUT : 0U);
    event.data.fd = static_cast<int>(one.descriptor);
    return ::epoll_ctl(epoll_, EPOLL_CTL_MOD, event.data.fd, &event) == 0 ||
        (errno == ENOENT && ::epoll_ctl(epoll_, EPOLL_CTL_ADD, event.data.fd, &event) == 0);
}

ENTITABLE_DECL void poll_driver::watch_many(io_descriptor descriptor, io_interest what, io_handler* told) {
    auto const index = static_cast<std::size_t>(descriptor);
    if (index >= by_descriptor_.size()) {
        if (what == io_interest::none) { return; }
        by_descriptor_.resize(index + 1, watched{0, io_interest::none, nullptr});
    }
    watched& known = by_descriptor_[index];
    many_ += (what != io_interest::none ? 1U : 0U);
    many_ -= (known.what != io_interest::none ? 1U : 0U);
    known = {descriptor, what, told};
    // The set keeps a descriptor that is removed until it is ready: the next request on a connection soon adds it again.
    if (what != io_interest::none && !enter_many(known)) {
        // A descriptor that the set does not take, such as a file, is always ready: `poll` would say so, too.
        always_ready_.push_back(descriptor);
    }
}

/// Removes a descriptor that is ready and not watched.
ENTITABLE_DECL void poll_driver::forget_many(io_descriptor descriptor) {
    epoll_event unused{};
    if (::epoll_ctl(epoll_, EPOLL_CTL_DEL, static_cast<int>(descriptor), &unused) != 0) {
        (void)begin_many(); // it was closed, and is held by a copy elsewhere
    }
}

ENTITABLE_DECL void poll_driver::wait_many(steady_time until) {
    constexpr int at_once = 128;
    epoll_event events[at_once];
    int const count =
        ::epoll_wait(epoll_, events, at_once, always_ready_.empty() ? detail::poll_timeout(until, time_->steady()) : 0);
    for (io_descriptor const each : std::exchange(always_ready_, {})) {
        watched const known = by_descriptor_[static_cast<std::size_t>(each)];
        if (known.what != io_interest::none && !enter_many(known)) {
            always_ready_.push_back(each);
            known.told->ready(each, known.what);
        }
    }
    for (int index = 0; index < count; ++index) {
        auto const descriptor = static_cast<io_descriptor>(events[index].data.fd);
        watched const known = by_descriptor_[static_cast<std::size_t>(descriptor)];
        if (known.what == io_interest::none) {
            forget_many(descriptor);
            continue;
        }
        unsigned const seen = events[index].events;
        bool const broken = (seen & (EPOLLERR | EPOLLHUP)) != 0;
        unsigned const what =
            ((seen & EPOLLIN) != 0 || broken ? 1U : 0U) | ((seen & EPOLLOUT) != 0 || broken ? 2U : 0U);
        known.told->ready(descriptor, static_cast<io_interest>(what));
    }
}

#else

ENTITABLE_DECL poll_driver::~poll_driver() = default;

#endif

ENTITABLE_DECL void poll_driver::watch(io_descriptor descriptor, io_interest what, io_handler* told) {
#if defined(__linux__)
    constexpr std::size_t many = 64;
    if (epoll_ >= 0) { return watch_many(descriptor, what, told); }
    if (watched_.size() >= many && begin_many()) { return watch_many(descriptor, what, told); }
#endif
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
#if defined(__linux__)
    if (many_ > 0) { return wait_many(until); }
#endif
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
