// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Steps that are undone, rows that change with the advance of a saga, programs with different steps; and queues behind a fork.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>

#include <set>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

struct booking {
    std::string guest;
    std::int32_t nights{};
};
ENTITABLE(booking, partition_key(guest), row_key(nights), properties())

struct hotel {
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
    table_queue<booking> queue{stormy, "bookings", how};
    std::string log;

    hotel() {
        queue.create().value();
        queue.enqueue({"ann", 2}).value();
    }
    [[nodiscard]] auto noted(std::string what, int failures = 0, error_code why = error_code::out_of_range_input) {
        return [this, what, why, left = std::make_shared<int>(failures)](booking const&) -> result<void> {
            log += what;
            if (*left > 0) {
                --*left;
                log += "!";
                return failure{why, "no " + what};
            }
            return {};
        };
    }
};

} // namespace

TEST_CASE("saga: a permanent failure of a step undoes the earlier steps in reverse order") {
    hotel in;
    auto const travel = saga_for<booking>("travel", step("room", in.noted("r"), in.noted("R")),
        step("letter", in.noted("l")), step("train", in.noted("t"), in.noted("T")), step("pay", in.noted("p", 1)));
    auto item = *in.queue.claim().value();
    auto const ended = travel.resume(item).value();
    CHECK(ended.end == saga_end::compensated);
    CHECK_THAT(ended.reason, entitable_test::ContainsSubstring("no p"));
    CHECK(in.log == "rltp!TR");
    CHECK(travel.resume(item).value().end == saga_end::compensated); // asked again it tells the same, and does nothing
    CHECK(in.log == "rltp!TR");
}

TEST_CASE("saga: another worker continues the undo, and transient errors undo nothing") {
    hotel in;
    auto const travel = saga_for<booking>("travel", step("room", in.noted("r"), in.noted("R")),
        step("train", in.noted("t", 1, error_code::update_condition_not_satisfied),
            in.noted("T", 1, error_code::deadline_exceeded)),
        step("pay", in.noted("p", 1)));
    {
        auto first = *in.queue.claim().value();
        CHECK(travel.resume(first).error().code == error_code::update_condition_not_satisfied);
        CHECK(in.log == "rt!");
        CHECK(travel.resume(first).error().code == error_code::deadline_exceeded); // of the undoing
        CHECK(in.log == "rt!tp!T!");
    } // ends here
    in.time.advance(31s);
    auto second = *in.queue.claim().value();
    auto const ended = travel.resume(second).value();
    CHECK(ended.end == saga_end::compensated);
    CHECK_THAT(ended.reason, entitable_test::ContainsSubstring("no p"));
    CHECK(in.log == "rt!tp!T!TR");
    second.complete().value();
    CHECK(!in.queue.claim().value());
}

TEST_CASE("saga: a failure is reported if there is nothing to undo, and a program with different steps is refused") {
    hotel in;
    auto item = *in.queue.claim().value();
    auto const plain = saga_for<booking>("travel", step("room", in.noted("r")), step("pay", in.noted("p", 1)));
    CHECK(plain.resume(item).error().code == error_code::out_of_range_input);
    auto const other = saga_for<booking>("travel", step("room", in.noted("r")), step("bill", in.noted("b")));
    auto const refused = other.resume(item);
    REQUIRE(!refused);
    CHECK(refused.error().code == error_code::saga_differs);
    CHECK(in.log == "rp!");
    CHECK(plain.resume(item).value().end == saga_end::completed);
}

TEST_CASE("saga: rows of the lane change exactly once with the progress, even if answers are lost") {
    using testing::fault;
    for (std::size_t number = 1; number <= 8; ++number) {
        for (fault const& each : {fault::lost_before(), fault::lost_after(), fault::late(), fault::busy()}) {
            hotel in;
            auto item = *in.queue.claim().value();
            auto const night = [](std::string_view which) {
                return [which](booking const&, lane_changes& changes) -> result<void> {
                    changes.add(mutation::insert(row_builder{changes.partition_key(), which}.build()));
                    return {};
                };
            };
            auto const travel = saga_for<booking>(
                "travel", step("one", night("night 1")), step("two", night("night 2")), step("three", in.noted("x")));
            in.stormy.plan({each, number, {}, {}, false});
            CAPTURE(number, each.name);
            CHECK(travel.resume(item).value().end == saga_end::completed); // else a row would be there already
            CHECK(in.log == "x");
        }
    }
}

TEST_CASE("forked: a parent and its children create different message and claim ids") {
    memory_backend const store;
    table_queue<booking> const queue{store, "bookings"};
    queue.create().value();
    struct ids {
        char of_child[2][33];
    };
    entitable_test::shared_memory<ids> const seen;
    for (auto& place : seen->of_child) {
        entitable_test::child_process child{[&] {
            queue.enqueue({"ann", 1}).value().id.copy(place, 32);
            return true;
        }};
        REQUIRE(child.succeeds());
    }
    std::set<std::string> const all{seen->of_child[0], seen->of_child[1], queue.enqueue({"ann", 1}).value().id};
    CHECK(all.size() == 3);
}
