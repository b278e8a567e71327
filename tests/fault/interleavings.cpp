// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The rules of operation rows, walked through all interleavings: two clients with one operation id, requests that are lost, late or
// arrive twice, a writer that removes obstacles, and a sweep. First the library's own operations, then a model of them in which
// each rule can be omitted: every omission must be detected.

#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::rounds;
using testing::make_row;

namespace {

/// The answers to clients, and what was applied.
struct truth {
    int applied{};
    bool said_none{};
    bool said_success{};

    [[nodiscard]] std::string wrong() const {
        return applied > 1                 ? "applied twice"
            : applied == 1 && said_none    ? "told none, and applied"
            : applied == 0 && said_success ? "told success, and not applied"
                                           : "";
    }
    template <class T>
    void told(result<T> const& outcome) {
        said_success = said_success || outcome.has_value();
        // Another write, or an abandoned operation, proves nothing about this one.
        said_none = said_none || (!outcome && outcome.error().effect == effect::none);
    }
};

/// Counts the transactions that are applied.
struct witness {
    using is_transport = void;
    memory_backend below;
    truth* seen;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        auto answered = below.execute(request, context);
        if constexpr (std::same_as<Request, transact>) { seen->applied += answered ? 1 : 0; }
        return answered;
    }
};

/// Sends one request, once.
template <class Request>
struct once {
    using response = response_of<Request>;
    Request request;
    std::optional<result<response>> outcome{};
    [[nodiscard]] operation_step next() const { return outcome ? operation_step{} : operation_step{request}; }
    void answer(result<response> answered, steady_time) { outcome.emplace(std::move(answered)); }
    void abandon(error const& reason) { outcome.emplace(failure{reason}); }
    result<response> finish() { return *std::move(outcome); }
};

/// A sweep that begins at a given time.
struct later_sweep {
    steady_time at;
    testing::manual_clock* time;
    std::chrono::nanoseconds retention;
    call context{};
    query_entities never{}; ///< is not sent: its time is not before that of the sweep
    std::optional<resumable<std::size_t>> sweep{};
    [[nodiscard]] operation_step next() {
        if (!sweep && time->steady() < at) { return {never, at}; }
        if (!sweep) {
            sweep.emplace(detail::sweep_pages(
                "Orders", sweep_options{.retention = retention, .time = time}, std::chrono::seconds{0}, context));
        }
        return sweep->next();
    }
    void answer(result<query_entities::response> page, steady_time now) { sweep->answer(std::move(page), now); }
    void answer(result<written> removed, steady_time now) { sweep->answer(std::move(removed), now); }
    void abandon(error const& reason) { sweep->abandon(reason); }
    result<std::size_t> finish() { return sweep->finish(); }
};

/// Rules that are omitted.
struct defects {
    bool row_last{};         ///< the operation row is the last change
    bool reads_absence{};    ///< a missing row proves that nothing was applied
    bool gives_nothing_up{}; ///< a refusal is reported as none, without a void row
};

/// A second, smaller implementation of the protocol.
class model_client {
public:
    model_client(transact request, defects wrong) : request_(std::move(request)), wrong_(wrong) {
        row_view const own = operation().entity;
        void_ = {request_.table, mutation::insert(operation_row::make_void("p", own.row_key.substr(5)))};
        read_ = {request_.table, "p", std::string{own.row_key}, {}};
    }
    [[nodiscard]] operation_step next() const {
        return outcome_             ? operation_step{}
            : does_ == doing::write ? operation_step{request_}
            : does_ == doing::read  ? operation_step{read_}
                                    : operation_step{void_};
    }
    void answer(result<transact::response> answered, steady_time) {
        ++attempts_;
        if (answered) {
            end(true, effect::none);
        } else if (answered.error().effect == effect::unknown) {
            lost_ = true;
            if (attempts_ == 3) { end(false, effect::unknown); }
        } else if (at_row(answered.error())) {
            does_ = doing::read;
        } else if (!lost_ || wrong_.gives_nothing_up) {
            end(false, effect::none);
        } else if (place_of_refusal(answered.error(), request_) == refused_at::exact_version && !wrong_.reads_absence) {
            end(false, effect::none);
        } else {
            does_ = wrong_.reads_absence ? doing::read : doing::give_up;
        }
    }
    void answer(result<written> voided, steady_time) {
        if (voided) {
            end(false, effect::none);
        } else if (voided.error().code == error_code::entity_already_exists) {
            does_ = doing::read;
        } else if (++attempts_ > 4) {
            end(false, effect::unknown);
        }
    }
    void answer(result<get_entity::response> found, steady_time) {
        if (found) {
            bool const given_up = operation_row::is_void(found->entity);
            end(!given_up, effect::none);
        } else if (found.error().code == error_code::resource_not_found) {
            end(false, wrong_.reads_absence ? effect::none : effect::unknown);
        } else if (++attempts_ > 4) {
            end(false, effect::unknown);
        }
    }
    void abandon(error const&) { end(false, lost_ ? effect::unknown : effect::none); }
    result<void> finish() { return *std::move(outcome_); }

private:
    enum class doing : std::uint8_t { write, give_up, read };

