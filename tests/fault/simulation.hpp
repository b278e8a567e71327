// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Several clients in one thread, on one service with faults and a manual clock: the order of turns, the operations and
/// the faults are drawn from a seed. A witness below the faults sees what is applied; afterwards it is compared with the
/// answers to every client.

#include <entitable/client/detail/update_operation.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing.hpp>
#include <entitable/work/sequence/detail/reservation.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace entitable_test {

using namespace entitable;
using namespace std::chrono_literals;

/// Planted defects, which a test must detect.
struct defects {
    bool drops_etag{};      ///< a merge forgets its condition
    bool reports_own{};     ///< a retry treats each definite answer as the outcome
    bool forgets_unknown{}; ///< an unknown effect is reported as none
    bool reuses_id{};       ///< an operation id is used for another call
    bool waits_any_wish{};  ///< Retry-After is not capped
    bool old_number{};      ///< a number is returned although the answer to its write was lost
};

/// Every applied write, in order, by the number in its property Op.
struct testimony {
    struct change {
        std::int32_t op;
        mutation_kind kind;
        std::string row_key;
    };
    std::map<std::int32_t, std::size_t> applied;
    std::vector<change> log;

    void add(mutation const& made) {
        auto const op = made.entity.view().find("Op");
        if (op) { log.push_back({op->as_int32(), made.kind, std::string{made.entity.row_key()}}); }
    }
    void count(mutation const& made) {
        if (auto const op = made.entity.view().find("Op")) { ++applied[op->as_int32()]; }
    }
};

/// Sees every applied write. Copies share the testimony.
template <transport T>
struct witness {
    using is_transport = void;
    T below;
    std::shared_ptr<testimony> seen;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        auto answered = below.execute(request, context);
        if constexpr (std::same_as<Request, write_entity>) {
            if (answered) {
                seen->add(request.change);
                seen->count(request.change);
            }
        } else if constexpr (std::same_as<Request, transact>) {
            if (answered) {
                for (mutation const& each : request.changes) { seen->add(each); }
                // The first one may be the operation row.
                seen->count(request.changes[operation_row::is_first_of(request) ? 1 : 0]);
            }
        }
        return answered;
    }
};

/// Retries without considering the effect of a lost attempt.
template <table_request Request>
class thoughtless_retry {
public:
    using response = response_of<Request>;
    thoughtless_retry(Request const& asked, bool forgets) : request_(&asked), forgets_(forgets) {}
    [[nodiscard]] operation_step next() const {
        return outcome_ ? operation_step{} : operation_step{*request_, not_before_};
    }
    void answer(result<response> answered, steady_time now) {
        if (answered || !worth_retrying(answered.error()) || ++attempts_ == 5 || forgets_) {
            if (!answered && forgets_) {
                error told = answered.error();
                told.effect = effect::none;
                answered = failure{told};
            }
            outcome_.emplace(std::move(answered));
            return;
        }
        not_before_ = now + 50ms;
    }
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    result<response> finish() { return *std::move(outcome_); }

private:
    Request const* request_;
    bool forgets_;
    int attempts_{};
    steady_time not_before_{};
    std::optional<result<response>> outcome_;
};

/// The result of a run.
struct report {
    std::string problem; ///< empty if there is no problem
    std::uint64_t trace{14695981039346656037U};
    std::size_t requests{};
    std::map<std::string, std::size_t> happened;
    std::size_t succeeded{}, failed{}, unknown{}, after_retry{}, settled{}, numbers{};
    std::chrono::nanoseconds lasted{};
};

template <transport Backend>
class simulation {
public:
    /// The table is created again. `time` is also the clock of the backend.
    simulation(std::uint64_t seed, Backend backend, testing::manual_clock& time, std::string table, defects wrong = {})
        : random_(seed),
          wrong_(wrong),
          time_(time),
          table_(std::move(table)),
          backend_(std::move(backend)),
          seen_(std::make_shared<testimony>()),
          service_(witness<Backend>{backend_, seen_}, {.time = &time}),
          with_rows_(seed % 2 == 1),
          policy_(wrong.waits_any_wish ? patient_of_wishes() : retry_policy::interactive()) {
        call own;
        note(backend_.execute(create_table{table_}, own).has_value(), "the table could not be made");
        counter_ = {table_, "counter", "numbers"};
        write_entity const opened{
            table_, mutation::insert(testing::make_row("account", "one", {{"Value", std::int64_t{0}}}))};
        note(backend_.execute(opened, own).has_value(), "the account could not be made");
        for (std::size_t index = 0; index < 4; ++index) {
            clients_.push_back(std::make_unique<client>(index, policy_, seed * 16 + index));
        }
        plan(seed);
    }

