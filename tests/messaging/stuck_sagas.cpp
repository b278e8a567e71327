// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The step that fails and whether it is undone; sagas that are given up, what is known of their steps, and how they are taken up again; the rows
// that are stored for both, including rows from earlier programs.

#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>

#include <functional>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

struct trip {
    std::string guest;
    std::int32_t nights{};
};
ENTITABLE(trip, partition_key(guest), row_key(nights), properties())

// The statement that a step had no effect cannot come from a different step.
static_assert(!std::is_constructible_v<result<void>, no_effect> && !std::is_constructible_v<result<void>, step_result>);
static_assert(!std::is_constructible_v<failure, no_effect> && !std::is_convertible_v<error, no_effect>);
static_assert(std::is_convertible_v<result<int>, step_result> && std::is_convertible_v<failure, step_result>);

using effect_of_step = std::function<step_result(trip const&)>;
using undo_of_step = std::function<result<void>(trip const&)>;

/// Steps that write what they do into a log: "r" for the step room, "R" for its undo.
struct agency {
    testing::manual_clock time;
    memory_backend store{[&] {
        local_options options;
        options.time = &time;
        return options;
    }()};
    testing::faulty<memory_backend> stormy{store, {.time = &time}};
    table_queue<trip> queue;
    std::string log;

    explicit agency(std::uint32_t max_deliveries = 5)
        : queue{stormy, "trips", [&] {
                    queue_options made;
                    made.lanes = 1;
                    made.time = &time;
                    made.seed = 7;
                    made.max_deliveries = max_deliveries;
                    return made;
                }()} {
        queue.create().value();
        queue.enqueue({"ann", 2}, {.id = "x"}).value();
    }
    /// `answers`: what the calls return, one after the other; then success.
    [[nodiscard]] effect_of_step does(std::string what, std::vector<step_result> answers = {}) {
        return [this, what, answers, next = std::make_shared<std::size_t>(0)](trip const&) -> step_result {
            log += what;
            return *next < answers.size() ? answers[(*next)++] : step_result{};
        };
    }
    [[nodiscard]] undo_of_step undoes(
        std::string what, int failures = 0, error_code why = error_code::deadline_exceeded) {
        return [this, what, why, left = std::make_shared<int>(failures)](trip const&) -> result<void> {
            log += what;
            return (*left)-- > 0 ? result<void>{failure{why, "no " + what}} : result<void>{};
        };
    }
    [[nodiscard]] claimed<trip> next() {
        time.advance(31s);
        return *queue.claim().value();
    }
    /// The row of the message, or of the dead letter.
    [[nodiscard]] std::string shown(std::string_view prefix = "~!q!") const {
        std::string all;
        row_table{store, "trips"}
            .for_each(
                {}, {},
                [&](entity const& each) {
                    if (each.row_key().starts_with(prefix)) {
                        for (property const& one : each.properties()) {
                            all += one.name + '=' + one.value.to_string() + ' ';
                        }
                    }
                },
                system_rows::shown)
            .value();
        return all;
    }
    /// Lays changes over the row of the message, as a program of an earlier version would have.
    void store_as(std::vector<property> const& changes) const {
        row_table const rows{store, "trips"};
        rows.for_each(
                {}, {},
                [&](entity const& each) {
                    if (each.row_key().starts_with("~!q!")) {
                        row_builder made{each.partition_key(), each.row_key()};
                        for (property const& one : changes) { made.add(one.name, one.value.view()); }
                        call context;
                        store.execute(write_entity{"trips", mutation::merge(made.build(), any_etag)}, context).value();
                    }
                },
                system_rows::shown)
            .value();
    }
};

step_result const refused{failure{error_code::out_of_range_input, "no seat"}};
step_result const nothing_done{no_effect{error_code::out_of_range_input, "no seat"}};
step_result const passes{failure{error_code::deadline_exceeded, "too slow"}};

std::string states(std::vector<step_report> const& steps) {
    std::string all;
    for (step_report const& each : steps) {
        all += std::string{all.empty() ? "" : ", "} + std::string{each.name} + ' ' + std::string{to_string(each.state)};
    }
    return all;
}

} // namespace