    [[nodiscard]] mutation const& operation() const {
        return wrong_.row_last ? request_.changes.back() : request_.changes.front();
    }
    [[nodiscard]] bool at_row(error const& refused) const {
        return refused.code == error_code::entity_already_exists &&
            refused.operation_index == (wrong_.row_last ? request_.changes.size() - 1 : 0);
    }
    void end(bool good, effect left) {
        if (good) {
            outcome_.emplace();
        } else {
            error problem{error_code::invalid_input, "refused"};
            problem.effect = left;
            outcome_.emplace(failure{std::move(problem)});
        }
    }

    transact request_;
    defects wrong_;
    write_entity void_;
    get_entity read_;
    doing does_{};
    int attempts_{};
    bool lost_{};
    std::optional<result<void>> outcome_;
};

enum class condition : std::uint8_t { exact_version, any_version };

/// The row to change exists in an exact version, or is inserted later by another writer.
transact order(testing::stage& on, condition how, bool row_last) {
    call own;
    (void)on.store().execute(create_table{"Orders"}, own);
    row const changed = make_row("p", "stock", {{"Left", 9}});
    mutation change = mutation::merge(changed, any_etag);
    if (how == condition::exact_version) {
        auto const there =
            on.store().execute(write_entity{"Orders", mutation::insert(make_row("p", "stock", {{"Left", 10}}))}, own);
        change = mutation::merge(changed, there->etag);
    }
    std::vector<mutation> changes{std::move(change)};
    mutation row = mutation::insert(operation_row::make("p", "id", operation_row::content_of(changes)));
    changes.insert(row_last ? changes.end() : changes.begin(), std::move(row));
    return {"Orders", std::move(changes)};
}

void watch(testing::stage& on, truth& seen) {
    on.deliver_to(witness{on.store(), &seen});
    on.always([&seen] { return seen.wrong(); });
    on.remember([&seen] {
        return std::to_string(seen.applied) + (seen.said_none ? "n" : "") + (seen.said_success ? "s" : "");
    });
}

void add_writer(testing::stage& on) {
    on.add(
        "other", [] { return once<write_entity>{{"Orders", mutation::insert_or_merge(make_row("p", "stock"))}}; },
        [](result<written> const&) {});
}

/// The participants other than the clients.
struct cast {
    int clients{1};
    bool given_id{};   ///< an id of the caller, so that others may have sent it
    bool resolver{};   ///< another program settles the writes it knows of
    bool writer{true}; ///< inserts the row that a change of any version needs
};

/// The library's own operations.
testing::interleaving_report walk_library(condition how, cast parts, testing::interleaving_limits const& limits) {
    return testing::interleavings(
        [=](testing::stage& on) {
            auto& seen = on.keep<truth>();
            auto& request = on.keep<transact>(order(on, how, false));
            watch(on, seen);
            for (int index = 0; index < parts.clients; ++index) {
                auto& ledger = on.keep<detail::retry_ledger>(retry_policy::fixed(3, 0s), 0U, 1U);
                on.add(
                    "client " + std::to_string(index + 1),
                    [&] {
                        return detail::retry_operation<transact>{
                            request, request_kind::merging_batch_with_operation, ledger, no_deadline, parts.given_id};
                    },
                    [&seen](auto const& outcome) { seen.told(outcome); });
            }
            if (parts.resolver) {
                on.add(
                    "resolver", [] { return settling{"Orders", "p", "id"}; },
                    [&seen](result<write_outcome> const& outcome) {
                        seen.said_success = seen.said_success || (outcome && *outcome == write_outcome::applied);
                        seen.said_none = seen.said_none || (outcome && *outcome == write_outcome::not_applied);
                    });
            }
            if (parts.writer) { add_writer(on); }
        },
        limits);
}

testing::interleaving_report walk_model(condition how, defects wrong) {
    return testing::interleavings(
        [=](testing::stage& on) {
            auto& seen = on.keep<truth>();
            transact const request = order(on, how, wrong.row_last);
            watch(on, seen);
            on.add(
                "client", [&] { return model_client{request, wrong}; },
                [&seen](auto const& outcome) { seen.told(outcome); });
            add_writer(on);
        },
        {.faults = 1, .late = 1, .crashes = 1});
}

