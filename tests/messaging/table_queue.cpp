// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What a queue does, seen from outside; its stored form; and workers on threads.

#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/spy.hpp>
#include <entitable/testing/verdict.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>

#include <map>
#include <mutex>
#include <set>
#include <thread>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

struct errand {
    std::string town;
    std::int32_t number{};
    std::string what{};
    std::optional<double> price{};
};
ENTITABLE(errand, partition_key(town), row_key(number), properties(what, price))
static_assert(message_queue<table_queue<errand>, errand>);

struct fixture {
    testing::manual_clock time;
    memory_backend store = [&] {
        local_options options;
        options.time = &time;
        return memory_backend{options};
    }();
    queue_options how = [&] {
        queue_options made;
        made.lanes = 2;
        made.time = &time;
        made.seed = 5;
        return made;
    }();
    table_queue<errand> queue{store, "errands", how};

    fixture() { queue.create().value(); }
};

} // namespace

TEST_CASE("table_queue: messages are delivered once, in order and unchanged") {
    fixture f;
    f.how.lanes = 1;
    table_queue<errand> const queue{f.store, "ordered", f.how};
    CHECK(queue.create().value());
    CHECK_FALSE(queue.create().value());
    for (std::int32_t number = 0; number < 100; ++number) {
        f.time.advance(1ms);
        queue.enqueue({"York", number, "buy", number % 2 == 0 ? std::optional{1.5} : std::nullopt}).value();
    }
    CHECK(queue.approximate_size().value().ready == 100);
    CHECK(queue.oldest_age().value() == 99ms);
    CHECK(queue.peek(3).value()[2].number == 2);
    std::int32_t next = 0;
    while (auto item = queue.claim().value()) {
        CHECK(item->message().town == "York");
        CHECK(item->message().number == next);
        CHECK(item->message().what == "buy");
        CHECK(item->message().price.has_value() == (next % 2 == 0));
        CHECK(item->deliveries() == 1);
        CHECK(item->remaining() == 29s);
        CHECK(item->complete());
        CHECK(item->complete().error().code == error_code::invalid_input); // once
        ++next;
    }
    CHECK(next == 100);
    auto const size = queue.approximate_size().value();
    CHECK(size.ready + size.held + size.dead_letters == 0);
    CHECK_FALSE(queue.oldest_age().value());
}

TEST_CASE("table_queue: an id is enqueued once, completed or not, until it is forgotten") {
    fixture f;
    CHECK_FALSE(f.queue.enqueue({"York", 1}, {.id = "one"}).value().already_there);
    CHECK(f.queue.enqueue({"York", 2}, {.id = "one"}).value().already_there);
    auto item = f.queue.claim().value();
    REQUIRE(item);
    CHECK(item->id() == "one");
    CHECK(item->message().number == 1);
    CHECK(f.queue.enqueue({"York", 1}, {.id = "one"}).value().already_there);
    CHECK(item->complete());
    CHECK(f.queue.enqueue({"York", 1}, {.id = "one"}).value().already_there);
    CHECK_FALSE(f.queue.claim().value());
    CHECK(f.queue.sweep().value() == 0);
    f.time.advance(25h);
    CHECK(f.queue.sweep().value() == 1);
    CHECK_FALSE(f.queue.enqueue({"York", 1}, {.id = "one"}).value().already_there);
    f.time.advance(25h);
    CHECK(f.queue.sweep().value() == 0); // not done
}

TEST_CASE("table_queue: a claim waits for longer than one request may take") {
    fixture f;
    f.how.calls.timeout = 5s;
    table_queue<errand> const queue{f.store, "errands", f.how};
    queue.enqueue({"York", 1}, {.delay = 20s}).value();
    auto const item = queue.claim({.wait = 1min});
    REQUIRE(item);
    CHECK(item->has_value());
    queue.enqueue({"York", 2}, {.delay = 20s}).value();
    auto const next = queue.claim({.wait = no_timeout}); // waits without a limit
    REQUIRE(next);
    CHECK(next->has_value());
}