TEST_CASE("saga: undoing begins with the step that failed") {
    agency at;
    auto const travel = saga_for<trip>("travel", step("room", at.does("r"), at.undoes("R")),
        step("seat", at.does("s", {refused}), at.undoes("S")), step("pay", at.does("p"), at.undoes("P")));
    auto item = at.next();
    auto const ended = travel.resume(item).value();
    CHECK(ended.end == saga_end::compensated);
    CHECK_THAT(ended.reason, entitable_test::ContainsSubstring("no seat"));
    CHECK(at.log == "rsSR");
}

TEST_CASE("saga: the last step and the first step are undone if they fail") {
    for (bool const first : {false, true}) {
        agency at;
        auto const travel =
            saga_for<trip>("travel", step("room", at.does("r", {first ? refused : step_result{}}), at.undoes("R")),
                step("seat", at.does("s", {refused}), at.undoes("S")));
        auto item = at.next();
        CHECK(travel.resume(item).value().end == saga_end::compensated);
        CHECK(at.log == (first ? "rR" : "rsSR"));
    }
}

TEST_CASE("saga: a step that reports no effect is not undone in its first run") {
    SECTION("a later step reports no effect") {
        agency at;
        auto const travel = saga_for<trip>("travel", step("room", at.does("r"), at.undoes("R")),
            step("seat", at.does("s", {nothing_done}), at.undoes("S")));
        auto item = at.next();
        auto const ended = travel.resume(item).value();
        CHECK(ended.end == saga_end::compensated);
        CHECK_THAT(ended.reason, entitable_test::ContainsSubstring("no seat"));
        CHECK(at.log == "rsR");
    }
    SECTION("the first step reports no effect") {
        agency at;
        auto const travel = saga_for<trip>("travel", step("room", at.does("r", {nothing_done}), at.undoes("R")));
        auto item = at.next();
        CHECK(travel.resume(item).value().end == saga_end::compensated);
        CHECK(at.log == "r");
    }
    SECTION("an error with effect::none does not count as a report that nothing was done") {
        agency at;
        error none{error_code::resource_not_found, "no such row"};
        REQUIRE(none.effect == effect::none);
        auto const travel =
            saga_for<trip>("travel", step("room", at.does("r", {step_result{failure{none}}}), at.undoes("R")));
        auto item = at.next();
        CHECK(travel.resume(item).value().end == saga_end::compensated);
        CHECK(at.log == "rR");
    }
    SECTION("a transient error leads to a retry") {
        agency at;
        auto const travel = saga_for<trip>("travel",
            step("room", at.does("r", {no_effect{error_code::deadline_exceeded, "too slow"}}), at.undoes("R")));
        auto item = at.next();
        CHECK(!travel.resume(item));
        CHECK(travel.resume(item).value().end == saga_end::completed);
        CHECK(at.log == "rr");
    }
}

