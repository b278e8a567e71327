// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The cost of a claim does not depend on messages that cannot be claimed: requests and rows compared with those of an empty queue.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>

#include <map>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

struct errand {
    std::int32_t number{};
};
ENTITABLE(errand, partition_key(literal("E")), row_key(number), properties())

/// Counts the requests to a store, and the rows that its pages have.
struct counted_store {
    using is_transport = void;
    any_store below;
    std::size_t* requests;
    std::size_t* rows;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        ++*requests;
        auto answer = below.execute(request, context);
        if constexpr (std::same_as<Request, query_entities>) { *rows += answer ? answer->rows.size() : 0; }
        return answer;
    }
};

struct cost {
    std::size_t requests{};
    std::size_t rows{};
    friend bool operator==(cost const&, cost const&) = default;
};
/// In which lanes the messages are is drawn, and so is how many lanes a claim looks at.
void check_flat(cost const& seen, cost const& empty) {
    CAPTURE(seen.requests, empty.requests, seen.rows, empty.rows);
    CHECK(static_cast<double>(seen.requests) <= 1.2 * static_cast<double>(empty.requests));
    CHECK(seen.rows == empty.rows);
}

/// A queue, and a worker whose requests are counted.
struct counted_queue {
    testing::manual_clock time;
    memory_backend store = [&] {
        local_options options;
        options.time = &time;
        return memory_backend{options};
    }();
    std::size_t requests{};
    std::size_t rows{};
    queue_options how = [&] {
        queue_options made;
        made.lanes = 4;
        made.time = &time;
        made.seed = 3;
        made.visibility = 24h;
        return made;
    }();
    table_queue<errand> others{store, "errands", how};
    std::optional<table_queue<errand>> worker;

    counted_queue() { others.create().value(); }
    void begin() {
        how.visibility = 30s;
        worker.emplace(counted_store{store, &requests, &rows}, "errands", how);
        static_cast<void>(worker->claim().value()); // it looks ahead once in ten seconds
        requests = rows = 0;
    }
    [[nodiscard]] cost of_idle(int claims) {
        requests = rows = 0;
        for (int index = 0; index < claims; ++index) {
            CHECK_FALSE(worker->claim().value());
            time.advance(10ms);
        }
        return {requests, rows};
    }
    [[nodiscard]] cost of_messages(int messages) {
        requests = rows = 0;
        for (std::int32_t index = 0; index < messages; ++index) {
            others.enqueue({index}).value();
            auto item = worker->claim().value();
            REQUIRE(item);
            CHECK(item->message().number == index);
            CHECK(item->complete());
            time.advance(10ms);
        }
        return {requests, rows};
    }
    void fill(std::size_t count, enqueue_options const& put) {
        for (std::size_t index = 0; index < count; ++index) { others.enqueue({-1}, put).value(); }
    }
    void claim_all(std::size_t count) {
        for (std::size_t got = 0; got < count;) {
            auto const some = others.claim_some(32).value();
            REQUIRE(!some.empty());
            got += some.size();
        }
    }
};

} // namespace

