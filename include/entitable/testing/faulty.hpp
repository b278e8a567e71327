// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `faulty<T>`: a transport with faults, planned one by one or drawn from a seed, and a log of the faults that happened.
///
///     testing::faulty store{memory_backend{}};
///     store.plan({testing::fault::lost_after(), 3, "write_entity"});      // the third write is applied, its response lost
///     ... the application uses `store` ...
///     CHECK(store.all_fired());

#include <entitable/core/random.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/core/transport/transport.hpp>
#include <entitable/core/try.hpp>
#include <entitable/testing/fault.hpp>
#include <entitable/testing/verdict.hpp>

#include <functional>
#include <map>
#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

namespace detail {

/// Returns the valid request names if `name` is neither valid nor empty; otherwise an empty text.
[[nodiscard]] inline std::string unknown_request(std::string_view name) {
    std::string names;
    bool known = name.empty();
    auto const look = [&](std::string_view each) {
        known = known || each == name;
        if (names.find(each) == std::string::npos) { // two kinds of requests may be the same request to the service
            names += names.empty() ? "" : ", ";
            names += each;
        }
    };
    [&]<class... Requests>(request_list<Requests...>) { (look(Requests::name), ...); }(all_requests{});
    return known ? std::string{} : names;
}

} // namespace detail

/// The behaviour of an overloaded partition: from the first request above the limit in a second it returns 503 for a while, like a
/// partition that is being moved to another server, and then recovers (source: "Scalability targets").
struct partition_target {
    std::uint32_t requests_a_second{2'000}; ///< maximum number of requests that the partition serves
    std::chrono::nanoseconds offline{std::chrono::seconds{10}}; ///< time for which the partition returns 503
    std::optional<std::chrono::milliseconds> retry_after{};     ///< the Retry-After of the 503
};

/// Options of `faulty`.
struct faulty_options {
    clock* time{&system_clock()}; ///< clock for slow responses and for limits per second; must outlive the transport
    std::optional<partition_target> target{}; ///< absent: no partition has a limit
};

/// Passes requests on, unless a fault is due. Each request takes at most one fault, the first that is due. A cheap handle: copies share the
/// plan. It is for tests, because the log grows without bound.
///
/// Thread safety: safe to use from several threads; with one thread, events happen in the same order every time.
template <transport T>
class faulty {
public:
    using is_transport = void; ///< opts in to `transport`

    // Takes exactly a T: no conversion is tried, not even when any_store checks whether this type is a transport.
    /// Wraps a transport, without planned faults.
    template <std::same_as<T> Wrapped>
    explicit faulty(Wrapped wrapped, faulty_options const& options = {})
        : wrapped_(std::move(wrapped)), state_(shared<state>::make()) {
        own().options = options;
    }

    [[nodiscard]] entitable::profile profile() const { return wrapped_.profile(); } ///< the wrapped transport's profile

    // ---- plans ----