    report run(std::size_t operations) {
        steady_time const begun = time_.steady();
        std::size_t left = operations;
        while (told_.problem.empty()) {
            for (auto const& each : clients_) {
                if (!each->work && left > 0) {
                    --left;
                    start(*each);
                }
            }
            if (!one_step()) { break; }
        }
        service_.arrive();
        note(static_cast<bool>(service_.all_fired()), service_.all_fired().reason());
        compare_with_witness();
        told_.requests = service_.requests();
        told_.happened = service_.happened();
        told_.lasted = time_.steady() - begun;
        return std::move(told_);
    }

private:
    /// One operation in flight.
    struct task {
        virtual ~task() = default;
        [[nodiscard]] virtual operation_step next() = 0;
        virtual void send(simulation& in) = 0;
        virtual void finish(simulation& in) = 0;
        steady_time begun{};
        bool after_faults{};
        std::size_t sent{};
        std::size_t most{1}; ///< requests without faults
    };
    template <class Op, class Told>
    struct task_of final : task {
        template <class... Arguments>
        task_of(Told told, Arguments&&... arguments)
            : op(std::forward<Arguments>(arguments)...), tell(std::move(told)) {}
        operation_step next() override { return op.next(); }
        void send(simulation& in) override {
            op.next().request.visit([&]<class Request>(Request const& request) {
                if constexpr (takes_answer_to<Op, Request>) {
                    call own;
                    auto answered = in.execute(request, own);
                    in.trace(request.name);
                    in.trace(answered ? "ok" : to_string(answered.error().code));
                    op.answer(std::move(answered), in.time_.steady());
                }
            });
        }
        void finish(simulation&) override { tell(op.finish()); }
        Op op;
        Told tell;
    };
    struct client {
        client(std::uint64_t own, retry_policy const& policy, std::uint64_t seed)
            : number(own), ledger(policy, 0, seed) {}
        std::uint64_t number;
        detail::retry_ledger ledger;
        std::unique_ptr<task> work;
        std::map<std::string, etag> versions; ///< as this client knows them
        write_entity write;
        transact batch;
        get_entity read;
    };
    struct promise {
        std::int32_t op;
        bool once; ///< may be applied at most once
        bool removal;
        std::optional<error> failed;
        bool after_retry;
        std::optional<std::string> operation_id;
        std::optional<write_entity> lost; ///< to be resolved by comparing
    };

    static retry_policy patient_of_wishes() {
        auto made = retry_policy::interactive();
        made.longest_wish = 24h;
        return made;
    }

    // ---- chance ----

    std::size_t below(std::size_t limit) { return random_.bits() % limit; }
    bool once_in(std::size_t count) { return below(count) == 0; }

    void plan(std::uint64_t seed) {
        using testing::fault;
        std::vector<fault> const choices = {fault::refused(), fault::lost_before(), fault::lost_after(),
            fault::lost_after(), fault::half_answer(), fault::late(), fault::late(), fault::throttled(300ms),
            fault::busy(200ms), fault::busy(), fault::status(500, true), fault::status(500, false),
            fault::status(503, true), fault::status(504, true), fault::status(408, false), fault::slow(700ms)};
        service_.plan_random(seed, 40, 180, choices);
        service_.plan({fault::throttled(std::chrono::hours{24 * 365}), 190, {}, {}, false});
        service_.plan_window(table_, "p", 1500ms, 100ms);
        window_over_ = time_.steady() + 1500ms;
    }

    // ---- the clients ----

