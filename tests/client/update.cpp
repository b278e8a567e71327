// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "client/entities.hpp"
#include "support/catch.hpp"
#include <entitable/client/detail/update_operation.hpp>
#include <entitable/client/row_table.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <support/watcher.hpp>

using namespace entitable;
using namespace std::chrono_literals;
using client_tests::runner;
using testing::fault;

namespace {

static_assert(operation<detail::update_operation>);

struct race {
    race() {
        table<runner> const direct{store, "runners"};
        direct.create().value();
        direct.insert({"Boston", 7, "Ann", 31}).value();
    }
    /// What another writer does in between.
    void age(std::int32_t to) const {
        table<runner>{store, "runners"}.merge({"Boston", 7, "Ann", to}, any_etag).value();
    }

    testing::manual_clock time;
    memory_backend store;
    testing::faulty<memory_backend> service{store, {.time = &time}};
    table<runner> runners{service, "runners"};
    update_options how{.time = &time, .seed = 1};
};

struct locating {
    using is_transport = void;
    memory_backend store;
    std::shared_ptr<std::vector<read_location>> seen = std::make_shared<std::vector<read_location>>();
    [[nodiscard]] entitable::profile profile() const { return store.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        seen->push_back(context.location);
        return store.execute(request, context);
    }
};

} // namespace

TEST_CASE("update: reads, changes and writes an entity") {
    race on;
    auto const done = on.runners.update("Boston", 7, [](runner& who) { ++*who.age; }, on.how);
    REQUIRE(done);
    CHECK(done->entity.age == 32);
    CHECK(done->changed);
    CHECK(done->attempts == 1);
    auto const stored = on.runners.get_stored("Boston", 7).value();
    CHECK(stored.entity.age == 32);
    CHECK(stored.etag == done->etag);
}

TEST_CASE("update: starts over if another writer changed the entity, and retains that writer's change") {
    race on;
    int calls = 0;
    auto const done = on.runners.update(
        "Boston", 7,
        [&](runner& who) {
            if (++calls <= 3) { on.age(40 + calls); }
            ++*who.age;
        },
        on.how);
    REQUIRE(done);
    CHECK(calls == 4);
    CHECK(done->attempts == 4);
    CHECK(on.runners.get("Boston", 7)->age == 44);
}

TEST_CASE("update: each read and each write is an operation, and waits for other writers are reported") {
    race on;
    entitable_test::watcher eyes;
    call_options watched;
    watched.watch = &eyes;
    int calls = 0;
    REQUIRE(on.runners.with(watched).update(
        "Boston", 7,
        [&](runner& who) {
            if (++calls == 1) { on.age(40); }
            ++*who.age;
        },
        on.how));
    std::vector<std::string> order;
    for (auto const& each : eyes.events) { order.push_back(each.what + " " + each.name); }
    CHECK(order ==
        std::vector<std::string>{"attempt get_entity", "operation get_entity", "attempt replace", "operation replace",
            "wait get_entity", "attempt get_entity", "operation get_entity", "attempt replace", "operation replace"});
    wait_record const& wait = eyes.events[4].wait;
    CHECK(wait.cause == wait_cause::contention);
    CHECK(wait.until > wait.begun);
    CHECK(wait.until - wait.begun < 100ms);
    CHECK(wait.until == on.time.steady());
    CHECK(wait.span.own.span_id == 0);
    CHECK(eyes.events[3].operation.outcome.error == error_code::update_condition_not_satisfied);
    for (auto const& each : eyes.all("attempt")) { CHECK(each.attempt.number == 1); }
}

TEST_CASE("update: gives up if other writers change the entity in every attempt") {
    race on;
    on.how.max_attempts = 5;
    int calls = 0;
    auto const begun = on.time.steady();
    auto const done = on.runners.update(
        "Boston", 7,
        [&](runner& who) {
            on.age(++calls);
            who.age = 99;
        },
        on.how);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == error_code::update_condition_not_satisfied);
    CHECK(done.error().effect == effect::none);
    CHECK(done.error().attempts == 5);
    CHECK(calls == 5);
    CHECK(on.runners.get("Boston", 7)->age == 5);
    CHECK(on.time.steady() > begun); // waits between attempts
}