TEST_CASE("saga: a report of no effect is ignored if an earlier run may have had an effect") {
    agency at;
    auto const seat_of = [&](std::vector<step_result> answers) {
        return saga_for<trip>("travel", step("room", at.does("r"), at.undoes("R")),
            step("seat", at.does("s", std::move(answers)), at.undoes("S")));
    };
    auto const room_of = [&](std::vector<step_result> answers) {
        return saga_for<trip>("travel", step("room", at.does("r", std::move(answers)), at.undoes("R")));
    };
    SECTION("a later step ran earlier under the same claim") {
        auto const travel = seat_of({passes, nothing_done});
        auto item = at.next();
        CHECK(!travel.resume(item));
        CHECK(travel.resume(item).value().end == saga_end::compensated);
        CHECK(at.log == "rssSR");
    }
    SECTION("a later step ran earlier in a worker that ended") {
        auto const travel = seat_of({passes, nothing_done});
        {
            auto item = at.next();
            CHECK(!travel.resume(item));
        }
        auto item = at.next();
        CHECK(travel.resume(item).value().end == saga_end::compensated);
        CHECK(at.log == "rssSR");
    }
    SECTION("the first step ran earlier under the same claim") {
        auto const travel = room_of({passes, nothing_done});
        auto item = at.next();
        CHECK(!travel.resume(item));
        auto moved = std::move(item);
        CHECK(travel.resume(moved).value().end == saga_end::compensated);
        CHECK(at.log == "rrR");
    }
    SECTION("the message is delivered a second time") {
        {
            auto item = at.next(); // the first delivery
        }
        auto const travel = room_of({nothing_done});
        auto item = at.next();
        CHECK(travel.resume(item).value().end == saga_end::compensated);
        CHECK(at.log == "rR");
    }
    SECTION("the message was a dead letter") {
        for (int delivery = 0; delivery < 5; ++delivery) { static_cast<void>(at.next()); }
        at.time.advance(31s);
        REQUIRE(!at.queue.claim().value());
        at.queue.requeue(at.queue.dead_letters().value().at(0)).value();
        CHECK(at.shown() == "Queue_Partition=\"ann\" Queue_Row=\"0000000002\" Queue_Step=0 ");
        auto const travel = room_of({nothing_done});
        auto item = at.next();
        CHECK(item.deliveries() == 1);
        CHECK(travel.resume(item).value().end == saga_end::compensated);
        CHECK(at.log == "rR");
    }
    SECTION("the queue has format 1, whose programs release messages without a record") {
        call context;
        row_builder header{"~!queue!", "~!queue!"};
        header.add("Queue_Lanes", value_view{std::int32_t{1}});
        at.store.execute(write_entity{"trips", mutation::replace(header.build(), any_etag)}, context).value();
        auto const travel = room_of({nothing_done});
        table_queue<trip> const old{at.store, "trips", at.queue.options()};
        auto item = *old.claim().value();
        CHECK(travel.resume(item).value().end == saga_end::compensated);
        CHECK(at.log == "rR");
    }
    SECTION("the row cannot be read") {
        auto const travel = room_of({nothing_done});
        auto item = at.next();
        at.stormy.plan({testing::fault::busy(), 1, {}, {}, false});
        CHECK(travel.resume(item)); // the read is sent again
        CHECK(at.log == "r");
    }
}

TEST_CASE("saga: a compensating saga stores the documented rows") {
    agency at;
    auto const travel = saga_for<trip>("travel", step("room", at.does("r"), at.undoes("R", 1)),
        step("letter", at.does("l")), step("seat", at.does("s", {refused}), at.undoes("S", 1)));
    auto item = at.next();
    CHECK(!travel.resume(item));
    std::string const keys = "Queue_Partition=\"ann\" Queue_Row=\"0000000002\" ";
    auto const without_claim = [](std::string text) {
        auto const from = text.find("Queue_Claim");
        return from == std::string::npos ? text : text.erase(from, text.find(' ', from) + 1 - from);
    };
    std::string const why = "OutOfRangeInput (400): no seat";
    CHECK(without_claim(at.shown()) ==
        keys +
            "Queue_VisibleAt=2026-01-01T00:01:01Z Queue_Deliveries=0 Queue_Step=-4 Queue_Steps=-5420046937447556209 " +
            "Queue_Failed=\"2!" + why + "\" Queue_Why=\"" + why + "\" ");
    CHECK(!travel.resume(item));
    CHECK(at.log == "rlsSSR"); // the letter has no undo, and no record of its own
    CHECK(without_claim(at.shown()) ==
        keys +
            "Queue_VisibleAt=2026-01-01T00:01:01Z Queue_Deliveries=0 Queue_Step=-2 Queue_Steps=-5420046937447556209 " +
            "Queue_Failed=\"2!" + why + "\" Queue_Why=\"" + why + "\" ");
    CHECK(travel.resume(item).value().end == saga_end::compensated);
    CHECK(without_claim(at.shown()).find("Queue_Step=-1 ") != std::string::npos);
}

