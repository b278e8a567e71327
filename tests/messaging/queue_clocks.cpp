// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Programs whose clocks are wrong by an hour, and a store whose clock is set back: nothing waits longer than its own delay.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>

#include <map>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

struct letter {
    std::string to;
    std::int32_t number{};
};
ENTITABLE(letter, partition_key(to), row_key(number), properties())

/// The clock of a program, which is wrong.
class wrong_clock final : public entitable::clock {
public:
    wrong_clock(testing::manual_clock& right, std::chrono::nanoseconds by) : right_(right), by_(by) {}
    date_time now() noexcept override { return {right_.now().ticks + by_.count() / 100}; }
    steady_time steady() noexcept override { return right_.steady(); }
    void wait_until(steady_time time) noexcept override { right_.wait_until(time); }

private:
    testing::manual_clock& right_;
    std::chrono::nanoseconds by_;
};

/// One lane, and a claim that holds for an hour: what is not seen at once is not seen for long.
struct post_office {
    testing::manual_clock time;
    memory_backend store = [&] {
        local_options options;
        options.time = &time;
        return memory_backend{options};
    }();
    [[nodiscard]] table_queue<letter> opened(entitable::clock& with) const {
        queue_options how;
        how.lanes = 1;
        how.visibility = 1h;
        how.time = &with;
        return table_queue<letter>{store, "letters", how};
    }
};

/// How long it takes until a busy worker has the letter to `whom`, while others are posted all the time.
std::chrono::nanoseconds waits_for(
    post_office& at, table_queue<letter> const& worker, table_queue<letter> const& others, std::string_view whom) {
    date_time const begin = at.time.now();
    for (std::int32_t number = 0; number < 40'000; ++number) {
        at.time.advance(50ms);
        others.enqueue({"others", number}).value();
        others.enqueue({"others", -number}).value(); // more than it can do
        auto item = worker.claim().value();
        if (item && item->message().to == whom) {
            item->complete().value();
            return std::chrono::nanoseconds{(at.time.now().ticks - begin.ticks) * 100};
        }
    }
    return 1h;
}

} // namespace

TEST_CASE("queue clocks: a producer and a worker may have clocks that are wrong by an hour") {
    for (auto const of_producer : {-1h, 0h, 1h}) {
        for (auto const of_worker : {-1h, 0h, 1h}) {
            CAPTURE(of_producer.count(), of_worker.count());
            post_office in;
            wrong_clock slow{in.time, of_producer};
            wrong_clock wrong{in.time, of_worker};
            in.opened(in.time).create().value();
            auto const producer = in.opened(slow);
            auto const worker = in.opened(wrong);
            auto const others = in.opened(in.time);
            // Letters that are older stand before it: one is worked off each 50 ms, and two are posted.
            producer.enqueue({"ann", 1}).value();
            CHECK(waits_for(in, worker, others, "ann") <= 100ms);
            std::size_t const before = others.approximate_size().value().ready;
            producer.enqueue({"ann", 2}).value();
            CHECK(waits_for(in, worker, others, "ann") <= std::chrono::milliseconds{50 * (before + 2)});
            producer.enqueue_all(std::vector{letter{"bob", 1}}).value();
            CHECK(waits_for(in, worker, others, "bob") < 1min);
            // With a delay: not before it, and in its turn then.
            producer.enqueue({"eve", 1}, {.delay = 20s}).value();
            auto const late = waits_for(in, worker, others, "eve");
            CHECK(late >= 20s);
            CHECK(late < 2min);
            table<letter> const table_of{in.store, "people"};
            table_of.create().value();
            auto changes = table_of.batch();
            changes.insert({"york", 1});
            producer.outbox(changes, {"dan", 1});
            changes.submit().value();
            CHECK(producer.relay(in.store, "people").value() == 1);
            CHECK(waits_for(in, worker, others, "dan") < 3min);
        }
    }
}