TEST_CASE("update: a write whose answer was lost is not repeated") {
    for (fault const& lost : {fault::lost_after(), fault::lost_before(), fault::status(500, true)}) {
        race on;
        on.service.plan({lost, 1, "write_entity"});
        int calls = 0;
        auto const done = on.runners.update(
            "Boston", 7,
            [&](runner& who) {
                ++calls;
                ++*who.age;
            },
            on.how);
        REQUIRE_FALSE(done);
        CHECK(done.error().effect == effect::unknown);
        CHECK(calls == 1);
    }
}

TEST_CASE("update: a missing table or row is reported, even if it disappears in between") {
    race on;
    CHECK(on.runners.update("Boston", 8, [](runner&) {}, on.how).error().code == error_code::resource_not_found);
    int calls = 0;
    auto const gone = on.runners.update(
        "Boston", 7,
        [&](runner&) {
            if (++calls == 1) { on.runners.remove("Boston", 7, any_etag).value(); }
        },
        on.how);
    CHECK(gone.error().code == error_code::resource_not_found);
    CHECK(calls == 1);
}

TEST_CASE("update: the entity is unchanged if the change function returns false") {
    race on;
    auto const before = on.runners.get_stored("Boston", 7)->etag;
    auto const done = on.runners.update(
        "Boston", 7,
        [](runner& who) {
            who.age = 99;
            return false;
        },
        on.how);
    REQUIRE(done);
    CHECK_FALSE(done->changed);
    CHECK(done->etag == before);
    CHECK(on.runners.get("Boston", 7)->age == 31);
}

TEST_CASE("update: without a version check it overwrites a concurrent change of the same property") {
    race on;
    auto const done = on.runners.update(
        "Boston", 7, any_etag,
        [&](runner& who) {
            on.age(77);
            ++*who.age;
        },
        on.how);
    REQUIRE(done);
    CHECK(done->attempts == 1);
    CHECK(on.runners.get("Boston", 7)->age == 32);
}

TEST_CASE("update: cannot change keys") {
    race on;
    auto const done = on.runners.update("Boston", 7, [](runner& who) { who.bib = 8; }, on.how);
    CHECK(done.error().code == error_code::invalid_input);
    CHECK(on.runners.find("Boston", 7).value());
    CHECK_FALSE(on.runners.find("Boston", 8).value());
}

TEST_CASE("update: undeclared properties stay, and absent ones are removed") {
    race on;
    row_table const rows{on.store, "runners"};
    auto whole = rows.get("Boston", "0000000007").value();
    whole.set("Team", "Red").set("Hours", 3.5);
    rows.replace(whole, any_etag).value();
    auto const done = on.runners.update("Boston", 7, [](runner& who) { who.age.reset(); }, on.how);
    REQUIRE(done);
    auto const stored = rows.get("Boston", "0000000007").value();
    CHECK(stored.get<std::string>("Team").value() == "Red");
    CHECK(stored.get<double>("Hours").value() == 3.5);
    CHECK(stored.find("age") == nullptr);
    CHECK(stored.get<std::string>("name").value() == "Ann");
}

TEST_CASE("update: returns the errors of the keys, of the row and of the deadline") {
    race on;
    CHECK(on.runners.update("Boston__Full_", 7, [](runner&) {}, on.how).error().effect == effect::none);
    row_table const rows{on.store, "runners"};
    auto whole = rows.get("Boston", "0000000007").value();
    whole.set("name", 5);
    rows.replace(whole, any_etag).value();
    CHECK(on.runners.update("Boston", 7, [](runner&) {}, on.how).error().code == error_code::row_mismatch);

    race busy;
    call_options hurried;
    hurried.timeout = 20ms;
    busy.how.max_attempts = 1'000'000;
    busy.how.delays = backoff{.least = 5ms, .most = 5ms};
    auto const done = busy.runners.with(hurried).update("Boston", 7, [&](runner&) { busy.age(1); }, busy.how);
    CHECK(done.error().code == error_code::deadline_exceeded);
}

TEST_CASE("update: reads from the primary location") {
    race on;
    locating through{on.store};
    call_options far;
    far.location = read_location::secondary;
    table<runner> const runners{through, "runners", far};
    CHECK(runners.update("Boston", 7, [](runner& who) { ++*who.age; }, on.how));
    CHECK(*through.seen == std::vector<read_location>{read_location::primary, read_location::primary});
}
