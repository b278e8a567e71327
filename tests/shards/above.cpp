// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What stands above tables, over shards: sequences, indexes, transactions, bulk loads, units of work, queues, sums, retries; with moves in between.

#include "clubs.hpp"
#include "shards.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/bulk.hpp>
#include <entitable/core/random.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/retrying.hpp>
#include <entitable/sequence.hpp>
#include <entitable/tables.hpp>
#include <entitable/unit_of_work.hpp>

#include <support/maps.hpp>

#include <algorithm>
#include <map>

using namespace entitable;
using namespace entitable_test;
using namespace sharding;

namespace {

using c = fields<by_club>;

std::vector<runner> field_of_runners() {
    std::vector<runner> all;
    for (std::int32_t bib = 0; bib < 60; ++bib) {
        all.push_back({"race" + std::to_string(bib % 7), bib, "club" + std::to_string(bib % 4), 20 + bib});
    }
    return all;
}

/// Stores that live by one clock and fail when asked to; and somebody else, who moves shards to the side of them.
struct troubled {
    testing::manual_clock time;
    memory_backend catalogue;
    std::map<std::string, testing::faulty<any_store>> stores;
    virtual_shards shards{6};

    [[nodiscard]] store_opener opener() {
        return [this](std::string_view name) -> result<any_store> {
            local_options by_clock;
            by_clock.time = &time;
            auto const at = stores.find(std::string{name});
            return any_store{at != stores.end()
                    ? at->second
                    : stores.emplace(name, testing::faulty<any_store>{any_store{memory_backend{by_clock}}})
                          .first->second};
        };
    }
    [[nodiscard]] sharded open() {
        return entitable_test::cloud_of(
            catalogue, "shardmap", shards, {"alpha", "beta", "gamma"}, {std::chrono::seconds{2}, &time}, opener());
    }
    void move(sharded const& with, std::int32_t shard) {
        auto const map = with.map().to_string().value();
        bool const away = map.find(" " + std::to_string(shard) + " -> delta ") != std::string::npos;
        move_options options;
        options.time = &time;
        plan_move(with, shard, away ? "epsilon" : "delta", options).value().run().value();
    }
    void move_all(sharded const& with) {
        for (std::int32_t shard = 0; shard < static_cast<std::int32_t>(shards.number()); ++shard) { move(with, shard); }
    }
};

} // namespace

TEST_CASE("shards: each number of a sequence is drawn once") {
    sharding::world const all;
    sequence const one{all.open(virtual_shards{5}), "tickets"};
    sequence const other{all.open(virtual_shards{5}), "tickets"};
    for (std::int64_t number = 1; number < 20; number += 2) {
        CHECK(one.next().value().value == number);
        CHECK(other.next().value().value == number + 1);
    }
}

TEST_CASE("shards: an index in another partition is in another shard") {
    sharding::world const all;
    sharded const cloud = all.open(virtual_shards{6});
    table<runner, elsewhere<by_club>> const runners{cloud, "runners", in_table<by_club>{cloud, "clubs"}};
    runners.create().value();
    for (runner const& each : field_of_runners()) { runners.insert(each).value(); }
    CHECK(runners.by<by_club>().where(c::club == "club2").to().value().size() == 15);
    auto const seen = runners.verify().value().indexes;
    CHECK(seen.entities == 60);
    CHECK(seen.missing + seen.dangling + seen.different == 0);
}

TEST_CASE("shards: batches and transactions write to one partition, and a bulk load writes to all partitions") {
    sharding::world const all;
    sharded const cloud = all.open(virtual_shards{6});
    table<runner> const runners{cloud, "runners"};
    runners.create().value();
    std::vector<runner> const given = field_of_runners();
    auto const loaded = bulk_insert(runners, given).value();
    CHECK(loaded.written == given.size());
    CHECK(runners.scan_table().count().value() == given.size());
    auto const done = runners.transact("race3", [](transaction<runner>& here) -> result<void> {
        auto const first = here.get(3);
        if (!first) { return failure{first.error()}; }
        here.insert({"race3", 1003, first->club, first->age});
        return here.update(10, [](runner& each) { each.age = 99; })
            ? result<void>{}
            : result<void>{failure{error_code::invalid_input, ""}};
    });
    REQUIRE(done);
    CHECK(runners.get("race3", 10).value().age == 99);
    CHECK(runners.get("race3", 1003).value().age == 23);
}

