// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `stage`: one run of some operations on a store, step by step, in an order that `interleavings` chooses; and its state as a text.

#include <entitable/backends/memory/memory_backend.hpp>
#include <entitable/request/operation.hpp>
#include <entitable/testing/contents.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <functional>
#include <memory>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// What may go wrong in one schedule, and how far is looked.
struct interleaving_limits {
    std::size_t lost{1};    ///< requests that are lost, or whose answers are
    std::size_t late{1};    ///< requests that are delivered after the operation was told that they are lost
    std::size_t twice{0};   ///< requests that are answered, and delivered a second time later: nobody knows of the copy
    std::size_t crashes{0}; ///< operations that end before they are done
    std::chrono::nanoseconds life{
        std::chrono::minutes{16}};    ///< how long after it was sent a late request can be delivered
    std::size_t most_states{100'000}; ///< then `interleaving_report::complete` is false
};

/// One run: a store, a clock, the operations, and what must hold. Made anew for each schedule, so whatever a run remembers belongs to
/// it: `keep`.
class stage {
public:
    /// With what may go wrong.
    explicit stage(interleaving_limits const& limits) : limits_(limits) {
        local_options options;
        options.time = &time_;
        below_ = memory_backend{options};
        store_ = below_;
    }
    stage(stage const&) = delete;
    stage& operator=(stage const&) = delete;

    /// The store itself, for what is there at the beginning and what is looked at.
    [[nodiscard]] memory_backend const& store() const noexcept { return below_; }
    /// What requests are delivered to, if it is not the store: something that watches it.
    void deliver_to(any_transport store) { store_ = std::move(store); }
    /// The clock of the store and the operations. It stands until an operation waits.
    [[nodiscard]] manual_clock& time() noexcept { return time_; }

    /// Makes an object that lives as long as the run.
    template <class T, class... Arguments>
    T& keep(Arguments&&... arguments) {
        auto made = std::make_shared<T>(std::forward<Arguments>(arguments)...);
        kept_.push_back(made);
        return *made;
    }
    /// Adds an operation, which is made by `make()` and tells `tell(outcome)` at its end. After `deadline` it sends nothing any more.
    template <class Make, class Tell>
    void add(std::string name, Make make, Tell tell, steady_time deadline = steady_time::max()) {
        using made = actor_of<std::invoke_result_t<Make&>, Tell>;
        actors_.push_back(std::make_unique<made>(std::move(name), deadline, make(), std::move(tell)));
    }
    /// What is wrong in a state, empty when nothing is. Asked after each step.
    void always(std::function<std::string()> check) { checks_.push_back(std::move(check)); }
    /// What a run remembers that the checks depend on: states in which it differs are not equal.
    void remember(std::function<std::string()> text) { memories_.push_back(std::move(text)); }

private:
    friend class interleaving_search;

    /// What happens to a request. One that is lost is not delivered, or its answer is not; a late one is delivered after the
    /// operation was told that it is lost; one that comes twice is answered, and delivered again later.
    enum class delivery : std::uint8_t { answered, lost, answer_lost, late, twice };

    struct held_up {
        std::string name;
        steady_time sent;
        std::function<void()> deliver;
    };

    struct actor {
        actor(std::string called, steady_time until) : name(std::move(called)), deadline(until) {}
        virtual ~actor() = default;
        [[nodiscard]] virtual operation_step next() = 0;
        virtual void send(stage& on, delivery how) = 0;
        virtual void overdue() = 0;

        std::string name;
        steady_time deadline;
        std::string history; ///< all that it was told
        std::size_t sent{};
        bool over{};
    };