TEST_CASE("stuck sagas: an undo that fails at every delivery is listed and resumed") {
    agency at{2};
    auto const travel = saga_for<trip>("travel", step("room", at.does("r"), at.undoes("R")),
        step("letter", at.does("l")), step("seat", at.does("s"), at.undoes("S", 3, error_code::out_of_range_input)),
        step("pay", at.does("p", {refused}), at.undoes("P")), step("thanks", at.does("t")));
    for (int delivery = 0; delivery < 4; ++delivery) {
        at.time.advance(31s);
        auto item = at.queue.claim().value();
        if (delivery == 3) {
            CHECK(!item); // the second delivery without progress was the last one
            break;
        }
        auto const ended = travel.resume(*item);
        REQUIRE(!ended);
        item->fail(ended.error().to_string(), 31s).value();
    }
    CHECK(at.log == "rlspPSSS");
    auto const all = travel.stuck(at.queue).value();
    REQUIRE(all.size() == 1);
    CHECK(states(all[0].steps) == "room done, letter done, seat being undone, pay undone, thanks not done");
    CHECK(all[0].going_back);
    CHECK(all[0].failed_because == "OutOfRangeInput (400): no seat");
    CHECK_THAT(all[0].letter.reason, entitable_test::ContainsSubstring("no S"));
    CHECK(all[0].letter.message.guest == "ann");

    at.queue.requeue(all[0].letter).value();
    CHECK(travel.stuck(at.queue).value().empty());
    auto item = at.next();
    auto const ended = travel.resume(item).value();
    CHECK(ended.end == saga_end::compensated);
    CHECK(ended.reason == "OutOfRangeInput (400): no seat"); // of the step that failed, not of the undo
    CHECK(at.log == "rlspPSSSSR");
    item.complete().value();
}

TEST_CASE("stuck sagas: a saga without undo becomes a dead letter") {
    agency at{1};
    auto const travel = saga_for<trip>(
        "travel", step("room", at.does("r")), step("seat", at.does("s", {refused})), step("pay", at.does("p")));
    {
        auto item = at.next();
        CHECK(!travel.resume(item));
    }
    // The deliveries count from the last record: the step room.
    {
        auto item = at.next();
        CHECK(travel.stuck(at.queue).value().empty());
    }
    at.time.advance(31s);
    CHECK(!at.queue.claim().value());
    auto const all = travel.stuck(at.queue).value();
    REQUIRE(all.size() == 1);
    CHECK(states(all[0].steps) == "room done, seat unknown, pay not done");
    CHECK(!all[0].going_back);
    CHECK(all[0].failed_because.empty());
    at.queue.requeue(all[0].letter).value();
    auto item = at.next();
    CHECK(travel.resume(item).value().end == saga_end::completed);
    CHECK(at.log == "rssp");
}

TEST_CASE("stuck sagas: deliveries with progress are not counted") {
    agency at{2};
    std::vector<step_result> const once{passes};
    auto const travel =
        saga_for<trip>("travel", step("room", at.does("r", once), at.undoes("R", 1)), step("a", at.does("a", once)),
            step("b", at.does("b", once)), step("seat", at.does("s", {passes, refused}), at.undoes("S", 1)));
    int deliveries = 0;
    for (;; ++deliveries) {
        REQUIRE(deliveries < 20);
        auto item = at.next();
        if (travel.resume(item)) { break; }
    }
    CHECK(deliveries == 6);
    CHECK(at.log == "rraabbssSSRR");
}