TEST_CASE("shards: a unit of work that read before a move gets a conflict, and the row is unchanged") {
    troubled all;
    sharded const cloud = all.open();
    table<runner> const runners{cloud, "runners"};
    runners.create().value();
    for (runner const& each : field_of_runners()) { runners.insert(each).value(); }
    unit_of_work work{runners};
    runner& moved = *work.find("race3", 3).value();
    runner& other = *work.find("race4", 4).value();
    work.save().value();
    all.move(all.open(), static_cast<std::int32_t>(*all.shards.shard_of("race3")));
    moved.age = 77;
    other.age = 78;
    work.add({"race3", 900, "new", 1});
    auto const saved = work.save().value();
    REQUIRE(saved.failed.size() >= 1);
    for (auto const& each : saved.failed) {
        CHECK(each.entity().race == "race3"); // ETags of shards that stayed are good
        if (auto const met = work.conflict_of(each.entity()).value()) {
            REQUIRE(met->theirs);
            CHECK(met->theirs->age == met->original->age);
            work.resolve(each.entity(), keep::mine);
        }
    }
    CHECK(work.save().value().good());
    CHECK(runners.get("race3", 3).value().age == 77);
    CHECK(runners.get("race4", 4).value().age == 78);
    CHECK(runners.get("race3", 900).value().club == "new");
}

TEST_CASE("shards: a queue over moving shards delivers each message, and a claim survives a move") {
    troubled all;
    sharded const cloud = all.open();
    sharded const mover = all.open();
    queue_options how;
    how.time = &all.time;
    table_queue<task> const queue{cloud, "tasks", how};
    queue.create().value();
    for (std::int32_t number = 0; number < 40; ++number) {
        queue.enqueue({"t", number}, {{}, "id" + std::to_string(number)}).value();
    }
    auto held = queue.claim().value();
    REQUIRE(held);
    std::map<std::int32_t, int> done;
    ++done[held->message().number];
    all.move_all(mover); // the row has another ETag now, and still the claim
    held->complete().value();
    CHECK(queue.enqueue({"t", 7}, {{}, "id7"}).value().already_there);
    all.time.advance(std::chrono::minutes{1});
    for (int round = 0; auto next = queue.claim().value(); ++round) {
        ++done[next->message().number];
        next->complete().value();
        if (round % 10 == 0) { all.move(mover, round / 10); }
    }
    CHECK(done.size() == 40);
    CHECK(std::all_of(done.begin(), done.end(), [](auto const& each) { return each.second == 1; }));
    CHECK(queue.dead_letters().value().empty());
}

TEST_CASE("shards: sums stay correct across moves, and are in the shard of their entities") {
    troubled all;
    sharded const cloud = all.open();
    sharded const mover = all.open();
    table<runner, club_size> const runners{cloud, "runners"};
    runners.create().value();
    std::int32_t moves = 0;
    for (runner const& each : field_of_runners()) {
        runners.insert(each).value();
        if (each.bib % 9 == 0) {
            all.move(mover, moves++ % 6);
            runners.update(each.race, each.bib, [](runner& one) { one.club = "club9", one.age += 1; }).value();
        }
    }
    std::int64_t counted = 0;
    for (int race = 0; race < 7; ++race) {
        CHECK(runners.verify<club_size>("race" + std::to_string(race)).value().good());
        for (club_size const& each : runners.where(fields<club_size>::race == "race" + std::to_string(race))) {
            counted += each.runners;
        }
    }
    CHECK(counted == 60);
}

