// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `stage`: one run of some operations on a store, step by step, in an order that `interleavings` chooses; and its state as text.

#include <entitable/core/request/operation.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/detail/state_text.hpp>
#include <entitable/testing/fault.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <deque>
#include <functional>
#include <memory>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// One run: stores, a clock, the operations, and the invariants. Created again for each schedule, so data of a run must belong to it:
/// `keep`.
class stage {
public:
    /// Limits the failures.
    explicit stage(interleaving_limits const& limits) : limits_(limits) { (void)store(); }
    stage(stage const&) = delete;
    stage& operator=(stage const&) = delete;

    /// Returns the store of a place, to set up and to examine. Created by the first call; the store of place 0 exists.
    [[nodiscard]] memory_backend const& store(std::size_t place = 0) {
        while (stores_.size() <= place) {
            local_options options;
            options.time = &time_;
            stores_.emplace_back(options);
            ways_.emplace_back(stores_.back());
        }
        return stores_[place];
    }
    /// Delivers requests to a place through a transport other than its store, for example one that records them.
    void deliver_to(any_store way, std::size_t place = 0) {
        (void)store(place);
        ways_[place] = std::move(way);
    }
    /// Returns the clock of the stores and the operations. It stands still until an operation waits.
    [[nodiscard]] manual_clock& time() noexcept { return time_; }
    /// Returns the number of operations that crashed so far, without reporting a result.
    [[nodiscard]] std::size_t crashed() const noexcept { return crashed_; }

    /// Makes an object that lives as long as the run.
    template <class T, class... Arguments>
    T& keep(Arguments&&... arguments) {
        auto made = std::make_shared<T>(std::forward<Arguments>(arguments)...);
        kept_.push_back(made);
        return *made;
    }
    /// Adds an operation, made by `make()` now and at each restart; calls `tell(outcome)` at its end. After `deadline` it is abandoned.
    template <class Make, class Tell>
    void add(std::string name, Make make, Tell tell, steady_time deadline = (steady_time::max)()) {
        actors_.push_back(
            std::make_unique<actor_of<Make, Tell>>(std::move(name), deadline, std::move(make), std::move(tell)));
    }
    /// Adds a check, which returns the error of a state; empty if the state is correct. Called after each step.
    void always(std::function<std::string()> check) { checks_.push_back(std::move(check)); }
    /// Adds a check of final states.
    void at_end(std::function<std::string()> check) { last_checks_.push_back(std::move(check)); }
    /// Adds a text to the state, for data that the checks depend on: states with different texts are not equal.
    void remember(std::function<std::string()> text) { memories_.push_back(std::move(text)); }

private:
    friend class interleaving_search;

    /// The delivery of a request. A refused request is not delivered; a request whose response is lost is delivered; a late request is
    /// delivered after the operation got the error of a lost request; a repeated request gets its response, and is delivered again later.
    enum class delivery : std::uint8_t { answered, refused, answer_lost, late, twice };

    struct move {
        enum class kind : std::uint8_t { send, abandon, crash, again, deliver, time };
        kind what;
        std::size_t index;
        delivery how{};
        std::size_t told{}; ///< index of the error
    };

    struct held_up {
        std::string name;
        steady_time sent;
        std::function<void()> deliver;
    };

    struct actor {
        actor(std::string called, steady_time until) : name(std::move(called)), deadline(until) {}
        virtual ~actor() = default;
        virtual operation_step ask() = 0;
        virtual void send(stage& on, move const& how) = 0;
        virtual void abandon() = 0;
        virtual void begin() = 0;

        /// Returns the next step, and checks the first rule of operations.
        [[nodiscard]] operation_step next() {
            if (over) { return {}; }
            operation_step const said = ask();
            operation_step const same = ask();
            if (address(said.request) != address(same.request) || said.not_before != same.not_before ||
                said.place != same.place) {
                breaks("two calls of next() returned different steps");
            }
            return over ? operation_step{} : said;
        }
        void breaks(std::string_view rule) {
            broken = name + ": " + std::string{rule};
            over = true;
        }
        [[nodiscard]] static void const* address(request_ref of) {
            void const* found = nullptr;
            of.visit([&](auto const& request) { found = &request; });
            return found;
        }

        std::string name;
        steady_time deadline;
        std::string history; ///< all responses that the operation has received
        std::string broken;  ///< the violated rule of operations
        std::size_t sent{};
        bool over{};
        bool in_vain{}; ///< set if the operation has ended with an error
    };