    template <class Op, class Tell>
    struct actor_of final : actor {
        actor_of(std::string called, steady_time until, Op made, Tell told)
            : actor(std::move(called), until), op(std::move(made)), tell(std::move(told)) {}
        [[nodiscard]] operation_step next() override { return over ? operation_step{} : op.next(); }
        void send(stage& on, delivery how) override {
            op.next().request.visit([&]<class Asked>(Asked const& request) {
                if constexpr (takes_answer_to<Op, Asked>) {
                    send(on, how, request);
                }
            });
            end();
        }
        template <class Asked>
        void send(stage& on, delivery how, Asked const& request) {
            std::function<result<response_of<Asked>>()> const deliver = [to = on.store_, request] {
                call own;
                return to.execute(request, own);
            };
            ++sent;
            if (how == delivery::late || how == delivery::twice) {
                on.held_.push_back(
                    {name + " " + std::to_string(sent), on.time_.steady(), [deliver] { (void)deliver(); }});
            }
            error gone{error_code::transport_failed, "lost"};
            gone.effect = Asked::writes ? effect::unknown : effect::none;
            result<response_of<Asked>> answered = failure{std::move(gone)};
            if (how == delivery::answer_lost) {
                (void)deliver();
            } else if (how == delivery::answered || how == delivery::twice) {
                answered = deliver();
            }
            history += shown(answered) + '@' + on.since_begun(on.time_.steady()) + ';';
            op.answer(std::move(answered), on.time_.steady());
        }
        void overdue() override {
            op.abandon(error{error_code::deadline_exceeded, "the deadline of the call has passed"});
            history += "overdue;";
            end();
        }
        void end() {
            if (op.next().done()) {
                over = true;
                tell(op.finish());
            }
        }

        Op op;
        Tell tell;
    };

    [[nodiscard]] std::string since_begun(steady_time at) const { return std::to_string((at - begun_).count()); }

    // ---- states as text; an ETag stands between \x01 and \x02 ----

    [[nodiscard]] static std::string shown(etag const& version) {
        return '\x01' + std::string{version.text()} + '\x02';
    }
    [[nodiscard]] static std::string shown(row_view each) {
        std::string text = detail::shown_keys(each) + shown(each.etag());
        for (auto const& [name, content] : detail::present_properties(each, shown::data)) {
            text += name + '=' + detail::shown_value(content) + ',';
        }
        return text;
    }
    template <class T>
    [[nodiscard]] static std::string shown(result<T> const& answered) {
        if (!answered) {
            error const& problem = answered.error();
            return std::string{to_string(problem.code)} + (problem.effect == effect::none ? "" : "?") +
                (problem.operation_index ? std::to_string(*problem.operation_index) : "");
        }
        std::string text = "ok ";
        if constexpr (std::same_as<T, written>) {
            text += shown(answered->etag);
        } else if constexpr (std::same_as<T, transact::response>) {
            for (written const& each : answered->results) {
                text += shown(each.etag);
            }
        } else if constexpr (std::same_as<T, get_entity::response>) {
            text += shown(answered->entity.view());
        } else if constexpr (std::same_as<T, query_entities::response>) {
            for (std::size_t index = 0; index < answered->rows.size(); ++index) {
                text += shown(answered->rows[index]);
            }
            text += answered->continuation ? "more" : "";
        }
        return text;
    }
    /// Names for ETags in the order in which they come up.
    [[nodiscard]] static std::string renamed(std::string const& text) {
        std::map<std::string, std::size_t> names;
        std::string out;
        for (std::size_t at = 0; at < text.size(); ++at) {
            if (text[at] != '\x01') {
                out += text[at];
                continue;
            }
            std::size_t const end = text.find('\x02', at);
            out += '#' + std::to_string(names.try_emplace(text.substr(at, end - at), names.size()).first->second);
            at = end;
        }
        return out;
    }
    [[nodiscard]] std::string state() const {
        std::string text = since_begun(time_.steady()) + ' ' + std::to_string(lost_) + ' ' + std::to_string(late_) +
            ' ' + std::to_string(twice_) + ' ' + std::to_string(crashed_) + '\n';
        for (auto const& each : actors_) {
            text += each->history + (each->over ? "over\n" : "\n");
        }
        for (held_up const& each : held_) {
            text += each.name + '@' + since_begun(each.sent) + '\n';
        }
        auto const all = read_contents(below_);
        for (auto const& [name, rows] : all->tables) {
            text += name + '\n';
            for (auto const& [key, each] : rows) {
                // Timestamps differ by ticks only to tell versions apart.
                text += shown(each.view()) +
                    std::to_string(each.view().timestamp().ticks / date_time::ticks_per_second) + '\n';
            }
        }
        for (auto const& each : memories_) {
            text += each() + '\n';
        }
        return renamed(text);
    }

