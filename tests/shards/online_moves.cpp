// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Moves of a virtual shard while clients read and write it: what each step permits, what is copied, and who continues after a stop.

#include "shards.hpp"
#include "support/around.hpp"
#include "support/catch.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/core/random.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/shards/route/detail/map_stores.hpp>

#include <support/maps.hpp>

#include <map>
#include <set>

using namespace entitable;
using entitable_test::around;

namespace {

struct item {
    std::string group;
    std::int32_t number{};
    std::string text;
    friend bool operator==(item const&, item const&) = default;
};
ENTITABLE(item, partition_key(group), row_key(width(number, 4)), properties(text))

struct moving_world {
    testing::manual_clock time;
    sharding::world all;
    lookup_map_options lease{std::chrono::seconds{60}, &time};
    sharded cloud{all.open(virtual_shards{1}, lease)};
    table<item> items{cloud, "items"};
    memory_backend one;
    table<item> oracle{one, "items"};
    move_options options;

    moving_world() {
        items.create().value();
        oracle.create().value();
        options.time = &time;
        options.page_size = 16;
        for (int number = 0; number < 100; ++number) {
            put({"g" + std::to_string(number % 7), number, "text"}).value();
        }
    }
    result<void> put(item const& each) {
        auto done = items.insert_or_replace(each);
        if (done) {
            oracle.insert_or_replace(each).value();
            return {};
        }
        return std::move(done).as_failure();
    }
    result<void> remove(std::string const& group, std::int32_t number) {
        auto done = items.remove(group, number, any_etag);
        if (done) { oracle.remove(group, number, any_etag).value(); }
        return done ? result<void>{} : result<void>{std::move(done).as_failure()};
    }
    [[nodiscard]] bool same() const { return items.scan_table().to().value() == oracle.scan_table().to().value(); }
    /// Physical tables of a store.
    [[nodiscard]] std::size_t tables_of(std::string const& store) const {
        return entitable_test::tables_in(all.opener()(store).value()).size();
    }
};

} // namespace