    template <class Make, class Tell>
    struct actor_of final : actor {
        using operation_type = std::invoke_result_t<Make&>;
        actor_of(std::string called, steady_time until, Make how, Tell told)
            : actor(std::move(called), until),
              make(std::move(how)),
              op(new operation_type(make())),
              tell(std::move(told)) {}
        operation_step ask() override { return op->next(); }
        void send(stage& on, move const& how) override {
            operation_step const due = op->next();
            bool taken = false;
            due.request.visit([&]<class Asked>(Asked const& request) {
                if constexpr (takes_answer_to<operation_type, Asked>) {
                    taken = due.place < on.ways_.size();
                    if (taken) { send(on, how, on.ways_[due.place], request); }
                }
            });
            if (!taken) {
                breaks("rejects the response to its request, or names a place that does not exist");
            } else if (sent > on.limits_.most_requests) {
                breaks("does not end");
            }
            end();
        }
        template <class Asked>
        void send(stage& on, move const& how, any_store const& way, Asked const& request) {
            std::function<result<response_of<Asked>>(date_time&)> const deliver = [way, request](date_time& date) {
                call own;
                auto answer = way.execute(request, own);
                return date = own.server_date, answer;
            };
            date_time date;
            ++sent;
            steady_time const since = on.time_.steady();
            bool const held = how.how == delivery::late || how.how == delivery::twice;
            if (held) {
                on.held_.push_back(
                    {name + " " + std::to_string(sent), since, [deliver, date]() mutable { (void)deliver(date); }});
            }
            error told = how.how == delivery::late ? lost_request() : error{};
            if (how.how == delivery::refused || how.how == delivery::answer_lost) {
                told = on.limits_.errors[how.told];
            }
            told.effect = Asked::writes ? told.effect : effect::none;
            result<response_of<Asked>> answered = failure{std::move(told)};
            if (how.how == delivery::answer_lost) {
                (void)deliver(date);
                date = {}; // lost with the response
            } else if (how.how == delivery::answered || how.how == delivery::twice) {
                answered = deliver(date);
            }
            if (how.what == move::kind::crash) { return; }
            on.time_.advance(on.limits_.takes);
            history += detail::shown_answer(answered) + '@' + on.since_begun(on.time_.steady()) + ';';
            if constexpr (requires { op->dated(date); }) { op->dated(date); }
            op->answer(std::move(answered), on.time_.steady());
        }
        void abandon() override {
            op->abandon(error{error_code::deadline_exceeded, "the deadline of the call has passed"});
            history += "abandoned;";
            if (!op->next().done()) { breaks("was abandoned, but still sends requests"); }
            end();
        }
        void begin() override {
            op.reset(new operation_type(make())); // the operation may be immovable
            over = false;
            in_vain = false;
            history = "again;"; // the new run starts without a history
        }
        void end() {
            if (!over && op->next().done()) {
                over = true;
                auto outcome = op->finish();
                if constexpr (requires { outcome.has_value(); }) { in_vain = !outcome.has_value(); }
                tell(std::move(outcome));
            }
        }

        Make make;
        std::unique_ptr<operation_type> op;
        Tell tell;
    };

    [[nodiscard]] std::string since_begun(steady_time at) const { return std::to_string((at - begun_).count()); }

    /// Returns the state as text; ETags are named by their order in it.
    [[nodiscard]] std::string state() const {
        std::string text = since_begun(time_.steady());
        for (std::size_t const each : {faults_, late_, twice_, abandoned_, crashed_, again_}) {
            text += ' ' + std::to_string(each);
        }
        text += '\n';
        for (auto const& each : actors_) {
            text += each->history + (each->over ? "over" : "") + (each->in_vain ? " in vain\n" : "\n");
        }
        for (held_up const& each : held_) { text += each.name + '@' + since_begun(each.sent) + '\n'; }
        for (memory_backend const& store : stores_) {
            text += "store\n";
            auto const all = read_contents(store);
            for (auto const& [name, rows] : all->tables) {
                text += name + '\n';
                for (auto const& [key, each] : rows) {
                    // Timestamps differ by ticks only to distinguish versions.
                    text += detail::shown_row(each.view()) +
                        std::to_string(each.view().timestamp().ticks / date_time::ticks_per_second) + '\n';
                }
            }
        }
        for (auto const& each : memories_) { text += each() + '\n'; }
        return detail::renamed_etags(text);
    }

    // ---- moves ----