TEST_CASE("queue clocks: an idle worker gets new messages immediately") {
    for (auto const of_producer : {-1h, 0h, 1h}) {
        for (auto const of_worker : {-1h, 0h, 1h}) {
            CAPTURE(of_producer.count(), of_worker.count());
            post_office in;
            wrong_clock slow{in.time, of_producer};
            wrong_clock wrong{in.time, of_worker};
            in.opened(in.time).create().value();
            auto const producer = in.opened(slow);
            auto const worker = in.opened(wrong);
            for (std::int32_t number = 0; number < 50; ++number) {
                in.time.advance(number % 3 == 0 ? 7s : 1ms);
                CHECK_FALSE(worker.claim().value());
                producer.enqueue({"ann", number}).value();
                auto item = worker.claim().value();
                REQUIRE(item);
                if (number % 2 == 0) {
                    CHECK(item->release());
                    item = worker.claim().value();
                    REQUIRE(item);
                }
                if (number % 5 == 0) {
                    CHECK(item->fail("no stamp", 10s));
                    CHECK_FALSE(worker.claim().value());
                    in.time.advance(9s);
                    CHECK_FALSE(worker.claim().value());
                    in.time.advance(1s);
                    item = worker.claim().value();
                    REQUIRE(item);
                }
                CHECK(item->complete());
            }
        }
    }
}

TEST_CASE("queue clocks: the clock of the store is set back, or forward") {
    for (auto const by : {-1h, 1h}) {
        CAPTURE(by.count());
        post_office in;
        in.opened(in.time).create().value();
        auto const queue = in.opened(in.time);
        queue.enqueue({"ann", 1}).value();
        auto const worker = in.opened(in.time);
        CHECK_FALSE(worker.claim_some(1).value().empty());
        queue.enqueue({"ann", 2}).value();
        in.time.set({in.time.now().ticks + std::chrono::nanoseconds{by}.count() / 100});
        queue.enqueue({"ann", 3}).value();
        std::map<std::int32_t, int> got;
        for (int second = 0; second < 12; ++second) { // rows ahead are looked at each ten seconds
            while (auto item = worker.claim().value()) {
                ++got[item->message().number];
                CHECK(item->complete());
            }
            in.time.advance(1s);
        }
        CHECK(got[2] == 1);
        CHECK(got[3] == 1);
        CHECK(got[1] == (by > 0h ? 1 : 0)); // its claim is over by the store's clock
    }
}

TEST_CASE("queue clocks: messages by earlier versions are claimed, even if their clocks were an hour fast or slow") {
    for (auto const by : {-1h, 1h}) {
        CAPTURE(by.count());
        post_office in;
        in.opened(in.time).create().value();
        wrong_clock wrong{in.time, by};
        for (std::int32_t number = 0; number < 300; ++number) {
            std::string const id = "old" + std::to_string(number);
            std::string const key = detail::message_key(wrong.now(), id);
            row_builder identity{"lane000", "~!id!" + id};
            identity.add("Queue_Key", value_view{key});
            auto const message = to_row(letter{"ann", number}).value();
            call own;
            in.store
                .execute(transact{"letters",
                             {mutation::insert(identity.build()),
                                 mutation::insert(detail::message_row("lane000", key, message).build())}},
                    own)
                .value();
        }
        auto const worker = in.opened(in.time);
        int got = 0;
        for (int second = 0; second < 12; ++second) {
            while (auto item = worker.claim().value()) {
                ++got;
                CHECK(item->complete());
            }
            in.time.advance(1s);
        }
        CHECK(got == 300);
    }
}

TEST_CASE("queue clocks: a machine that slept asks the store before it promises a delay") {
    post_office in;
    in.opened(in.time).create().value();
    testing::manual_clock own;
    own.set(in.time.now());
    auto const queue = in.opened(own);
    queue.enqueue({"ann", 1}).value();
    in.time.advance(10h);
    own.set({own.now().ticks + std::chrono::nanoseconds{10h}.count() / 100}); // its monotonic clock stood still
    queue.enqueue({"ann", 2}, {.delay = 1h}).value();
    auto const worker = in.opened(in.time);
    CHECK(worker.claim().value()->message().number == 1);
    CHECK_FALSE(worker.claim().value());
    in.time.advance(59min);
    CHECK_FALSE(worker.claim().value());
    in.time.advance(1min);
    CHECK(worker.claim_some(2).value().size() == 2); // and the first one, whose claim is over
}