TEST_CASE("shards: clients read and write during an online move, except in its last steps") {
    moving_world world;
    std::set<move_step> seen;
    std::int32_t next = 1000;
    std::int32_t gone = 0;
    auto plan = plan_move(world.cloud, 0, "delta", world.options).value();
    CHECK(plan.rows == 100);
    auto const done = plan.run([&](move_progress const& at) {
                              seen.insert(at.step);
                              bool const sealed = at.step == move_step::sealing && at.reads_paused.count() == 0 &&
                                  world.cloud.map().to_string().value().find("sealed") != std::string::npos;
                              auto const written = world.put({"g3", next++, "during"});
                              auto const read = world.items.get("g0", 0);
                              if (at.step != move_step::waiting &&
                                  world.cloud.map().to_string().value().find("draining") != std::string::npos) {
                                  CHECK(written.error().code == error_code::shard_moving);
                                  CHECK(written.error().effect == effect::none);
                                  CHECK(read);
                              } else if (sealed) {
                                  CHECK(written.error().code == error_code::shard_moving);
                                  CHECK(read.error().code == error_code::shard_moving);
                              } else if (at.step != move_step::flipping && at.step != move_step::sealing &&
                                  at.step != move_step::waiting) {
                                  CHECK(written);
                                  CHECK(read);
                                  if (at.step == move_step::copying) { CHECK(world.remove("g5", 5 + 7 * gone++)); }
                              }
                              return true;
                          })
                          .value();
    for (auto const each : {move_step::taking_over, move_step::registering, move_step::copying, move_step::catching_up,
             move_step::verifying, move_step::closing, move_step::waiting, move_step::draining, move_step::sealing,
             move_step::flipping, move_step::dropping, move_step::done}) {
        CAPTURE(to_string(each));
        CHECK(seen.contains(each));
    }
    CHECK(done.rows > plan.rows);
    CHECK(done.waited >= std::chrono::milliseconds{60'500});
    CHECK(done.writes_paused >= std::chrono::milliseconds{500});
    CHECK(done.writes_paused < std::chrono::seconds{1}); // of the manual clock: the waits alone
    CHECK(done.reads_paused.count() == 0);
    CHECK(world.same());
    CHECK(world.tables_of("alpha") == 0);
    CHECK(world.tables_of("delta") == 1);
    // back again: the guard rows of the first move are not copied, and those of the second are new
    plan_move(world.cloud, 0, "alpha", world.options).value().run().value();
    CHECK(world.same());
    CHECK(world.tables_of("delta") == 0);
}

TEST_CASE("shards: an online move that is stopped at any step is taken over or cancelled") {
    for (std::size_t stop = 0;; ++stop) {
        CAPTURE(stop);
        moving_world world;
        std::size_t step = 0;
        bool cut = false;
        auto plan = plan_move(world.cloud, 0, "delta", world.options).value();
        auto const first = plan.run([&](move_progress const&) {
            cut = step++ == stop;
            static_cast<void>(world.put({"g1", static_cast<std::int32_t>(2000 + step), "during"}));
            return !cut;
        });
        if (first) {
            CHECK(stop > 15);
            break;
        }
        CHECK(first.error().code == error_code::cancelled);
        std::string const store = stop % 2 == 0 ? "beta" : "delta";
        if (stop % 3 == 0) {
            cancel_move(world.cloud, 0).value();
            CHECK(world.put({"g1", 1, "after"}));
            CHECK(world.tables_of("alpha") + world.tables_of("delta") == 1);
        }
        auto again = plan_move(world.cloud, 0, store, world.options);
        if (again) { // else it was flipped, and is there
            again
                ->run([&](move_progress const&) {
                    static_cast<void>(world.put({"g2", static_cast<std::int32_t>(3000 + step++), "again"}));
                    return true;
                })
                .value();
            CHECK(world.tables_of(store) == 1);
        } else {
            cancel_move(world.cloud, 0).value();
        }
        CHECK(world.same());
        CHECK(world.tables_of("alpha") + world.tables_of("beta") + world.tables_of("delta") == 1);
    }
}

TEST_CASE("shards: a mover stops if its attempt was taken over") {
    moving_world world;
    auto first = plan_move(world.cloud, 0, "delta", world.options).value();
    bool taken = false;
    auto const ended = first.run([&](move_progress const& at) {
        if (at.step == move_step::verifying && !std::exchange(taken, true)) {
            sharded const other{
                lookup_map::open(world.all.catalogue, "shardmap", virtual_shards{1}, world.lease).value(),
                world.all.opener()};
            plan_move(other, 0, "beta", world.options).value().run().value();
        }
        return true;
    });
    CHECK((ended ? error_code{} : ended.error().code) == error_code::shard_moving);
    CHECK(world.same());
    CHECK(world.tables_of("beta") == 1);
    CHECK(world.tables_of("alpha") + world.tables_of("delta") == 0);
}

TEST_CASE("shards: a mover that was taken over before it created its tables leaves no tables behind") {
    moving_world world;
    detail::list_store(world.cloud.state(), "delta").value();
    for (bool const goes_on : {false, true}) { // who takes over ends the attempt, or moves the shard itself
        CAPTURE(goes_on);
        std::function<void()> meanwhile = [&] {
            sharded const other{
                lookup_map::open(world.all.catalogue, "shardmap", virtual_shards{1}, world.lease).value(),
                world.all.opener()};
            if (goes_on) {
                plan_move(other, 0, "beta", world.options).value().run().value();
            } else {
                cancel_move(other, 0).value();
            }
        };
        sharded const cloud{lookup_map::open(world.all.catalogue, "shardmap", virtual_shards{1}, world.lease).value(),
            [&, open = world.all.opener()](std::string_view name) -> result<any_store> {
                return any_store{around{open(name).value(), [&](std::string_view request, bool) {
                                            if (request == create_table::name && meanwhile) {
                                                std::exchange(meanwhile, nullptr)();
                                            }
                                        }}};
            }};
        auto const ended = plan_move(cloud, 0, "delta", world.options).value().run();
        CHECK((ended ? error_code{} : ended.error().code) == error_code::shard_moving);
        CHECK_FALSE(meanwhile);
        CHECK(world.same());
        CHECK(world.tables_of("alpha") + world.tables_of("beta") + world.tables_of("delta") == 1);
    }
}

TEST_CASE("shards: a move waits while another attempt continues") {
    moving_world world;
    auto first = plan_move(world.cloud, 0, "delta", world.options).value();
    static_cast<void>(first.run([&](move_progress const& at) { return at.step != move_step::verifying; }));
    move_options patient = world.options;
    patient.wait_budget = std::chrono::minutes{10};
    auto const before = world.time.steady();
    plan_move(world.cloud, 0, "beta", patient).value().run().value();
    CHECK(world.time.steady() - before >= std::chrono::minutes{11});
    CHECK(world.same());
}

namespace {

/// Stores another text than it is given.
struct spoiling {
    using is_transport = void;
    any_store below;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, transact>) {
            transact changed = request;
            for (mutation& each : changed.changes) {
                if (each.entity.row_key() == "0042") {
                    row_builder other{each.entity.partition_key(), "0042"};
                    other.add("text", "texT");
                    each.entity = other.build();
                }
            }
            return below.execute(changed, context);
        } else {
            return below.execute(request, context);
        }
    }
};

} // namespace

TEST_CASE("shards: a store that returns content different from what was written is detected") {
    moving_world world;
    sharded const mover{lookup_map::open(world.all.catalogue, "shardmap", virtual_shards{1}, world.lease).value(),
        [&](std::string_view name) -> result<any_store> {
            return any_store{spoiling{world.all.opener()(name).value()}};
        }};
    auto const refused = plan_move(mover, 0, "delta", world.options).value().run();
    CHECK(refused.error().code == error_code::row_mismatch);
    cancel_move(mover, 0).value();
    CHECK(world.same());
}

TEST_CASE("shards: busy stores, lost answers and an unreachable map do not prevent a move") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        moving_world world;
        random_source random{seed};
        testing::faulty<any_store> const catalogue{any_store{world.all.catalogue}};
        std::map<std::string, testing::faulty<any_store>> stores;
        auto const map = lookup_map::open(catalogue, "shardmap", virtual_shards{1}, world.lease).value();
        sharded const mover{
            map, [&](std::string_view name) -> result<any_store> {
                return any_store{
                    stores.emplace(std::string{name}, testing::faulty<any_store>{world.all.opener()(name).value()})
                        .first->second};
            }};
        auto plan = plan_move(mover, 0, "delta", world.options).value();
        auto last = move_step::done;
        auto const done = plan.run([&](move_progress const& progress) {
            std::uint64_t const drawn = random.bits();
            bool const changed = std::exchange(last, progress.step) != progress.step; // faults do not pile up
            auto const& at = drawn % 3 == 0 && changed ? catalogue : stores.at(drawn % 2 == 1 ? "alpha" : "delta");
            at.plan({drawn / 3 % 2 == 0 ? testing::fault::refused() : testing::fault::lost_after(), 1});
            static_cast<void>(world.put({"g" + std::to_string(random.bits() % 9), 17, std::to_string(drawn)}));
            return true;
        });
        CHECK((done ? std::string{} : done.error().to_string()) == "");
        CHECK(world.same());
    }
}