std::string text_of(testing::interleaving_report const& told) {
    std::string text = told.problem;
    for (std::string const& each : told.schedule) { text += "\n  " + each; }
    return text;
}

} // namespace

TEST_CASE("interleavings: with operation rows a client gets correct answers, whichever request is lost, is late or is "
          "the last") {
    std::size_t const faults = rounds(1, 2, 2);
    for (condition const how : {condition::exact_version, condition::any_version}) {
        auto const told = walk_library(how, {}, {.faults = faults, .late = faults, .crashes = 1});
        CHECK(text_of(told) == "");
        CHECK(told.complete);
        INFO(told.states);
        CHECK(told.states > 40);
    }
}

TEST_CASE("interleavings: two clients with the same operation id apply it once") {
    std::size_t const lost = rounds(0, 1, 1);
    for (condition const how : {condition::exact_version, condition::any_version}) {
        auto const told = walk_library(how, {.clients = 2, .given_id = true}, {.faults = lost, .late = 1});
        CHECK(text_of(told) == "");
        CHECK(told.complete);
        CHECK(told.states > 100);
    }
}

TEST_CASE("interleavings: another program settles the writes of a terminated client") {
    std::size_t const lost = rounds(0, 1, 1);
    for (condition const how : {condition::exact_version, condition::any_version}) {
        auto const told = walk_library(how, {.resolver = true}, {.faults = lost, .late = 1, .crashes = 1});
        CHECK(text_of(told) == "");
        CHECK(told.complete);
        INFO(told.states);
        CHECK(told.states > 40);
    }
}

TEST_CASE("interleavings: only an operation id set by the caller stops an undetected duplicate of a request") {
    for (condition const how : {condition::exact_version, condition::any_version}) {
        CHECK(text_of(walk_library(how, {.given_id = true}, {.faults = 1, .late = 1, .twice = 1})) == "");
    }
    // An answered attempt counts as delivered once: its refusal is reported without voiding it.
    auto const told = walk_library(condition::any_version, {}, {.faults = 0, .late = 0, .twice = 1});
    CHECK(told.problem == "told none, and applied");
    CHECK(told.schedule.size() == 3);
    CHECK(text_of(walk_library(condition::exact_version, {}, {.faults = 0, .late = 0, .twice = 1})) == "");
}

TEST_CASE(
    "interleavings: a sweep that waits for late attempts is harmless, and a sweep that does not wait is detected") {
    // An exact version stops late attempts by itself, so only the other condition needs the row.
    testing::interleaving_limits const limits{.faults = 0, .late = 1};
    auto const with_stock = [&](std::chrono::nanoseconds after) {
        return testing::interleavings(
            [=](testing::stage& on) {
                auto& seen = on.keep<truth>();
                auto& request = on.keep<transact>(order(on, condition::any_version, false));
                call own;
                (void)on.store().execute(
                    write_entity{"Orders", mutation::insert_or_merge(make_row("p", "stock"))}, own);
                watch(on, seen);
                steady_time const begun = on.time().steady();
                auto& ledger = on.keep<detail::retry_ledger>(retry_policy::fixed(3, 0s), 0U, 1U);
                on.add(
                    "client",
                    [&] {
                        return detail::retry_operation<transact>{
                            request, request_kind::merging_batch_with_operation, ledger, no_deadline};
                    },
                    [&seen](auto const& outcome) { seen.told(outcome); }, begun + 15min);
                on.add("sweep", [&] { return later_sweep{begun + after, &on.time(), after / 2}; }, [](auto const&) {});
            },
            limits);
    };
    CHECK(text_of(with_stock(24h)) == "");
    CHECK(with_stock(2min).problem == "applied twice");
}

TEST_CASE("interleavings: the model follows the rules, and each omitted rule is detected") {
    for (condition const how : {condition::exact_version, condition::any_version}) {
        CHECK(text_of(walk_model(how, {})) == "");
    }
    CHECK(walk_model(condition::exact_version, {.row_last = true}).problem == "told none, and applied");
    CHECK(walk_model(condition::any_version, {.reads_absence = true}).problem == "told none, and applied");
    CHECK(walk_model(condition::any_version, {.gives_nothing_up = true}).problem == "told none, and applied");
}

TEST_CASE("interleavings: the shortest schedule is reported, and it is the same each time") {
    auto const first = walk_model(condition::any_version, {.gives_nothing_up = true});
    auto const second = walk_model(condition::any_version, {.gives_nothing_up = true});
    CHECK(first.schedule == second.schedule);
    CHECK(first.schedule.size() == 4);
}