TEST_CASE("shards: updates that are retried with operation rows count once, through lost answers and moves") {
    for (std::uint64_t seed = 1; seed <= rounds(6, 300); ++seed) {
        CAPTURE(seed);
        random_source random{seed};
        troubled all;
        sharded const mover = all.open();
        retrying_options patience;
        patience.operation_rows = true;
        patience.policy = retry_policy::fixed(8, std::chrono::milliseconds{10});
        patience.quota = 0;
        patience.time = &all.time;
        patience.seed = seed;
        table<runner> const runners{retrying{any_store{all.open()}, patience}, "runners"};
        runners.create().value();
        for (std::int32_t race = 0; race < 7; ++race) {
            runners.insert({"race" + std::to_string(race), 1, "club", 0}).value();
        }
        std::int32_t succeeded = 0;
        std::size_t faults = 0;
        for (int step = 0; step < 60; ++step) {
            for (auto const& [name, store] : all.stores) {
                if (random.bits() % 3 == 0) {
                    using testing::fault;
                    fault const choices[] = {
                        fault::lost_after(), fault::lost_before(), fault::refused(), fault::busy(), fault::late()};
                    store.plan({choices[random.bits() % 5], 1 + random.bits() % 3, "transact"});
                }
            }
            auto const done =
                runners.update("race" + std::to_string(random.bits() % 7), 1, [](runner& each) { ++each.age; });
            succeeded += done ? 1 : 0;
            CHECK((done || done.error().effect == effect::none));
            if (random.bits() % 4 == 0) {
                for (auto const& [name, store] : all.stores) {
                    for (auto const& each : store.account()) { faults += each.fired ? 1U : 0U; }
                    call context;
                    while (!store.all_fired()) { // a mover has a quiet day
                        (void)store.execute(transact{"None", {}}, context);
                    }
                    store.arrive();
                }
                all.move(mover, static_cast<std::int32_t>(random.bits() % 6));
            }
        }
        for (auto const& [name, store] : all.stores) { store.arrive(); }
        std::int32_t counted = 0;
        for (runner const& each : runners.scan_table()) { counted += each.age; }
        CHECK(counted == succeeded);
        CHECK(faults > 0);
    }
}

TEST_CASE("shards: if there are no writers, a copy to a different number of shards contains the same rows, and a "
          "second copy writes nothing") {
    sharding::world const old_world;
    sharding::world const new_world;
    sharded const from = old_world.open(virtual_shards{11});
    sharded const to = new_world.open(virtual_shards{64});
    table<runner> const before{from, "runners"};
    table<runner> const after{to, "runners"};
    before.create().value();
    after.create().value();
    for (std::int32_t bib = 0; bib < 500; ++bib) {
        before.insert({"race" + std::to_string(bib % 90), bib, "club", bib}).value();
    }
    auto const copied = bulk_copy(before.scan_table(), after).value();
    CHECK(copied.written == 500);
    auto const again = bulk_copy(before.scan_table(), after).value();
    CHECK(again.written == 0);
    CHECK(again.refused == 0);
    CHECK(after.scan_table().to().value().size() == 500);
    auto const rows = [](sharded const& of) {
        std::string all;
        for (runner const& each : table<runner>{of, "runners"}.scan_table()) {
            all += each.race + "/" + std::to_string(each.bib) + "/" + each.club + "/" + std::to_string(each.age) + ";";
        }
        return all;
    };
    CHECK(rows(from) == rows(to));
    // A token of the old shards is good for the new ones: it is the last key.
    auto first = before.scan_table().page_size(100).pages();
    auto const page = first.next().value();
    std::size_t read = page->size();
    for (auto rest = after.scan_table().page_size(100).resume(*page->token).pages(); auto more = rest.next().value();) {
        read += more->size();
    }
    CHECK(read == 500);
}