    [[nodiscard]] std::vector<move> moves() {
        std::vector<move> all;
        bool waits = false;
        for (std::size_t index = 0; index < actors_.size(); ++index) {
            actor& each = *actors_[index];
            operation_step const next = each.next();
            if (next.done()) {
                if (each.in_vain && again_ < limits_.again) { all.push_back({move::kind::again, index}); }
                continue;
            }
            bool const early = next.not_before > time_.steady();
            waits = waits || early;
            bool const writes = next.request.writes();
            bool const in_time = time_.steady() <= each.deadline;
            if (!early) {
                all.push_back({move::kind::send, index, delivery::answered});
                for (std::size_t told = 0; told < limits_.errors.size() && faults_ < limits_.faults && in_time;
                    ++told) {
                    all.push_back({move::kind::send, index, delivery::refused, told});
                    if (writes && limits_.errors[told].effect == effect::unknown) {
                        all.push_back({move::kind::send, index, delivery::answer_lost, told});
                    }
                }
                if (late_ < limits_.late && writes && in_time) {
                    all.push_back({move::kind::send, index, delivery::late});
                }
                if (twice_ < limits_.twice && writes && in_time) {
                    all.push_back({move::kind::send, index, delivery::twice});
                }
            }
            if (abandoned_ < limits_.abandoned && in_time) { all.push_back({move::kind::abandon, index}); }
            if (crashed_ < limits_.crashes) {
                all.push_back({move::kind::crash, index, delivery::refused});
                if (!early && writes && in_time) { all.push_back({move::kind::crash, index, delivery::answered}); }
            }
        }
        for (std::size_t index = 0; index < held_.size(); ++index) { all.push_back({move::kind::deliver, index}); }
        if (waits) { all.push_back({move::kind::time, 0}); }
        return all;
    }
    /// Makes a move; returns a readable description.
    std::string take(move const& next) {
        if (next.what == move::kind::deliver) {
            held_up const due = std::move(held_[next.index]);
            held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(next.index));
            due.deliver();
            return "request " + due.name + " arrives late";
        }
        if (next.what == move::kind::time) {
            steady_time first = (steady_time::max)();
            for (auto const& each : actors_) {
                operation_step const due = each->next();
                first = !due.done() && due.not_before > time_.steady() ? (std::min)(first, due.not_before) : first;
            }
            time_.wait_until(first);
            std::erase_if(held_, [&](held_up const& each) { return time_.steady() - each.sent > limits_.life; });
            return "time passes";
        }
        actor& by = *actors_[next.index];
        if (next.what == move::kind::again) {
            ++again_;
            by.begin();
            return by.name + " starts again";
        }
        if (next.what == move::kind::abandon || (next.what == move::kind::send && time_.steady() > by.deadline)) {
            abandoned_ += next.what == move::kind::abandon ? 1U : 0U;
            by.abandon();
            return by.name + (next.what == move::kind::abandon ? " is abandoned" : " is overdue");
        }
        std::string const request{by.next().request.name()};
        if (next.what == move::kind::crash) {
            bool const sent = next.how == delivery::answered;
            if (sent) { by.send(*this, next); }
            by.over = true;
            by.in_vain = true;
            by.history += "crash;";
            ++crashed_;
            return by.name + (sent ? " ends after its " : " ends before its ") + request;
        }
        std::string said = by.name + ": " + request;
        switch (next.how) {
            case delivery::answered: break;
            case delivery::refused: said += ", " + std::string{to_string(limits_.errors[next.told].code)}; break;
            case delivery::answer_lost:
                said += ", applied, " + std::string{to_string(limits_.errors[next.told].code)};
                break;
            case delivery::late: said += ", delayed and reported as lost"; break;
            case delivery::twice: said += ", and a second copy is delayed"; break;
        }
        faults_ += next.how == delivery::refused || next.how == delivery::answer_lost ? 1U : 0U;
        late_ += next.how == delivery::late ? 1U : 0U;
        twice_ += next.how == delivery::twice ? 1U : 0U;
        by.send(*this, next);
        return said;
    }
    /// Returns an error found by the checks; `last`: the state is final.
    [[nodiscard]] std::string wrong(bool last) const {
        for (auto const& each : actors_) {
            if (!each->broken.empty()) { return each->broken; }
        }
        for (auto const& each : last ? last_checks_ : checks_) {
            if (std::string problem = each(); !problem.empty()) { return problem; }
        }
        return {};
    }

    interleaving_limits limits_;
    mutable manual_clock time_;
    steady_time begun_{time_.steady()}; ///< differs between runs, so states contain times relative to it
    std::deque<memory_backend> stores_; ///< one store for each place
    std::vector<any_store> ways_;       ///< transports to the stores
    std::vector<std::shared_ptr<void>> kept_;
    std::vector<std::unique_ptr<actor>> actors_;
    std::vector<held_up> held_;
    std::vector<std::function<std::string()>> checks_;
    std::vector<std::function<std::string()>> last_checks_;
    std::vector<std::function<std::string()>> memories_;
    std::size_t faults_{}, late_{}, twice_{}, abandoned_{}, crashed_{}, again_{};
};

} // namespace testing
ENTITABLE_END_NAMESPACE