    template <class Request>
    result<response_of<Request>> execute(Request const& request, call& context) {
        if constexpr (std::same_as<Request, write_entity>) {
            if (wrong_.drops_etag && request.change.kind == mutation_kind::merge) {
                write_entity careless = request;
                careless.change.condition = any_etag;
                return service_.execute(careless, context);
            }
        }
        return service_.execute(request, context);
    }

    bool one_step() {
        std::vector<client*> ready;
        std::optional<steady_time> first;
        for (auto const& each : clients_) {
            if (!each->work) { continue; }
            operation_step const due = each->work->next();
            if (!due.done() && due.not_before > time_.steady()) {
                steady_time const at = due.not_before;
                first = !first || at < *first ? at : *first;
            } else {
                ready.push_back(each.get());
            }
        }
        if (ready.empty()) {
            if (first) { time_.wait_until(*first); }
            return first.has_value();
        }
        client& on = *ready[below(ready.size())];
        trace(on.number);
        if (!on.work->next().done()) {
            on.work->send(*this);
            ++on.work->sent;
            time_.advance(1ms);
        }
        if (on.work->next().done()) {
            auto const work = std::move(on.work);
            note(time_.steady() - work->begun < 150s, "an operation took more than 150 s of virtual time");
            // After the last fault nothing is sent twice, except where clients compete for the counter.
            note(!work->after_faults || work->sent <= work->most, "an operation without faults was sent again");
            work->finish(*this);
        }
        return true;
    }

    template <class Op, class Told, class... Arguments>
    void give(client& to, Told told, Arguments&&... arguments) {
        to.work = std::make_unique<task_of<Op, Told>>(std::move(told), std::forward<Arguments>(arguments)...);
        to.work->begun = time_.steady();
        to.work->after_faults = time_.steady() >= window_over_ && service_.all_fired();
        to.work->most = std::same_as<Op, detail::reservation> || std::same_as<Op, detail::update_operation> ? 60 : 1;
    }

    row content(std::string const& key, std::int32_t op) {
        row_builder builder{"p", key};
        builder.add("Op", value_view{op});
        builder.add("Text", value_view{std::string_view{"some text"}});
        return builder.build();
    }

    void start(client& by) {
        std::int32_t const op = next_op_++;
        std::string const key = "row" + std::to_string(below(6));
        std::size_t const chance = below(100);
        if (chance < 20) {
            by.read = {table_, "p", key, {}};
            give<detail::retry_operation<get_entity>>(
                by,
                [this, &by, key](result<get_entity::response> const& found) {
                    note(found || found.error().effect == effect::none, "a read has an unknown effect");
                    if (found) { by.versions[key] = found->etag; }
                },
                by.read, request_kind::read, by.ledger, no_deadline);
            return;
        }
        if (chance < 27) {
            number(by);
            return;
        }
        if (chance < 30) {
            add_one(by);
            return;
        }
        auto const known = by.versions.find(key);
        etag_condition const condition =
            known == by.versions.end() ? etag_condition{etag::of(date_time{1})} : etag_condition{known->second};
        if (chance < 40) {
            std::vector<mutation> changes;
            changes.push_back(
                {once_in(2) ? mutation_kind::insert : mutation_kind::insert_or_replace, content(key, op), any_etag});
            changes.push_back(mutation::insert_or_merge(content("other", op)));
            batch(by, op, std::move(changes));
            return;
        }
        mutation change = chance < 55 ? mutation::insert(content(key, op))
            : chance < 65             ? mutation::replace(content(key, op), condition)
            : chance < 80             ? mutation::merge(content(key, op), condition)
            : chance < 85             ? mutation::insert_or_replace(content(key, op))
            : chance < 90             ? mutation::merge(content(key, op), any_etag)
            : chance < 95             ? mutation::remove(content(key, op), condition)
                                      : mutation::remove(content(key, op), any_etag);
        if (with_rows_) {
            batch(by, op, {std::move(change)});
        } else {
            write(by, op, std::move(change));
        }
    }