    /// Plans a fault; requests are counted from now on. A plan that no request can match (an unknown name, the number 0) makes every later
    /// request fail with InvalidInput, which lists the valid names; `all_fired` reports it as well.
    void plan(planned_fault one) const {
        std::lock_guard const guard{own().lock};
        one.fired = false;
        std::string const names = detail::unknown_request(one.request);
        if (own().mistake.empty() && !names.empty()) {
            own().mistake = text::joined({"invalid plan: a fault for the unknown request \"",
                text::printable(text::shortened(one.request)), "\"; the known requests are ", names});
        } else if (own().mistake.empty() && one.number == 0) {
            own().mistake = "invalid plan: a fault for request 0; requests are counted from 1";
        }
        own().plans.push_back({std::move(one), 0});
    }
    /// Plans `count` faults, drawn from `choices` and spread over the next `requests` requests, at most one for each request.
    void plan_random(
        std::uint64_t seed, std::size_t count, std::size_t requests, std::vector<fault> const& choices) const {
        random_source random{seed};
        std::map<std::size_t, bool> taken;
        while (taken.size() < count && taken.size() < requests && !choices.empty()) {
            std::size_t const number = 1 + random.bits() % requests;
            if (taken.emplace(number, true).second) {
                plan({choices[random.bits() % choices.size()], number, {}, {}, false});
            }
        }
    }
    /// Makes the partition return 503 from now on, for the given time. The window counts as a planned fault, which fires at its first
    /// request.
    void plan_window(std::string table, std::string partition, std::chrono::nanoseconds offline,
        std::optional<std::chrono::milliseconds> retry_after = {}) const {
        std::lock_guard const guard{own().lock};
        own().plans.push_back({{fault::busy(retry_after), 0, {}, table, false}, 0});
        own().plans.back().it.what.name = "window";
        partition_state& at = own().partitions[{std::move(table), std::move(partition)}];
        at.offline_until = until(offline);
        at.retry_after = retry_after;
        at.planned = own().plans.size();
    }
    /// Whether every planned fault has happened; names the faults that have not.
    [[nodiscard]] verdict all_fired() const {
        std::string why = mistake();
        why += why.empty() ? "" : "\n";
        for (planned_fault const& each : account()) {
            if (!each.fired) {
                why += each.what.name + " at request " + std::to_string(each.number) + " of " +
                    (each.request.empty() ? "any kind" : each.request) + " was planned but did not happen\n";
            }
        }
        return why.empty() ? verdict::yes() : verdict::no(std::move(why));
    }
    /// Returns all planned faults, in the order of planning.
    [[nodiscard]] std::vector<planned_fault> account() const {
        std::lock_guard const guard{own().lock};
        std::vector<planned_fault> all;
        for (plan_state const& each : own().plans) { all.push_back(each.it); }
        return all;
    }
    /// Returns the number of occurrences of each fault, by its name; "offline" for responses of 503 to overload.
    [[nodiscard]] std::map<std::string, std::size_t> happened() const {
        std::lock_guard const guard{own().lock};
        return own().happened;
    }
    /// Returns the number of requests, including those with a fault.
    [[nodiscard]] std::size_t requests() const {
        std::lock_guard const guard{own().lock};
        return own().requests;
    }
    /// Delivers all delayed requests, and returns their number.
    std::size_t arrive() const {
        std::vector<held_up> all;
        {
            std::lock_guard const guard{own().lock};
            all.swap(own().late);
        }
        for (held_up const& each : all) { each.send(); }
        return all.size();
    }

    /// Passes a request on, unless a fault is due.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (!state_) { return entitable::detail::moved_from("transport"); }
        ENTITABLE_CHECK(check_call(context, *own().options.time));
        if (std::string wrong = mistake(); !wrong.empty()) {
            return failure{error_code::invalid_input, std::move(wrong)};
        }
        std::optional<fault> const due = take(request);
        if (!due) {
            auto answered = entitable::execute(wrapped_, request, context);
            arrive_behind(request);
            return answered;
        }
        return count_attempt(request, context, *own().options.time, [&] { return suffer(*due, request, context); });
    }

private:
    using place = std::pair<std::string, std::string>; ///< a table and a partition, as requests spell them

    /// Applies a fault, as the caller observes it: one attempt, for any events below.
    template <class Request>
    [[nodiscard]] result<response_of<Request>> suffer(fault const& due, Request const& request, call below) const {
        below.watch = nullptr;
        result<response_of<Request>> answered = failure{error_code::transport_failed, "a planned fault"};
        if (due.applied == fault::commit::before) { answered = entitable::execute(wrapped_, request, below); }
        arrive_behind(request);
        if (due.applied == fault::commit::late) {
            std::lock_guard const guard{own().lock};
            own().late.push_back({place_of(request), [through = wrapped_, request]() mutable {
                                      call own;
                                      (void)entitable::execute(through, request, own);
                                  }});
        }
        if (due.takes.count() > 0) {
            clock& time = *own().options.time;
            steady_time const ready = time.steady() + std::chrono::duration_cast<steady_time::duration>(due.takes);
            if (below.deadline < ready) {
                time.wait_until(below.deadline);
                error late{error_code::deadline_exceeded, "the deadline of the call has passed"};
                late.effect = Request::writes ? effect::unknown : effect::none;
                return failure{std::move(late)};
            }
            time.wait_until(ready);
        }
        if (!due.answer) { return answered; }
        error problem = *due.answer;
        problem.effect = Request::writes ? problem.effect : effect::none;
        return failure{std::move(problem)};
    }