TEST_CASE("table_queue: a claim can expire and can be released, delayed or renewed") {
    fixture f;
    f.queue.enqueue({"York", 1}, {.delay = 10s}).value();
    CHECK_FALSE(f.queue.claim().value());
    auto item = f.queue.claim({.wait = 1min}).value(); // the manual clock goes on to when it can be had
    REQUIRE(item);
    CHECK_FALSE(f.queue.claim().value());
    CHECK(item->renew(50s));
    f.time.advance(49s);
    CHECK_FALSE(f.queue.claim().value());
    CHECK(item->remaining() == 0s);
    f.time.advance(1s);
    auto second = f.queue.claim().value();
    REQUIRE(second);
    CHECK(second->deliveries() == 2);
    CHECK(item->complete().error().code == error_code::receipt_lost);
    CHECK(item->complete().error().code == error_code::invalid_input);
    CHECK(second->release(5s));
    CHECK_FALSE(f.queue.claim().value());
    f.time.advance(5s);
    auto third = f.queue.claim().value();
    REQUIRE(third);
    CHECK(third->fail("no money"));
    auto fourth = f.queue.claim().value();
    REQUIRE(fourth);
    auto moved = std::move(*fourth);
    CHECK(fourth->complete().error().code == error_code::invalid_input);
    CHECK(moved.complete());
}

TEST_CASE("table_queue: a message becomes a dead letter after exactly max_deliveries deliveries") {
    fixture f;
    f.queue.enqueue({"York", 1, "fly"}, {.id = "x"}).value();
    int deliveries = 0;
    while (auto item = f.queue.claim().value()) {
        ++deliveries;
        CHECK(item->fail("cannot fly"));
    }
    CHECK(deliveries == 5);
    auto const dead = f.queue.dead_letters().value();
    REQUIRE(dead.size() == 1);
    CHECK(dead[0].id == "x");
    CHECK(dead[0].reason == "cannot fly");
    CHECK(dead[0].deliveries == 5);
    CHECK(dead[0].message.what == "fly");
    CHECK(f.queue.requeue(dead[0]));
    CHECK(f.queue.requeue(dead[0]).error().code == error_code::receipt_lost);
    CHECK(f.queue.purge(dead[0]).error().code == error_code::receipt_lost);
    auto item = f.queue.claim().value();
    REQUIRE(item);
    CHECK(item->deliveries() == 1);
    CHECK(item->message().what == "fly");
    for (int time = 0; time < 4; ++time) {
        CHECK(item->release());
        item = f.queue.claim().value();
        REQUIRE(item);
    }
    CHECK(item->release());
    CHECK_FALSE(f.queue.claim().value());
    CHECK(f.queue.purge(f.queue.dead_letters().value().at(0)));
    CHECK(f.queue.dead_letters().value().empty());
    CHECK(f.queue.enqueue({"York", 1, "fly"}, {.id = "x"}).value().already_there);
}

TEST_CASE("table_queue: claim_some() claims and completes groups of messages, each message once") {
    fixture f;
    std::vector<errand> const many(70, errand{"York", 1});
    auto const put = f.queue.enqueue_all(many).value();
    CHECK(put.size() == 70);
    std::set<std::string> ids;
    while (true) {
        auto items = f.queue.claim_some(32).value();
        if (items.empty()) { break; }
        CHECK(items.size() <= 32);
        for (auto& each : items) {
            CHECK(ids.insert(std::string{each.id()}).second);
            CHECK(each.complete());
        }
    }
    CHECK(ids.size() == 70);
}

TEST_CASE("table_queue: groups are completed in one transaction, without lost messages") {
    using testing::fault;
    for (fault const& each : {fault::lost_before(), fault::lost_after(), fault::late(), fault::busy()}) {
        for (bool const one_is_lost : {false, true}) {
            fixture f;
            testing::faulty<memory_backend> const stormy{f.store, {.time = &f.time}};
            table_queue<errand> const queue{stormy, "errands", f.how};
            queue.enqueue_all(std::vector<errand>(20, errand{"York", 1})).value();
            auto items = queue.claim_some(20).value();
            REQUIRE(items.size() == 20);
            if (one_is_lost) {
                CHECK(items[7].renew(2s));
                f.time.advance(3s);
                auto other = f.queue.claim().value();
                REQUIRE(other);
                CHECK(other->id() == items[7].id());
                CHECK(other->complete());
            }
            stormy.plan({each, 1, "transact", {}, false});
            CAPTURE(each.name, one_is_lost);
            CHECK(queue.complete_all(items).value() == (one_is_lost ? 19 : 20));
            auto const size = queue.approximate_size().value();
            CHECK(size.ready + size.held + size.dead_letters == 0);
            CHECK(items[3].complete().error().code == error_code::invalid_input);
            CHECK(queue.complete_all(items).error().code == error_code::invalid_input);
            CHECK(queue.complete_all({}).value() == 0);
        }
    }
    fixture f;
    testing::spy<memory_backend> const seen{f.store};
    table_queue<errand> const queue{seen, "errands", f.how};
    queue.enqueue_all(std::vector<errand>(32, errand{"York", 1})).value();
    auto items = queue.claim_some(32).value();
    auto const before = seen.seen().size();
    CHECK(queue.complete_all(items).value() == 32);
    CHECK(seen.seen().size() == before + 1);
}