TEST_CASE("queue cost: a claim after delayed and claimed messages costs as much as in an empty queue") {
    std::size_t const many = entitable_test::rounds(3'000, 100'000, 20'000);
    cost idle, busy;
    {
        counted_queue empty;
        empty.begin();
        idle = empty.of_idle(20);
        busy = empty.of_messages(200);
        CHECK(idle.rows == 0);
        CHECK(idle.requests == 80); // one for each lane
    }
    SECTION("the earlier messages are delayed") {
        counted_queue with;
        with.fill(many, {.delay = 1h});
        with.begin();
        CHECK((with.of_idle(20) == idle));
        check_flat(with.of_messages(200), busy);
        with.time.advance(1h); // and then they are there
        std::size_t got = 0;
        for (std::size_t some = 1; some > 0; got += some) { some = with.worker->claim_some(32).value().size(); }
        CHECK(got == many);
    }
    SECTION("the earlier messages are claimed") {
        counted_queue with;
        with.fill(many, {});
        with.claim_all(many);
        with.begin();
        CHECK((with.of_idle(20) == idle));
        check_flat(with.of_messages(200), busy);
    }
    SECTION("the claim is the first claim of a worker") {
        counted_queue with;
        with.fill(many, {});
        with.claim_all(many);
        with.others.enqueue({7}).value();
        with.how.visibility = 30s;
        table_queue<errand> const fresh{counted_store{with.store, &with.requests, &with.rows}, "errands", with.how};
        CHECK(fresh.claim().value());
        CHECK(with.rows <= 1 + 4 * 100); // the header, and in each lane a page ahead
        CHECK(with.requests <= 1 + 4 + 1);
    }
    SECTION("the claim waits") {
        counted_queue with;
        with.fill(many, {});
        with.begin();
        cost some;
        for (int index = 0; index < 200; ++index) {
            auto item = with.worker->claim().value();
            REQUIRE(item);
            CHECK(item->complete());
            with.time.advance(10ms);
        }
        some = {with.requests, with.rows};
        CHECK(some.requests <= 2 * 200 + 200 / 6); // not each claim reads its lane
        CHECK(some.rows <= 8 * 200 + 4 * 100);     // a page of eight, and one ahead in each lane
    }
    SECTION("the claim is renewed in place") {
        counted_queue with;
        std::size_t const held = 400;
        with.how.lanes = 1;
        with.how.visibility = 2s;
        table_queue<errand> const one{with.store, "one", with.how};
        one.create().value();
        std::vector<claimed<errand>> in_hand;
        for (std::size_t index = 0; index < held; ++index) {
            one.enqueue({-1}).value();
            in_hand.push_back(*one.claim().value());
            in_hand.back().renew(24h).value();
        }
        with.time.advance(10s);
        table_queue<errand> const worker{counted_store{with.store, &with.requests, &with.rows}, "one", with.how};
        for (int index = 0; index < 100; ++index) {
            one.enqueue({index}).value();
            auto item = worker.claim().value();
            REQUIRE(item);
            CHECK(item->complete());
            with.time.advance(10ms);
        }
        CHECK(with.rows <= 3 * held + 2 * 100); // read when it begins, and then about once a second
        // What was given up early is not held back by them.
        in_hand[200].release().value();
        with.time.advance(3s);
        CHECK(worker.claim().value());
    }
}

TEST_CASE("queue cost: messages read ahead are claimed without another read, unless other workers have them") {
    counted_queue with;
    with.how.lanes = 1;
    with.how.visibility = 30s;
    table_queue<errand> const here{counted_store{with.store, &with.requests, &with.rows}, "one", with.how};
    with.how.seed = 4;
    table_queue<errand> const there{with.store, "one", with.how};
    here.create().value();
    std::map<std::int32_t, int> claims;
    auto const claim = [&](table_queue<errand> const& by) {
        auto item = by.claim().value();
        REQUIRE(item);
        ++claims[item->message().number];
        return *std::move(item);
    };
    for (std::int32_t index = 0; index < 100; ++index) {
        here.enqueue({index}).value();
        with.time.advance(1ms);
    }
    SECTION("messages are claimed in order, and released messages come first") {
        CHECK(claim(here).message().number == 0);
        with.requests = 0;
        auto second = claim(here);
        CHECK(second.message().number == 1);
        CHECK(with.requests == 1);
        second.release().value();
        CHECK(claim(here).message().number == 1);
        CHECK(claim(here).message().number == 2);
    }
    SECTION("messages that were read ahead stay valid for one second") {
        static_cast<void>(claim(here));
        with.time.advance(2s);
        with.requests = 0;
        CHECK(claim(here).message().number == 1);
        CHECK(with.requests == 2);
    }
    SECTION("two workers claim each message once, with few refusals") {
        with.requests = 0;
        for (int index = 0; index < 50; ++index) {
            static_cast<void>(claim(here));
            static_cast<void>(claim(there));
        }
        CHECK(claims.size() == 100);
        for (auto const& [number, times] : claims) { CHECK(times == 1); }
        CHECK(with.requests <= 2 * 50 + 50 / 5);
        CHECK_FALSE(here.claim().value());
    }
    SECTION("messages that another worker completed or made dead letters are not delivered from memory") {
        static_cast<void>(claim(here));
        claim(there).complete().value();
        CHECK(claim(here).message().number == 2);
        claim(there).release().value(); // 3 again
        CHECK(claim(here).message().number == 3);
        CHECK(claims.size() == 4);
    }
}