    struct plan_state {
        planned_fault it;
        std::size_t seen; ///< requests that matched so far
    };
    struct partition_state {
        std::int64_t second{};
        std::uint32_t requests{};
        steady_time offline_until{};
        std::optional<std::chrono::milliseconds> retry_after{};
        std::size_t planned{}; ///< index of the planned window, from 1
    };
    struct held_up {
        place where;
        std::function<void()> send;
    };
    struct state : counted {
        std::mutex lock;
        std::string mistake; ///< description of the first plan that no request can match
        faulty_options options;
        std::vector<plan_state> plans;
        std::map<place, partition_state> partitions;
        std::vector<held_up> late;
        std::map<std::string, std::size_t> happened;
        std::size_t requests{};
    };

    template <class Request>
    [[nodiscard]] static place place_of(Request const& request) {
        return {std::string{table_of(request)}, std::string{partition_of(request).value_or("")}};
    }
    [[nodiscard]] steady_time until(std::chrono::nanoseconds later) const {
        return own().options.time->steady() + std::chrono::duration_cast<steady_time::duration>(later);
    }

    [[nodiscard]] std::string mistake() const {
        std::lock_guard const guard{own().lock};
        return own().mistake;
    }
    /// Returns the fault that is due for this request.
    template <class Request>
    [[nodiscard]] std::optional<fault> take(Request const& request) const {
        std::lock_guard const guard{own().lock};
        ++own().requests;
        place const at = place_of(request);
        std::optional<fault> due;
        for (plan_state& each : own().plans) {
            bool const matches = each.it.number > 0 && (each.it.request.empty() || each.it.request == Request::name) &&
                (each.it.table.empty() || each.it.table == at.first);
            if (!matches || each.it.fired) { continue; }
            each.seen += 1;
            // A fault that became due during another fault is applied next.
            if (each.seen >= each.it.number && !due) {
                each.it.fired = true;
                due = each.it.what;
            }
        }
        if (!due && partition_of(request)) { due = offline(at); }
        if (due) { ++own().happened[due->name]; }
        return due;
    }
    [[nodiscard]] std::optional<fault> offline(place const& where) const {
        auto const found = own().partitions.find(where);
        if (!own().options.target && found == own().partitions.end()) { return std::nullopt; }
        partition_state& at = found == own().partitions.end() ? own().partitions[where] : found->second;
        steady_time const now = own().options.time->steady();
        if (now >= at.offline_until && own().options.target) {
            partition_target const& target = *own().options.target;
            auto const second = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
            at.requests = at.second == second ? at.requests + 1 : 1;
            at.second = second;
            if (at.requests > target.requests_a_second) {
                at.offline_until = until(target.offline);
                at.retry_after = target.retry_after;
                at.planned = 0;
            }
        }
        if (now >= at.offline_until) { return std::nullopt; }
        fault made = fault::busy(at.retry_after);
        made.name = at.planned > 0 ? "window" : "offline";
        if (at.planned > 0) { own().plans[at.planned - 1].it.fired = true; }
        return made;
    }
    /// Delivers the requests that were delayed until after this request.
    template <class Request>
    void arrive_behind(Request const& request) const {
        std::vector<held_up> arriving;
        {
            std::lock_guard const guard{own().lock};
            if (own().late.empty()) { return; }
            place const at = place_of(request);
            std::vector<held_up> staying;
            for (held_up& each : own().late) { (each.where == at ? arriving : staying).push_back(std::move(each)); }
            own().late = std::move(staying);
        }
        for (held_up const& each : arriving) { each.send(); }
    }

    mutable T wrapped_;
    /// The state that copies share. Ends the program after a move, since no error can be returned.
    [[nodiscard]] state& own() const {
        ENTITABLE_ASSERT(state_, "the plan of a moved-from transport was used",
            entitable::detail::misuse("use the object that the transport was moved into"));
        return *state_;
    }

    shared<state> state_;
};

/// Deduces the type of any transport.
template <transport T>
faulty(T, faulty_options const& = {}) -> faulty<T>;

} // namespace testing
ENTITABLE_END_NAMESPACE