    void write(client& by, std::int32_t op, mutation change) {
        by.write = {table_, std::move(change)};
        request_kind const kind = kind_of(by.write);
        std::string const key{by.write.change.entity.row_key()};
        promise made{op, rule_of(kind).alone == idempotency::conditional, by.write.change.kind == mutation_kind::remove,
            {}, false, {}, {}};
        auto told = [this, &by, key, made](result<written> const& outcome) mutable {
            if (outcome) {
                made.after_retry = outcome->after_retry;
                if (outcome->etag.empty()) {
                    by.versions.erase(key);
                } else {
                    by.versions[key] = outcome->etag;
                }
            } else {
                made.failed = outcome.error();
                made.lost = by.write;
            }
            keep(std::move(made));
        };
        if (wrong_.reports_own || wrong_.forgets_unknown) {
            give<thoughtless_retry<write_entity>>(by, std::move(told), by.write, wrong_.forgets_unknown);
        } else {
            give<detail::retry_operation<write_entity>>(by, std::move(told), by.write, kind, by.ledger, no_deadline);
        }
    }

    void batch(client& by, std::int32_t op, std::vector<mutation> changes) {
        by.batch = {table_, std::move(changes)};
        promise made{op, with_rows_, false, {}, false, {}, {}};
        for (mutation const& each : by.batch.changes) {
            made.once = made.once || rule_of(kind_of(each)).alone == idempotency::conditional;
        }
        if (with_rows_) {
            std::string id = wrong_.reuses_id ? "the same" : by.ledger.new_operation_id();
            by.batch.changes.insert(by.batch.changes.begin(),
                mutation::insert(operation_row::make("p", id, operation_row::content_of(by.batch.changes))));
            made.operation_id = std::move(id);
        }
        request_kind const kind = !with_rows_                  ? kind_of(by.batch)
            : kind_of(by.batch) == request_kind::merging_batch ? request_kind::merging_batch_with_operation
                                                               : request_kind::batch_with_operation;
        give<detail::retry_operation<transact>>(
            by,
            [this, made](result<transact::response> const& outcome) mutable {
                if (!outcome) {
                    made.failed = outcome.error();
                    note(outcome.error().code != error_code::operation_id_taken, "an operation id named another write");
                }
                keep(std::move(made));
            },
            by.batch, kind, by.ledger, no_deadline);
    }

    void number(client& by) {
        std::int64_t const before = last_number_;
        give<detail::reservation>(
            by,
            [this, before](result<detail::reserved> const& taken) {
                if (taken) {
                    ++told_.numbers;
                    note(seen_numbers_.insert(taken->first).second, "a number was given twice");
                    note(taken->first > before,
                        "a number is not greater than one that was given before it was asked for");
                    last_number_ = std::max(last_number_, taken->first);
                } else if (wrong_.old_number && taken.error().effect == effect::unknown) {
                    note(seen_numbers_.insert(++last_number_).second, "a number was given twice");
                }
            },
            detail::reserve_numbers(
                counter_, 1U, wrong_.old_number ? 0U : 50U, contention_backoff, by.ledger.random()));
    }

    /// Adds one to the account, directly on the service: nothing settles lost answers.
    void add_one(client& by) {
        static auto const more = [](row_view stored) -> result<std::optional<row>> {
            std::int64_t const held = stored.find("Value")->as_int64();
            return std::optional{testing::make_row("account", "one", {{"Value", held + 1}})};
        };
        give<detail::update_operation>(
            by,
            [this](result<detail::update_outcome> const& done) {
                if (done) {
                    ++added_;
                } else if (done.error().effect == effect::unknown) {
                    ++maybe_added_;
                }
            },
            get_entity{table_, "account", "one", {}}, detail::row_change{more}, false, false,
            update_options{}.max_attempts, contention_backoff, std::uint64_t{1});
    }

    // ---- the answers, and what was applied ----

    void keep(promise made) {
        if (!made.failed) {
            ++told_.succeeded;
            told_.after_retry += made.after_retry ? 1U : 0U;
            // Another client may have removed it: then it is removed all the same.
            note(applied(made.op) > 0 || (made.removal && made.after_retry),
                about(made) + "acknowledged and not applied");
            note(!made.once || !twice(made.op), about(made) + "applied twice");
        } else if (made.failed->effect == effect::none) {
            ++told_.failed;
            note(applied(made.op) == 0, about(made) + "failed and applied");
        } else {
            ++told_.unknown;
        }
        promises_.push_back(std::move(made));
    }

