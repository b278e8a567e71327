// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The driver of a loop over an executor of Boost.Asio: its descriptors wait together with those of the program.

#include <entitable/core/io_driver.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Collects the descriptors that are ready, and calls `after`, on its executor, which runs one function at a time; `deliver` calls their
/// handlers. Does not own the descriptors.
class asio_driver final : public io_driver {
public:
    asio_driver(boost::asio::any_io_executor on, std::function<void()> after)
        : on_(std::move(on)), after_(std::move(after)) {}
    ~asio_driver() override {
        for (auto& [number, each] : all_) { each->let_go(); }
    }

    [[nodiscard]] clock& time() const noexcept override { return system_clock(); }
    void watch(io_descriptor number, io_interest what, io_handler* told) override {
        auto const known = all_.find(number);
        if (what == io_interest::none) {
            if (known != all_.end()) {
                known->second->let_go();
                all_.erase(known);
            }
            return;
        }
        auto const at = known != all_.end()
            ? known
            : all_.emplace(number, std::make_shared<watched>(on_, static_cast<int>(number))).first;
        at->second->what = what;
        at->second->told = told;
        arm(at->second);
    }
    /// Asks for a turn of the loop, unless one is running.
    void wake() noexcept override { after_(); }
    /// Whether a handler is still to be called.
    [[nodiscard]] bool has_ready() const noexcept { return !ready_.empty(); }
    /// Calls the handlers of descriptors that are ready, a few at least, for about this time.
    void deliver(std::chrono::nanoseconds longest) {
        constexpr std::size_t few = 4;
        if (ready_.empty()) { return; }
        steady_time const until = time().steady() + std::chrono::duration_cast<steady_time::duration>(longest);
        for (std::size_t count = 0; !ready_.empty() && (count % few != 0 || count == 0 || time().steady() < until);
            ++count) {
            arrival const next = std::move(ready_.front());
            ready_.pop_front();
            watched& one = *next.at;
            one.waits[next.which == io_interest::read ? 0 : 1] = false;
            if (!wants(one, next.which)) { continue; }
            one.told->ready(static_cast<io_descriptor>(one.at.native_handle()), next.which);
            if (one.what != io_interest::none) { arm(next.at); }
        }
    }
    [[nodiscard]] bool watches() const noexcept override { return !all_.empty(); }
    /// Used for a coroutine that is destroyed while its request is in flight: no function of the program runs until the request has ended.
    void wait(steady_time until) override {
        poll_driver alone;
        for (auto const& [number, each] : all_) { alone.watch(number, each->what, each->told); }
        alone.wait(until);
    }

private:
    struct watched;
    struct arrival {
        std::shared_ptr<watched> at;
        io_interest which;
    };
    struct watched {
        watched(boost::asio::any_io_executor const& on, int number) : at(on, number) {}

        /// Stops notifications; the descriptor stays open.
        void let_go() noexcept {
            what = io_interest::none;
#if ENTITABLE_HAS_EXCEPTIONS
            try {
                (void)at.release();
            } catch (...) {// NOLINT: the descriptor stops waiting in any case
            }
#else
            (void)at.release();
#endif
        }

        boost::asio::posix::stream_descriptor at;
        io_interest what{io_interest::none};
        io_handler* told{};
        bool waits[2]{}; ///< pending waits and undelivered arrivals, for reading and for writing
    };

    [[nodiscard]] static bool wants(watched const& one, io_interest which) noexcept {
        return (static_cast<unsigned>(one.what) & static_cast<unsigned>(which)) != 0;
    }
    void arm(std::shared_ptr<watched> const& one) {
        arm(one, io_interest::read, one->waits[0], boost::asio::posix::descriptor_base::wait_read);
        arm(one, io_interest::write, one->waits[1], boost::asio::posix::descriptor_base::wait_write);
    }
    void arm(std::shared_ptr<watched> const& one, io_interest which, bool& waits,
        boost::asio::posix::descriptor_base::wait_type how) {
        if (waits || !wants(*one, which)) { return; }
        waits = true;
        one->at.async_wait(how,
            boost::asio::bind_executor(
                on_, [this, one, which, &waits, alive = std::weak_ptr<char>{alive_}](boost::system::error_code const&) {
                    if (alive.expired() || !wants(*one, which)) {
                        waits = false;
                        return;
                    }
                    ready_.push_back({one, which});
                    after_();
                }));
    }

    boost::asio::any_io_executor on_;
    std::function<void()> after_;
    std::map<io_descriptor, std::shared_ptr<watched>> all_;
    std::deque<arrival> ready_;
    std::shared_ptr<char> alive_ = std::make_shared<char>(); ///< handlers may run after the driver was destroyed
};

} // namespace detail
ENTITABLE_END_NAMESPACE