TEST_CASE("table_queue: a lane whose first message is claimed by other workers is not read for each claim") {
    fixture f;
    f.how.lanes = 1;
    table_queue<errand> const queue{f.store, "errands2", f.how};
    queue.create().value();
    queue.enqueue_all(std::vector<errand>(400, errand{"York", 1})).value();
    table_queue<errand> const other{f.store, "errands2", f.how};
    std::vector<claimed<errand>> held;
    while (held.size() < 320) {
        for (auto& each : other.claim_some(32).value()) { held.push_back(std::move(each)); }
    }
    testing::spy const watched{f.store};
    table_queue<errand> const worker{watched, "errands2", f.how};
    CHECK(worker.claim().value()); // looks for where the messages begin that nobody has
    std::size_t const before = watched.count<query_entities>();
    for (int index = 0; index < 50; ++index) { CHECK(worker.claim().value()); }
    CHECK(watched.count<query_entities>() - before <= 50);
    held.clear();
    f.time.advance(31s); // all of them come again, those at the head too
    std::size_t again = 0;
    while (auto item = worker.claim().value()) {
        CHECK(item->complete());
        ++again;
    }
    CHECK(again == 400);
}

TEST_CASE("table_queue: an outbox works with any number of relays") {
    fixture f;
    table<errand> const towns{f.store, "towns"};
    towns.create().value();
    auto changes = towns.batch();
    changes.insert({"York", 1, "buy"});
    std::string const id = f.queue.outbox(changes, {"York", 1, "deliver"});
    CHECK(changes.submit());
    CHECK(towns.transact("Ely", [&](transaction<errand>& all) -> result<void> {
        all.insert({"Ely", 2});
        f.queue.outbox(all, {"Ely", 2, "deliver"}, "mine");
        return {};
    }));
    auto empty = towns.batch();
    f.queue.outbox(empty, {"York", 1});
    CHECK(empty.submit().error().code == error_code::invalid_input);
    CHECK(towns.scan_table().count().value() == 2); // what the outbox has is no entity
    CHECK_FALSE(f.queue.claim().value());
    CHECK(f.queue.relay(f.store, "towns", "York").value() == 1);
    auto item = f.queue.claim().value();
    REQUIRE(item);
    CHECK(item->id() == id);
    CHECK(item->message().what == "deliver");
    CHECK(item->complete());
    // One relay ended before it took the row away: the next one puts nothing in.
    f.queue.enqueue({"Ely", 2, "deliver"}, {.id = "mine"}).value();
    CHECK(f.queue.relay(f.store, "towns").value() == 1);
    CHECK(f.queue.relay(f.store, "towns").value() == 0);
    CHECK(f.queue.approximate_size().value().ready == 1);
}

TEST_CASE("table_queue: invalid options and a missing queue are reported") {
    fixture f;
    f.how.visibility = 1s;
    CHECK(table_queue<errand>{f.store, "other", f.how}.create().error().code == error_code::out_of_range_input);
    f.how.visibility = 2s;
    f.how.lanes = 0;
    CHECK(table_queue<errand>{f.store, "other", f.how}.create().error().code == error_code::out_of_range_input);
    f.how.lanes = 1000;
    CHECK(table_queue<errand>{f.store, "errands", f.how}.enqueue({"York", 1})); // two lanes it has, and keeps
    table<errand>{f.store, "notqueue"}.create().value();
    CHECK(table_queue<errand>{f.store, "notqueue", f.how}.enqueue({"York", 1}).error().code ==
        error_code::resource_not_found);
    CHECK(queue_options{}.requests_per_idle_hour() == 960);
}