    void compare_with_witness() {
        call own;
        for (promise const& each : promises_) {
            note(!each.once || !twice(each.op), about(each) + "applied twice in the end");
            if (!each.failed) { continue; }
            if (each.failed->effect == effect::none) {
                note(applied(each.op) == 0, about(each) + "failed and applied in the end");
            } else if (each.operation_id) {
                auto const told = resolve(backend_, table_, "p", *each.operation_id, own);
                note(told.has_value() &&
                        *told == (applied(each.op) > 0 ? write_outcome::applied : write_outcome::not_applied),
                    about(each) + "resolved wrongly");
                ++told_.settled;
            } else if (each.lost && each.once && !each.removal) {
                auto const told = resolve(backend_, *each.lost, own);
                if (told && *told != write_outcome::unknown) {
                    note(*told == (applied(each.op) > 0 ? write_outcome::applied : write_outcome::not_applied),
                        about(each) + "resolved wrongly by comparing");
                    ++told_.settled;
                }
            }
        }
        // Every acknowledged addition counts once, one of unknown effect once or not at all.
        auto const account = backend_.execute(get_entity{table_, "account", "one", {}}, own);
        std::int64_t const held = account ? account->entity.view().find("Value")->as_int64() : -1;
        note(held >= added_ && held <= added_ + maybe_added_,
            "an account of " + std::to_string(held) + " after " + std::to_string(added_) + " additions and " +
                std::to_string(maybe_added_) + " maybe");
        // The store contains what the witness has seen, and nothing else.
        std::map<std::string, std::int32_t> expected;
        for (testimony::change const& each : seen_->log) {
            if (each.kind == mutation_kind::remove) {
                expected.erase(each.row_key);
            } else {
                expected[each.row_key] = each.op;
            }
        }
        std::map<std::string, std::int32_t> found;
        auto const all = testing::read_contents(backend_, {table_});
        note(all.has_value(), "the store could not be read");
        if (all) {
            for (auto const& [key, each] : all->tables.at(table_)) {
                if (auto const op = each.view().find("Op")) { found[key.second] = op->as_int32(); }
            }
        }
        note(expected == found, "the store does not hold what was applied");
    }

    [[nodiscard]] std::size_t applied(std::int32_t op) const {
        auto const at = seen_->applied.find(op);
        return at == seen_->applied.end() ? 0 : at->second;
    }
    /// Whether a write was applied twice that must be applied at most once. An insert without an operation row may be applied
    /// twice if another client removed the row of its lost attempt.
    [[nodiscard]] bool twice(std::int32_t op) const {
        if (applied(op) <= 1) { return false; }
        if (with_rows_) { return true; }
        std::set<std::string> standing;
        for (testimony::change const& each : seen_->log) {
            if (each.kind == mutation_kind::remove) {
                standing.erase(each.row_key);
            } else if (each.op == op && each.kind != mutation_kind::insert_or_merge &&
                !standing.insert(each.row_key).second) {
                return true;
            }
        }
        return false;
    }
    static std::string about(promise const& made) { return "write " + std::to_string(made.op) + ": "; }
    void note(bool good, std::string const& problem) {
        if (!good && told_.problem.empty()) { told_.problem = problem; }
    }
    void trace(std::string_view text) {
        for (char const character : text) { trace(static_cast<std::uint64_t>(static_cast<unsigned char>(character))); }
    }
    void trace(std::uint64_t number) { told_.trace = (told_.trace ^ number) * 1099511628211U; }

    random_source random_;
    defects wrong_;
    testing::manual_clock& time_;
    std::string table_;
    Backend backend_;
    std::shared_ptr<testimony> seen_;
    testing::faulty<witness<Backend>> service_;
    bool with_rows_;
    retry_policy policy_;
    detail::counter_row counter_;
    std::vector<std::unique_ptr<client>> clients_;
    steady_time window_over_{};
    std::int32_t next_op_{1};
    std::int64_t last_number_{};
    std::int64_t added_{};
    std::int64_t maybe_added_{};
    std::set<std::int64_t> seen_numbers_;
    std::vector<promise> promises_;
    report told_;
};

} // namespace entitable_test
