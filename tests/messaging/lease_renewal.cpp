// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Renewals during the work: by one driver, by `run_all`, on a thread of their own; with lost answers, and when the message is lost.

#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/transport/run_all.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>
#include <support/entities.hpp>

#include <thread>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::chore;

namespace {

/// Writes a row every so often.
class slow_work {
public:
    slow_work(std::string name, int rows, std::chrono::nanoseconds pause, steady_time begun)
        : name_(std::move(name)), left_(rows), pause_(pause), at_(begun) {
        advance(begun);
    }
    [[nodiscard]] operation_step next() const noexcept {
        return left_ == 0 || problem_ ? operation_step{} : operation_step{request_, at_};
    }
    void answer(result<write_entity::response> answered, steady_time now) {
        if (!answered) { problem_ = answered.error(); }
        --left_;
        advance(now);
    }
    void abandon(error const& reason) { problem_ = reason; }
    [[nodiscard]] result<void> finish() const { return problem_ ? result<void>{failure{*problem_}} : result<void>{}; }

private:
    void advance(steady_time now) {
        at_ = now + std::chrono::duration_cast<steady_time::duration>(pause_);
        request_ = {"Rows", mutation::insert(testing::make_row(name_, std::to_string(left_)))};
    }
    std::string name_;
    int left_;
    std::chrono::nanoseconds pause_;
    steady_time at_;
    write_entity request_;
    std::optional<error> problem_;
};
static_assert(operation<lease_renewal<slow_work>>);
static_assert(takes_answer_to<lease_renewal<slow_work>, query_entities>);
static_assert(!takes_answer_to<lease_renewal<slow_work>, transact>);

struct world {
    testing::manual_clock time;
    memory_backend store{[&] {
        local_options options;
        options.time = &time;
        return options;
    }()};
    testing::faulty<memory_backend> stormy{store, {.time = &time}};
    queue_options how = [&] {
        queue_options made;
        made.lanes = 1;
        made.time = &time;
        made.seed = 7;
        return made;
    }();
    table_queue<chore> queue{stormy, "chores", how};
    call context;

    world() {
        queue.create().value();
        call own;
        store.execute(create_table{"Rows"}, own).value();
    }
    [[nodiscard]] claimed<chore> one(std::string what) {
        queue.enqueue({std::move(what)}).value();
        return *queue.claim().value();
    }
    [[nodiscard]] std::size_t rows(std::string const& of) {
        call own;
        return store.execute(query_entities{"Rows", {key_interval::only(of), {}}, {}, {}, 1000, {}}, own)
            .value()
            .rows.size();
    }
};

} // namespace

TEST_CASE("renew_lease: renews the lease of work that takes longer than the lease") {
    world in;
    auto item = in.one("wash");
    SECTION("the lease is renewed between the steps of the work") {
        auto both = renew_lease(item, slow_work{"w", 10, 20s, in.time.steady()});
        CHECK(run(both, in.context, in.time, in.stormy));
        CHECK(item.remaining() > 0s);
        CHECK_FALSE(in.queue.claim().value());
        CHECK(item.complete());
    }
    SECTION("without renew_lease the message is lost") {
        auto work = slow_work{"w", 10, 20s, in.time.steady()};
        CHECK(run(work, in.context, in.time, in.stormy));
        CHECK(in.queue.claim().value());
        CHECK(item.complete().error().code == error_code::receipt_lost);
    }
    CHECK(in.rows("w") == 10);
}

TEST_CASE("renew_lease: one step that waits for minutes is renewed while it waits") {
    world in;
    auto item = in.one("wash");
    auto both = renew_lease(item, slow_work{"w", 1, 10min, in.time.steady()});
    CHECK(run(both, in.context, in.time, in.stormy));
    CHECK(item.remaining() > 10s);
    CHECK(item.complete());
}

TEST_CASE("renew_lease: the worker keeps the message if any request is lost or late, or the store is busy") {
    using testing::fault;
    for (fault const& each : {fault::lost_before(), fault::lost_after(), fault::late(), fault::busy()}) {
        for (std::size_t number = 1; number <= 9; ++number) {
            world in;
            auto item = in.one("wash");
            in.stormy.plan({each, number, {}, "chores", false});
            CAPTURE(number, each.name);
            auto both = renew_lease(item, slow_work{"w", 5, 20s, in.time.steady()});
            CHECK(run(both, in.context, in.time, in.stormy));
            CHECK_FALSE(in.queue.claim().value());
            CHECK(item.complete());
        }
    }
}

TEST_CASE("renew_lease: the work ends when the message is lost") {
    world in;
    auto item = in.one("wash");
    in.time.advance(40s); // a computer that slept
    auto other = *in.queue.claim().value();
    auto both = renew_lease(item, slow_work{"w", 5, 20s, in.time.steady()});
    CHECK(run(both, in.context, in.time, in.stormy).error().code == error_code::receipt_lost);
    CHECK(in.rows("w") == 0);
    CHECK(item.complete().error().code == error_code::invalid_input);
    CHECK(other.complete());
}

TEST_CASE("renew_lease: run_all renews many leases, each concurrently with its work") {
    world in;
    std::vector<claimed<chore>> items;
    std::vector<lease_renewal<slow_work>> all;
    std::vector<call> calls(6);
    for (std::size_t index = 0; index < calls.size(); ++index) {
        items.push_back(in.one("chore " + std::to_string(index)));
    }
    for (auto& each : items) {
        all.push_back(renew_lease(each, slow_work{each.message().what, 4, 25s, in.time.steady()}));
    }
    poll_driver io{in.time};
    auto const way = open_channel(in.stormy, io);
    CHECK(run_all(all, calls, {way.get()}, io, 6));
    for (std::size_t index = 0; index < calls.size(); ++index) {
        CHECK(all[index].finish());
        CHECK(in.rows(items[index].message().what) == 4);
        CHECK(items[index].complete());
    }
    CHECK_FALSE(in.queue.claim().value());
}

TEST_CASE("renew_lease: runs on a separate thread until it is cancelled") {
    memory_backend const store;
    queue_options how;
    how.lanes = 1;
    how.visibility = 2s;
    table_queue<chore> const queue{store, "chores", how};
    queue.create().value();
    queue.enqueue({"wash"}).value();
    auto item = *queue.claim().value();
    cancellation_source over;
    std::optional<error_code> why;
    std::thread keeper{[&] {
        call context;
        context.cancellation = over.token();
        auto renewals = renew_lease(item);
        auto const ended = run(renewals, context, system_clock(), store);
        why = ended.error().code;
    }};
    std::this_thread::sleep_for(2500ms); // the work
    over.cancel();
    keeper.join();
    CHECK(why == error_code::cancelled);
    CHECK_FALSE(queue.claim().value());
    CHECK(item.complete());
}