    // ---- moves ----

    struct move {
        enum class kind : std::uint8_t { send, crash, deliver, time };
        kind what;
        std::size_t index;
        delivery how{};
    };

    [[nodiscard]] std::vector<move> moves() const {
        std::vector<move> all;
        bool waits = false;
        for (std::size_t index = 0; index < actors_.size(); ++index) {
            actor& each = *actors_[index];
            operation_step const next = each.next();
            bool const early = next.not_before > time_.steady();
            waits = waits || (!next.done() && early);
            if (next.done()) {
                continue;
            }
            if (!early) {
                all.push_back({move::kind::send, index, delivery::answered});
                if (lost_ < limits_.lost && time_.steady() <= each.deadline) {
                    all.push_back({move::kind::send, index, delivery::lost});
                    if (next.request.writes()) {
                        all.push_back({move::kind::send, index, delivery::answer_lost});
                    }
                }
                bool const goes_out = next.request.writes() && time_.steady() <= each.deadline;
                if (late_ < limits_.late && goes_out) {
                    all.push_back({move::kind::send, index, delivery::late});
                }
                if (twice_ < limits_.twice && goes_out) {
                    all.push_back({move::kind::send, index, delivery::twice});
                }
            }
            if (crashed_ < limits_.crashes) {
                all.push_back({move::kind::crash, index});
            }
        }
        for (std::size_t index = 0; index < held_.size(); ++index) {
            all.push_back({move::kind::deliver, index});
        }
        if (waits) {
            all.push_back({move::kind::time, 0});
        }
        return all;
    }
    /// Makes a move; what it was, for a person.
    std::string take(move const& next) {
        switch (next.what) {
            case move::kind::crash:
                actors_[next.index]->over = true;
                actors_[next.index]->history += "crash;";
                ++crashed_;
                return actors_[next.index]->name + " ends";
            case move::kind::deliver: {
                held_up const due = std::move(held_[next.index]);
                held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(next.index));
                due.deliver();
                return "request " + due.name + " comes late";
            }
            case move::kind::time: {
                steady_time first = steady_time::max();
                for (auto const& each : actors_) {
                    operation_step const due = each->next();
                    first = !due.done() && due.not_before > time_.steady() ? std::min(first, due.not_before) : first;
                }
                time_.wait_until(first);
                std::erase_if(held_, [&](held_up const& each) { return time_.steady() - each.sent > limits_.life; });
                return "time passes";
            }
            case move::kind::send: break;
        }
        actor& by = *actors_[next.index];
        if (time_.steady() > by.deadline) {
            by.overdue();
            return by.name + " is overdue";
        }
        lost_ += next.how == delivery::lost || next.how == delivery::answer_lost ? 1U : 0U;
        late_ += next.how == delivery::late ? 1U : 0U;
        twice_ += next.how == delivery::twice ? 1U : 0U;
        constexpr char const* words[] = {
            "", ", lost", ", its answer lost", ", held up and taken for lost", ", and a second copy is held up"};
        std::string said =
            by.name + ": " + std::string{by.next().request.name()} + words[static_cast<std::size_t>(next.how)];
        by.send(*this, next.how);
        return said;
    }
    [[nodiscard]] std::string wrong() const {
        for (auto const& each : checks_) {
            if (std::string problem = each(); !problem.empty()) {
                return problem;
            }
        }
        return {};
    }

    interleaving_limits limits_;
    mutable manual_clock time_;
    steady_time begun_{time_.steady()}; ///< the same in no two runs: states have times from here on
    memory_backend below_;
    any_transport store_{memory_backend{}};
    std::vector<std::shared_ptr<void>> kept_;
    std::vector<std::unique_ptr<actor>> actors_;
    std::vector<held_up> held_;
    std::vector<std::function<std::string()>> checks_;
    std::vector<std::function<std::string()>> memories_;
    std::size_t lost_{};
    std::size_t late_{};
    std::size_t twice_{};
    std::size_t crashed_{};
};

} // namespace testing
ENTITABLE_END_NAMESPACE
