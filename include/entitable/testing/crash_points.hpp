// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `every_crash_point`: interrupts a worker at each of its requests, in each of several ways, and runs the workers that come after it.
/// It is for user-defined sagas, and for all other work that must be resumable after a crash:
///
///     testing::crash_point_world world;
///     world.begin = [](any_store const& store, clock& time) { ... make tables, and put the message into its queue ... };
///     world.shows = [](any_store const& store) { return ... the state that must equal that of an uninterrupted run ...; };
///     auto const found = testing::every_crash_point(
///         [](any_store through, clock& time) { ... claim a message, resume its work, complete it ... }, world);
///     CHECK(found.problem == "");                         // otherwise found.point is the place

#include <entitable/core/transport/any_store.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/fault.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <functional>
#include <memory>
#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// The environment of a worker.
struct crash_point_world {
    std::function<void(any_store const&, clock&)> begin{}; ///< sets up the store; called once for each run
    std::function<std::string(any_store const&)> shows{};  ///< the state to compare with an uninterrupted run
    std::function<std::string(any_store const&)> wrong{};  ///< returns an error, or nothing, at the end; optional
    std::function<void(any_store const&, clock&)>
        meanwhile{}; ///< actions of other programs, called once in each run: at the point, or at the end; optional
    std::chrono::nanoseconds wait_budget{
        std::chrono::minutes{1}}; ///< time until the next worker starts: by then claims have expired
    std::size_t workers{3};       ///< number of workers after the interrupted one
};

/// The result of `every_crash_point`.
struct crash_point_report {
    std::string problem;  ///< description of the problem; empty if there is none
    std::string point;    ///< place of the problem, for example "request 7, write_entity: ends after it"
    std::size_t points{}; ///< number of points tried
};

/// The ways to interrupt a worker at one of its requests.
enum class interruption : std::uint8_t {
    ends_before, ///< the worker's program ends before the request
    ends_behind, ///< the worker's program ends after the request
    not_sent,    ///< the request is lost, and the worker gets an error
    answer_lost, ///< the worker gets the same error, but the request is applied
    late,        ///< the worker gets the same error, but the request is applied after this worker has ended
    very_late,   ///< the worker gets the same error, but the request is applied after all workers have ended
    others_before, ///< time passes, another worker does all the work, and `meanwhile` is called; then the worker continues
    others_behind, ///< like `others_before`, after the request
};

/// Returns a text for logs: "ends before it".
[[nodiscard]] constexpr std::string_view to_string(interruption how) noexcept {
    constexpr std::string_view words[] = {"ends before it", "ends after it", "not sent", "answer lost", "late",
        "very late", "others run before it", "others run after it"};
    return words[static_cast<std::size_t>(how)];
}

/// The transport of a worker that is interrupted once.
class interrupted {
public:
    using is_transport = void; ///< opts in to `transport`

    /// The state that all copies share.
    struct state {
        any_store below;                 ///< the store
        std::size_t at{};                ///< number of the request, from 0
        interruption how{};              ///< the kind of interruption
        std::function<void()> others{};  ///< work of other workers, for `others_before` and `others_behind`
        std::size_t sent{};              ///< requests so far
        bool ended{};                    ///< the program has ended
        std::string name{};              ///< name of the interrupted request
        std::function<void()> held_up{}; ///< the late request
    };
    explicit interrupted(std::shared_ptr<state> of) : of_(std::move(of)) {} ///< uses this state

    [[nodiscard]] entitable::profile profile() const { return of_->below.profile(); } ///< the store's profile
    /// Passes the request on, unless the interruption prevents it.
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        state& own = *of_;
        if (own.ended) { return failure{error_code::cancelled, "the program has ended"}; }
        if (own.sent++ != own.at) { return own.below.execute(request, context); }
        own.name = Request::name;
        error lost = lost_request();
        lost.effect = Request::writes ? effect::unknown : effect::none;
        bool const others_run = own.how == interruption::others_before || own.how == interruption::others_behind;
        own.ended = own.how == interruption::ends_before || own.how == interruption::ends_behind;
        if (own.how == interruption::late || own.how == interruption::very_late) {
            own.held_up = [below = own.below, request] {
                call later;
                static_cast<void>(below.execute(request, later));
            };
        }
        if (own.how == interruption::others_before) { own.others(); }
        if (own.how == interruption::ends_behind || own.how == interruption::answer_lost || others_run) {
            auto answer = own.below.execute(request, context);
            if (own.how == interruption::others_behind) { own.others(); }
            if (others_run) { return answer; }
        }
        return failure{std::move(lost)};
    }

private:
    std::shared_ptr<state> of_;
};

/// Runs `work(transport, clock)` once for each of its requests and each interruption, on stores in memory; then runs more workers, and
/// compares the result of `shows` with the result of an uninterrupted run. Stops at the first problem. The result is deterministic if
/// `work` is deterministic.
[[nodiscard]] inline crash_point_report every_crash_point(
    std::function<void(any_store, clock&)> const& work, crash_point_world const& world) {
    crash_point_report told;
    std::string expected;
    auto const run = [&](std::size_t at, interruption how) {
        manual_clock time;
        local_options options;
        options.time = &time;
        memory_backend const store{options};
        world.begin(store, time);
        bool met = !world.meanwhile;
        auto const meet_others = [&] {
            if (!std::exchange(met, true)) { world.meanwhile(store, time); }
        };
        auto const all_others = [&] {
            time.advance(world.wait_budget);
            work(store, time);
            meet_others();
        };
        auto const state = std::make_shared<interrupted::state>(interrupted::state{store, at, how, all_others});
        work(interrupted{state}, time);
        if (how == interruption::late && state->held_up) { state->held_up(); }
        for (std::size_t worker = 0; worker < world.workers; ++worker) {
            time.advance(world.wait_budget);
            work(store, time);
        }
        meet_others();
        if (how == interruption::very_late && state->held_up) { state->held_up(); }
        std::string const shown = world.shows(store);
        bool const happened = state->sent > at;
        expected = happened ? expected : shown;
        told.problem = shown == expected ? "" : "ends as\n" + shown + "\ninstead of\n" + expected;
        if (told.problem.empty() && world.wrong) { told.problem = world.wrong(store); }
        told.points += happened ? 1U : 0U;
        told.point = !happened
            ? "without an interruption"
            : "request " + std::to_string(at + 1) + ", " + state->name + ": " + std::string{to_string(how)};
        return happened;
    };
    if (run(static_cast<std::size_t>(-1), {}); !told.problem.empty()) { return told; }
    for (std::size_t at = 0;; ++at) {
        for (int how = 0; how <= static_cast<int>(interruption::others_behind); ++how) {
            if (!run(at, static_cast<interruption>(how)) || !told.problem.empty()) { return told; }
        }
    }
}

} // namespace testing
ENTITABLE_END_NAMESPACE
