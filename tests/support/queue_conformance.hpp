// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The required behaviour of each `message_queue`, wherever it is stored: one suite for all of them. If they differ in a property
/// of their own (`keeps_ids`), or in an argument of the suite, both cases are here side by side.

#include <entitable/entitable.hpp>
#include <entitable/work/messaging/message_queue.hpp>

#include <support/catch.hpp>
#include <support/wrong_clock.hpp>

#include <functional>
#include <limits>
#include <set>

namespace entitable_test {

/// A message with values of many kinds.
struct errand {
    std::string town;
    std::int32_t number{};
    std::string what{};
    std::optional<double> price{};
    std::int64_t large{};
    entitable::date_time due{};
    bool urgent{};

    friend bool operator==(errand const&, errand const&) = default;
};
ENTITABLE(errand, partition_key(town), row_key(number), properties(what, price, large, due, urgent))

/// A new, empty queue whose claims last 4 seconds, with at most 3 deliveries.
template <class Q>
struct queue_world {
    Q queue;
    std::function<void(std::chrono::nanoseconds)> pass;   ///< lets time pass
    std::function<std::string(Q const&)> one_dead_letter; ///< the id and the reason of the only dead letter
    entitable::clock* time{};                             ///< of the store; null if its time cannot be set
    std::function<Q(entitable::clock&)> with_clock{};     ///< the same queue for a program with a clock of its own
};

/// Runs the suite; each part with a setup of its own.
template <class Q>
void check_message_queue(std::function<queue_world<Q>()> const& make) {
    using namespace entitable;
    using namespace std::chrono_literals;
    static_assert(message_queue<Q, errand>);
    auto const none = [](Q const& queue) { return !queue.claim().value().has_value(); };
    SECTION("a message is returned once, as it was sent, and can be completed") {
        auto const in = make();
        for (std::string const& text : {std::string{"<a href=\"x\">&amp;'</a>\r\n\t"}, std::string{},
                 std::string{"\x01\x7F\xC2\x80\xE2\x80\xA8\xEF\xBF\xBE\xEF\xBF\xBF\xF0\x9F\x98\x80 "},
                 std::string{"a\0b", 3}, std::string{"]]>--><!-- ~!q! %41 + %"}, std::string(8000, 'x')}) {
            errand const sent{"K\xC3\xB6ln's", -7, text, std::numeric_limits<double>::infinity(),
                (std::numeric_limits<std::int64_t>::max)(), date_time::from_date(2026, 3, 4), true};
            auto const put = in.queue.enqueue(sent).value();
            CHECK_FALSE(put.already_there);
            auto item = in.queue.claim().value();
            REQUIRE(item);
            CHECK((item->message() == sent));
            CHECK(item->id() == put.id);
            CHECK(item->deliveries() == 1);
            CHECK(item->remaining() > 1s);
            CHECK(item->remaining() <= 4s);
            CHECK(none(in.queue));
            CHECK(item->complete());
            CHECK(none(in.queue));
        }
    }
    SECTION("a claim whose stop token is set returns nothing, and the claimed job is completed") {
        auto const in = make();
        in.queue.enqueue({"Ulm", 1}).value();
        in.queue.enqueue({"Ulm", 2}).value();
        auto first = *in.queue.claim().value();
        cancellation_source stop;
        auto second = in.queue.claim({.wait = no_timeout, .stop = stop.token()}).value();
        REQUIRE(second);
        stop.cancel();
        CHECK(second->release());
        CHECK_FALSE(in.queue.claim({.wait = no_timeout, .stop = stop.token()}).value());
        CHECK(first.complete());
        CHECK(in.queue.claim().value()->complete());
    }
    SECTION("after a lease has expired another worker can claim the message, and the first worker has lost it") {
        auto const in = make();
        in.queue.enqueue({"Ulm", 1}).value();
        auto first = *in.queue.claim().value();
        in.pass(5s);
        CHECK(first.remaining() < 0s);
        auto second = *in.queue.claim().value();
        CHECK(second.deliveries() == 2);
        CHECK(second.id() == first.id());
        CHECK(first.renew(4s).error().code == error_code::receipt_lost);
        CHECK(first.complete().error().code == error_code::invalid_input); // the receipt is known to be lost
        CHECK(second.complete());
        CHECK(none(in.queue));
    }
    SECTION("an expired lease can still be used as long as no other worker has claimed the message") {
        auto const in = make();
        in.queue.enqueue({"Ulm", 1}).value();
        auto late = *in.queue.claim().value();
        in.pass(5s);
        CHECK(late.complete());
        CHECK(none(in.queue));
    }
    SECTION("completing or releasing a message that another worker has claimed changes nothing") {
        auto const in = make();
        for (bool const gives_back : {false, true}) {
            in.queue.enqueue({"Ulm", 1}).value();
            auto first = *in.queue.claim().value();
            in.pass(5s);
            auto second = *in.queue.claim().value();
            CHECK((gives_back ? first.release(0s) : first.complete()).error().code == error_code::receipt_lost);
            CHECK(none(in.queue));
            CHECK(second.complete());
        }
        CHECK(none(in.queue));
    }
    SECTION("renewing extends a lease from the current time") {
        auto const in = make();
        in.queue.enqueue({"Ulm", 1}).value();
        auto item = *in.queue.claim().value();
        CHECK(item.renew(8s));
        CHECK(item.remaining() > 5s);
        in.pass(5s);
        CHECK(none(in.queue));
        CHECK(item.renew(2s)); // also for a shorter time
        in.pass(3s);
        auto other = *in.queue.claim().value();
        CHECK(other.deliveries() == 2);
        CHECK(item.complete().error().code == error_code::receipt_lost);
        CHECK(other.complete());
    }
    SECTION("a released message is delivered at once or after a delay") {
        auto const in = make();
        in.queue.enqueue({"Ulm", 1}).value();
        auto item = *in.queue.claim().value();
        CHECK(item.release(0s));
        CHECK(item.release(0s).error().code == error_code::invalid_input);
        CHECK(item.renew(4s).error().code == error_code::invalid_input);
        CHECK(item.complete().error().code == error_code::invalid_input);
        item = *in.queue.claim().value();
        CHECK(item.release(3s));
        CHECK(none(in.queue));
        in.pass(4s);
        auto again = in.queue.claim().value();
        REQUIRE(again);
        CHECK(again->deliveries() == 3);
        CHECK(again->complete());
    }
    SECTION("a message that was delivered three times becomes a dead letter with the last error") {
        auto const in = make();
        auto const id = in.queue.enqueue({"Ulm", 1}).value().id;
        for (std::uint32_t delivery = 1; delivery <= 3; ++delivery) {
            auto item = in.queue.claim().value();
            REQUIRE(item);
            CHECK(item->deliveries() == delivery);
            CHECK(item->id() == id);
            CHECK(item->fail("no <way> " + std::to_string(delivery)));
        }
        CHECK(none(in.queue));
        CHECK(none(in.queue)); // makes it a dead letter, if the first one was too late with that
        CHECK(in.one_dead_letter(in.queue) == id + ": no <way> 3");
        in.pass(5s);
        CHECK(none(in.queue));
    }
    SECTION("a receipt that was moved from cannot be used") {
        auto const in = make();
        in.queue.enqueue({"Ulm", 1}).value();
        auto first = *in.queue.claim().value();
        auto second = std::move(first);
        CHECK(first.complete().error().code == error_code::invalid_input); // NOLINT: tests the moved-from state
        CHECK(second.complete());
    }
    SECTION("a delayed message is invisible to every worker") {
        auto const in = make();
        in.queue.enqueue({"Ulm", 1}, {.delay = 3s}).value();
        CHECK(none(in.queue));
        in.pass(4s);
        CHECK(in.queue.claim().value()->complete());
    }
    SECTION("a second message with the same id is refused if the queue retains ids") {
        auto const in = make();
        CHECK(in.queue.enqueue({"Ulm", 1}, {.id = "x"}).value().id == "x");
        bool const refused = in.queue.enqueue({"Ulm", 2}, {.id = "x"}).value().already_there;
        CHECK(refused == Q::keeps_ids);
        auto first = *in.queue.claim().value();
        CHECK(first.id() == "x");
        auto second = in.queue.claim().value();
        CHECK(second.has_value() != Q::keeps_ids);
        if (second) {
            CHECK(second->id() == "x");
            CHECK(second->complete());
        }
        CHECK(first.complete());
        CHECK(in.queue.enqueue({"Ulm", 3}, {.id = "x"}).value().already_there == Q::keeps_ids); // also if completed
    }
    SECTION("a claim waits for a new message") {
        auto const in = make();
        in.queue.enqueue({"Ulm", 1}, {.delay = 2s}).value();
        auto item = in.queue.claim({.wait = 60s}).value();
        REQUIRE(item);
        CHECK(item->complete());
        CHECK_FALSE(in.queue.claim({.wait = 1s}).value().has_value());
    }
    SECTION("several messages are claimed at once, each by one worker") {
        auto const in = make();
        for (std::int32_t number = 0; number < 5; ++number) { in.queue.enqueue({"Ulm", number}).value(); }
        std::int32_t sum = 0;
        for (;;) {
            auto some = in.queue.claim_some(3).value();
            if (some.empty()) { break; }
            CHECK(some.size() <= 3);
            for (auto& each : some) {
                sum += 1 << each.message().number;
                CHECK(each.complete());
            }
        }
        CHECK(sum == 31);
    }
    SECTION("with clocks that are wrong by an hour, no message waits longer than its delay and visibility") {
        if (make().time == nullptr) { return; } // minutes of real time
        for (std::chrono::hours const of_producer : {-1h, 0h, 1h}) {
            for (std::chrono::hours const of_worker : {-1h, 0h, 1h}) {
                auto const in = make();
                clock_off_by slow{*in.time, of_producer};
                clock_off_by fast{*in.time, of_worker};
                Q const producer = in.with_clock(slow);
                Q const worker = in.with_clock(fast);
                CAPTURE(of_producer.count(), of_worker.count());
                CHECK(none(worker));
                auto const at_once = producer.enqueue({"Ulm", 1}).value().id;
                {
                    auto item = worker.claim().value();
                    REQUIRE(item);
                    CHECK(item->id() == at_once);
                    CHECK(item->remaining() > 1s);
                    CHECK(item->remaining() <= 4s);
                } // and ends
                auto const delayed = producer.enqueue({"Ulm", 2}, {.delay = 20s}).value().id;
                CHECK(none(worker));
                in.pass(5s); // the claim is over
                auto again = worker.claim().value();
                REQUIRE(again);
                CHECK(again->id() == at_once);
                CHECK(again->release(3s));
                CHECK(none(worker));
                in.pass(4s);
                again = worker.claim().value();
                REQUIRE(again);
                CHECK(again->id() == at_once);
                CHECK(again->deliveries() == 3);
                CHECK(again->complete());
                CHECK(none(worker));
                in.pass(12s);
                again = worker.claim().value();
                REQUIRE(again);
                CHECK(again->id() == delayed);
                CHECK(again->complete());
            }
        }
    }
    SECTION("a busy worker gets the oldest message first, despite newer messages and wrong clocks") {
        auto const in = make();
        if (in.time == nullptr) { return; }
        clock_off_by slow{*in.time, -1h};
        clock_off_by fast{*in.time, 1h};
        auto const id = in.with_clock(slow).enqueue({"Ulm", 0}).value().id;
        Q const others = in.with_clock(fast);
        bool found = false;
        for (std::int32_t number = 1; number < 40 && !found; ++number) {
            others.enqueue({"Ulm", number}).value();
            in.pass(100ms);
            auto item = in.queue.claim().value();
            REQUIRE(item);
            found = item->id() == id;
            CHECK(item->complete());
        }
        CHECK(found); // within four seconds
    }
    SECTION("generated ids are unique, and equal the ids of the claims") {
        auto const in = make();
        std::set<std::string> given;
        for (std::int32_t number = 0; number < 6; ++number) {
            given.insert(in.queue.enqueue({"Ulm", number}).value().id);
        }
        if constexpr (requires(std::vector<errand> const& many) { in.queue.enqueue_all(many); }) {
            for (auto const& each : in.queue.enqueue_all(std::vector<errand>(5, errand{"Ulm", 7})).value()) {
                CHECK_FALSE(each.already_there);
                given.insert(each.id);
            }
            CHECK(given.size() == 11);
        }
        std::set<std::string> claimed;
        while (auto item = in.queue.claim().value()) {
            claimed.emplace(item->id());
            CHECK(item->complete());
        }
        CHECK(claimed == given);
    }
    if constexpr (requires(std::vector<errand> const& many) { make().queue.enqueue_all(many); }) {
        SECTION("messages of a group are completed together, completed alone or released, each once") {
            auto const in = make();
            in.queue.enqueue_all(std::vector<errand>(9, errand{"Ulm", 7})).value();
            auto some = in.queue.claim_some(9).value();
            REQUIRE(some.size() == 9);
            std::string const lost{some[0].id()};
            CHECK(some[0].release());
            CHECK(some[1].complete());
            auto const rest = std::span{some}.subspan(2);
            CHECK(in.queue.complete_all(rest).value() == 7);
            auto item = in.queue.claim().value();
            REQUIRE(item);
            CHECK(item->id() == lost);
            CHECK(item->deliveries() == 2);
            CHECK(item->complete());
            CHECK(none(in.queue));
            in.pass(5s);
            CHECK(none(in.queue));
        }
    }
    if constexpr (requires { make().queue.requeue(make().queue.dead_letters().value()[0]); }) {
        SECTION("a requeued dead letter is delivered as if for the first time, and a purged one is never delivered") {
            auto const in = make();
            for (bool const back : {true, false}) {
                auto const id = in.queue.enqueue({"Ulm", 1}).value().id;
                for (int delivery = 0; delivery < 3; ++delivery) { CHECK(in.queue.claim().value()->fail("no")); }
                CHECK(none(in.queue));
                CHECK(none(in.queue)); // moves it, if the first one was too late with that
                auto const dead = in.queue.dead_letters().value();
                REQUIRE(dead.size() == 1);
                CHECK(dead[0].id == id);
                auto const ended = back ? in.queue.requeue(dead[0]) : in.queue.purge(dead[0]);
                CHECK((ended ? std::string{} : ended.error().to_string()) == "");
                CHECK((back ? in.queue.requeue(dead[0]) : in.queue.purge(dead[0])).error().code ==
                    error_code::receipt_lost);
                auto item = in.queue.claim().value();
                CHECK(item.has_value() == back);
                if (item) {
                    CHECK(item->deliveries() == 1);
                    CHECK(item->complete());
                }
                CHECK(in.queue.enqueue({"Ulm", 1}, {.delay = {}, .id = id}).value().already_there);
            }
        }
    }
    SECTION("a waiting claim ends when its stop token is set, and the next claim finds new messages") {
        auto const in = make();
        cancellation_source stop;
        CHECK_FALSE(in.queue.claim({.wait = 2s, .stop = stop.token()}).value());
        in.queue.enqueue({"Ulm", 1}, {.delay = 2s}).value();
        stop.cancel();
        CHECK_FALSE(in.queue.claim({.wait = no_timeout, .stop = stop.token()}).value());
        CHECK(in.queue.claim({.wait = 60s}).value()->complete());
    }
}

} // namespace entitable_test