TEST_CASE("table_queue: the stored form has not changed") {
    testing::manual_clock time;
    local_options options;
    options.time = &time;
    memory_backend const store{options};
    queue_options how;
    how.time = &time;
    how.seed = 1;
    table_queue<errand> const queue{store, "errands", how};
    queue.create().value();
    queue.enqueue({"York", 7, "buy", 1.5}, {.id = "one"}).value();
    static_cast<void>(queue.claim().value());
    auto const shown = [&] {
        std::string all;
        row_table{store, "errands"}
            .for_each(
                {}, {},
                [&](entity const& each) {
                    all += each.partition_key() + ' ' + each.row_key();
                    for (property const& one : each.properties()) {
                        all += ' ' + one.name + '=' + one.value.to_string();
                    }
                    all += '\n';
                },
                system_rows::shown)
            .value();
        return all;
    };
    CHECK(shown() ==
        "lane006 ~!id!one Queue_Key=\"~!q!0134116992000000000!one\"\n"
        "lane006 ~!q!0134116992300000000!one what=\"buy\" price=1.5 Queue_Partition=\"York\" Queue_Row=\"0000000007\" "
        "Queue_VisibleAt=2026-01-01T00:00:30Z Queue_Deliveries=1 "
        "Queue_Claim=\"beeb8da1658eec67f893a2eefb32555e!0134116992000000000\"\n"
        "~!queue! ~!queue! Queue_Format=2 Queue_LaneCount=8\n");
    CHECK(detail::lane_of("one", 8) == 6);
    CHECK(detail::lane_of("", 8) == 1);
    CHECK(detail::lane_of("0123456789abcdef0123456789abcdef", 1000) == 578);
}

namespace {

/// A store whose answers get lost, and whose clock is set back now and then.
struct hazards {
    using is_transport = void;
    any_store below;
    random_source* dice;
    double lost;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        double const drawn = dice->unit();
        error gone{error_code::transport_failed, "lost"};
        gone.effect = Request::writes ? effect::unknown : effect::none;
        if (drawn < lost / 2) { return failure{gone}; }
        auto answer = below.execute(request, context);
        if (drawn < lost) { return failure{gone}; }
        return answer;
    }
};

} // namespace

TEST_CASE(
    "table_queue: with threads, lost answers and a clock that is set back, every acknowledged message is processed") {
    std::size_t const rounds = entitable_test::rounds(2, 60, 6);
    for (std::size_t round = 0; round < rounds; ++round) {
        testing::manual_clock time;
        local_options options;
        options.time = &time;
        memory_backend const store{options};
        random_source dice{round + 1};
        queue_options how;
        how.lanes = 3;
        how.time = &time;
        how.max_deliveries = 1'000;
        how.max_attempts = 1'000;
        how.delays = {};
        table_queue<errand>{store, "errands", how}.create().value();
        constexpr std::int32_t messages = 120;
        std::mutex guard;
        std::map<std::int32_t, int> completed;
        std::atomic<int> done{0};
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        for (int producer = 0; producer < 2; ++producer) {
            threads.emplace_back([&, producer] {
                table_queue<errand> const queue{hazards{store, &dice, 0.1}, "errands", how};
                for (std::int32_t number = producer; number < messages; number += 2) {
                    wrong += queue.enqueue({"York", number}, {.id = std::to_string(number)}) ? 0 : 1;
                    wrong +=
                        number % 3 == 0 && !queue.enqueue({"York", number}, {.id = std::to_string(number)}) ? 1 : 0;
                }
            });
        }
        for (int worker = 0; worker < 4; ++worker) {
            threads.emplace_back([&] {
                table_queue<errand> const queue{hazards{store, &dice, 0.1}, "errands", how};
                while (done < messages) {
                    auto items = queue.claim_some(static_cast<std::uint32_t>(1 + dice.bits() % 5));
                    wrong += items ? 0 : 1;
                    if (!items || items->empty()) {
                        time.advance(3s);
                        std::this_thread::yield();
                        continue;
                    }
                    for (auto& each : *items) {
                        std::uint64_t const fate = dice.bits() % 10;
                        if (fate == 0) {
                            time.advance(31s); // too slow
                        } else if (fate == 1) {
                            time.set({time.now().ticks - 5 * date_time::ticks_per_second});
                        } else if (fate == 2) {
                            if (!each.renew()) {
                                continue; // lost
                            }
                        } else if (fate == 3) {
                            static_cast<void>(each.release());
                            continue;
                        } else if (fate == 4) {
                            continue; // forgotten
                        }
                        if (auto ended = each.complete()) {
                            std::lock_guard const lock{guard};
                            ++completed[each.message().number];
                            ++done;
                        } else {
                            wrong += ended.error().code == error_code::receipt_lost ? 0 : 1;
                        }
                    }
                }
            });
        }
        for (auto& each : threads) { each.join(); }
        CAPTURE(round);
        CHECK(wrong == 0);
        CHECK(completed.size() == messages);
        for (auto const& [number, times] : completed) { CHECK(times == 1); }
        auto const left = table_queue<errand>{store, "errands", how}.approximate_size().value();
        CHECK(left.ready + left.held + left.dead_letters == 0);
    }
}