TEST_CASE("stuck sagas: each possible record has its documented step state") {
    struct row_of {
        std::int32_t step;
        std::string failed;
        std::string expected;
    };
    // room and seat have an undo, letter and pay do not.
    std::vector<row_of> const rows{
        {0, "", "room unknown, letter not done, seat not done, pay not done"},
        {2, "", "room done, letter done, seat unknown, pay not done"},
        {4, "", "room done, letter done, seat done, pay done"},
        {-4, "3-no", "room done, letter done, seat being undone, pay not done"},
        {-4, "3!no", "room done, letter done, seat being undone, pay unknown"},
        {-4, "2!no", "room done, letter done, seat being undone, pay not done"},
        {-2, "2!no", "room being undone, letter done, seat undone, pay not done"},
        {-2, "2-no", "room being undone, letter done, seat not done, pay not done"},
        {-2, "1!no", "room being undone, letter unknown, seat not done, pay not done"},
        {-2, "1-no", "room being undone, letter not done, seat not done, pay not done"},
        {-1, "3!no", "room undone, letter done, seat undone, pay unknown"},
        {-1, "0!no", "room undone, letter not done, seat not done, pay not done"},
        {-1, "0-no", "room not done, letter not done, seat not done, pay not done"},
        // Programs of earlier versions did not undo the failed step, or store its number; they have records for steps without an undo.
        {-4, "", "room done, letter done, seat being undone, pay unknown"},
        {-3, "", "room done, letter done, seat unknown, pay unknown"},
        {-2, "", "room being undone, letter unknown, seat unknown, pay unknown"},
        {-1, "", "room unknown, letter unknown, seat unknown, pay unknown"},
        // What no program writes.
        {-4, "3", "room done, letter done, seat being undone, pay unknown"},
        {-4, "x!", "room done, letter done, seat being undone, pay unknown"},
        {-4, "99999999999!", "room done, letter done, seat being undone, pay unknown"},
        {-4, "4!no", "room done, letter done, seat being undone, pay unknown"},
        {-4, "-1!no", "room done, letter done, seat being undone, pay unknown"},
        {5, "", ""},
        {-6, "", ""},
    };
    for (row_of const& each : rows) {
        CAPTURE(each.step, each.failed);
        agency at{1};
        auto const travel = saga_for<trip>("travel", step("room", at.does("r"), at.undoes("R")),
            step("letter", at.does("l")), step("seat", at.does("s"), at.undoes("S")), step("pay", at.does("p")));
        auto const names = travel.steps();
        std::vector<property> changes{{"Queue_Step", value_view{each.step}},
            {"Queue_Steps", value_view{detail::steps_hash("travel", names.data(), names.size())}},
            {"Queue_Deliveries", value_view{std::int32_t{1}}}};
        if (!each.failed.empty()) { changes.push_back({"Queue_Failed", value_view{each.failed}}); }
        at.store_as(changes);
        CHECK(!at.queue.claim().value());
        auto const all = travel.stuck(at.queue).value();
        REQUIRE(all.size() == 1);
        CHECK(states(all[0].steps) == each.expected);
        auto const other = saga_for<trip>("other", step("room", at.does("r")));
        auto const of_other = other.stuck(at.queue).value();
        REQUIRE(of_other.size() == 1);
        CHECK(of_other[0].steps.empty());
        at.queue.requeue(all[0].letter).value();
        auto item = at.next();
        auto const ended = travel.resume(item); // a record of an earlier version is also continued
        CHECK(ended.has_value() == !each.expected.empty());
        if (ended && each.step < 0) {
            std::string const undone = each.step <= -4 ? "SR" : each.step <= -2 ? "R" : "";
            CHECK(at.log == undone);
        }
    }
}

TEST_CASE("saga: a message of maximal size can be compensated, however long the error is") {
    std::string const endless(50'000, 'e');
    std::string umlauts;
    for (int number = 0; number < 20'000; ++number) { umlauts += "\xc3\xa4"; }
    for (std::string const& text : {endless, umlauts, "x" + umlauts}) {
        row_builder made{"bob", "0000000003"};
        for (int number = 0; number < 242; ++number) {
            made.add("p" + std::to_string(number), value_view{std::string_view{"x"}});
        }
        agency with{1};
        auto taken = with.next();
        taken.complete().value();
        detail::queue_core const of{with.store, "trips", with.queue.options()};
        of.enqueue(of.plan({.id = "large"}).value(), made.build()).value();
        auto const travel = saga_for<trip>("travel", step("room", with.does("r"), with.undoes("R")),
            step("seat", with.does("s", {failure{error_code::out_of_range_input, text}}), with.undoes("S", 1)));
        {
            auto item = with.next();
            auto const ended = travel.resume(item);
            REQUIRE(!ended);
            item.fail(text).value();
        }
        static_cast<void>(with.next());
        with.time.advance(31s);
        CHECK(!with.queue.claim().value());
        auto const all = travel.stuck(with.queue).value();
        REQUIRE(all.size() == 1);
        CHECK(states(all[0].steps) == "room done, seat being undone");
        CHECK(all[0].failed_because.size() > 1900);
        with.queue.requeue(all[0].letter).value();
        auto item = with.next();
        CHECK(travel.resume(item).value().end == saga_end::compensated);
    }
}
