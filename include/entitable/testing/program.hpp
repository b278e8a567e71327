// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `program`: blocking code as a resumable operation, so that `interleavings` and `steps` can run it like any other.

#include <entitable/core/request/operation.hpp>
#include <entitable/core/transport/any_store.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// Runs `body(transport, clock)` on its own thread, and hands over its requests one by one: the driver of the operation responds to them. A
/// wait by the clock delays the next request, and takes no real time. The body must be deterministic, end when its requests fail, and not
/// throw: an exception ends the process.
///
///     on.add("transfer", [] {
///         return testing::program<result<void>>{[](any_store through, clock& time) { ... }};
///     }, [](result<void> outcome) { ... });
template <class Outcome>
class program {
    struct exchange {
        std::mutex guard;
        std::condition_variable changed;
        request_ref asked;        // the request that the body waits for
        void* slot{};             // the place for the response
        bool waits{};             // whether the body waits
        bool ended{};             // whether the body has ended
        std::optional<error> why; // if set, later requests fail with this error
        std::optional<Outcome> outcome;
        date_time date; // date of the response
        entitable::profile limits{local_profile()};
        steady_time now{};
        steady_time due{(steady_time::min)()};
    };

    /// The transport that the body receives.
    struct handed_over {
        using is_transport = void;
        std::shared_ptr<exchange> with;

        [[nodiscard]] entitable::profile profile() const { return with->limits; }
        template <table_request Request>
            requires(!std::same_as<Request, read_entity>)
        [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
            std::optional<result<response_of<Request>>> answer;
            std::unique_lock lock{with->guard};
            if (!with->why) {
                with->asked = request_ref{request};
                with->slot = &answer;
                with->waits = true;
                with->changed.notify_all();
                with->changed.wait(lock, [&] { return !with->waits; });
                with->asked = {};
                context.server_date = with->date;
            }
            return answer ? *std::move(answer) : result<response_of<Request>>{failure{*with->why}};
        }
    };

    /// The clock that the body receives: the time of the last response, plus the waits since.
    struct handed_clock final : clock {
        explicit handed_clock(exchange& of) : with(of) {}
        date_time now() noexcept override { return {}; }
        steady_time steady() noexcept override {
            std::lock_guard const lock{with.guard};
            return with.due > with.now ? with.due : with.now;
        }
        void wait_until(steady_time time) noexcept override {
            std::lock_guard const lock{with.guard};
            with.due = time > with.due ? time : with.due;
        }
        exchange& with;
    };

public:
    /// Starts the body at the given time, with the profile of local backends.
    explicit program(std::function<Outcome(any_store, clock&)> body, steady_time now = {})
        : with_(std::make_shared<exchange>()) {
        with_->now = now;
        thread_ = std::thread{[body = std::move(body), with = with_] {
            handed_clock time{*with};
            Outcome made = body(any_store{handed_over{with}}, time);
            std::lock_guard const lock{with->guard};
            with->outcome.emplace(std::move(made));
            with->ended = true;
            with->changed.notify_all();
        }};
    }
    program(program&&) = default;
    program& operator=(program&&) = delete;
    ~program() {
        if (thread_.joinable()) {
            abandon(error{error_code::cancelled, "the program has ended"});
            thread_.join();
        }
    }

    /// Returns the request that the body waits for, due when its last wait has ended; none at its end.
    [[nodiscard]] operation_step next() const {
        std::unique_lock lock{with_->guard};
        with_->changed.wait(lock, [&] { return with_->waits || with_->ended; });
        return with_->ended ? operation_step{} : operation_step{with_->asked, with_->due, 0, wait_cause::contention};
    }
    /// Sets the service's date of the next response: `call::server_date`.
    void dated(date_time date) {
        std::lock_guard const lock{with_->guard};
        with_->date = date;
    }
    /// Lets the body run to its next request or its end.
    template <class Response>
    void answer(result<Response> answered, steady_time now) {
        std::lock_guard const lock{with_->guard};
        static_cast<std::optional<result<Response>>*>(with_->slot)->emplace(std::move(answered));
        with_->now = now;
        with_->due = (steady_time::min)();
        with_->waits = false;
        with_->changed.notify_all();
    }
    /// Fails all later requests of the body with this error, until it ends.
    void abandon(error const& reason) {
        std::unique_lock lock{with_->guard};
        with_->why = reason;
        with_->waits = false;
        with_->changed.notify_all();
        with_->changed.wait(lock, [&] { return with_->ended; });
    }
    /// Returns the result of the body.
    [[nodiscard]] Outcome finish() { return *std::move(with_->outcome); }

private:
    std::shared_ptr<exchange> with_;
    std::thread thread_;
};

} // namespace testing
ENTITABLE_END_NAMESPACE
