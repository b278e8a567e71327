// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Worlds of clients, movers and operators over stores that are away, lose their answers, are emptied, or never come back. Some order of the
// writes must explain every read of a partition; only rows that a call reported as lost may be missing. In the end everything works.

#include "operator_hashes.hpp"
#include "operator_movers.hpp"
#include "operator_people.hpp"

#include <support/catch.hpp>
#include <support/long.hpp>

#include <cstdio>

using namespace operator_worlds;

namespace {

/// The map is made by one of two programs that begin at once, or was made long ago.
void begin(world& in) {
    if (in.old_map) {
        static_cast<void>(entitable_test::map_without_identity(
            in.catalogue->below, map_table, in.shards(), {"s0", "s1", "s2"}, {lease, &in.on.clock}));
    }
    int ready = 0;
    for (int number = 0; number < 2; ++number) {
        in.on.run([&in, &ready] {
            for (bool done = false; !done;) {
                auto const by = in.new_process();
                if (!in.old_map) {
                    static_cast<void>(lookup_map::make(any_store{way{by, in.catalogue}}, map_table, in.shards(),
                        in.names, in.opener(by), in.options(*by)));
                }
                if (auto const here = in.open(by)) {
                    call own;
                    auto const made = here->cloud.execute(create_table{"items"}, own);
                    done = made || made.error().code == error_code::table_already_exists;
                }
                in.on.sleep_until(in.on.now() + 200ms);
            }
            ++ready;
        });
    }
    in.on.run_until(in.on.now() + 1h);
    if (ready != 2) { return in.complain("the map is not made"); }
    in.guarded = !in.old_map;
    auto const by = std::make_shared<process>(in.on, in.in, in.from);
    in.on.run([&in, by] {
        in.in.faults = false;
        auto const here = in.open(by);
        for (std::string const& partition : in.partitions) {
            std::uint64_t const begun = ++in.on.order;
            int const value = ++in.value;
            call own;
            here->cloud.execute(write_entity{"items", mutation::insert(in.entity(partition, 3, value))}, own).value();
            in.history("items", partition).add({begun, ++in.on.order, {{3, 0}}, {{3, value}}, false, "setup"});
        }
        in.in.faults = true;
        in.made = true;
    });
    in.on.run_until(in.on.now() + 1h);
    in.catalogue->written = [&in] { in.map_changed(); };
}

template <class Try>
bool must(world& in, process& by, std::string const& what, Try const& body) {
    std::string why;
    for (int left = 12; left > 0; --left) {
        auto const done = body();
        if (done) { return true; }
        why = done.error().to_string();
        by.rest(1s);
    }
    in.complain("in the end " + what + ": " + why);
    return false;
}

/// "own", "another" or "none".
std::string has_identity(world& in, std::string const& name) {
    store_identity const its;
    call own;
    auto const row = in.stores.at(name)->below.execute(get_entity{"entitableshards", its.part, its.kind, {}}, own);
    auto const map = in.map_now();
    if (!row) { return "none"; }
    row_view const found = row->entity.view(); // a program with wrong names may have listed a store that was empty
    bool const is_own = found.find("map")->as_string() == map->identity && found.find("store")->as_string() == name;
    return is_own ? "own" : "another";
}

/// After all faults: what was lost is given up, what was begun is ended, and everything works.
void settle(world& in, program const& here, program const& other) {
    process& by = *here.by;
    for (std::string const& name : in.names) { // a second map may have met one that was empty
        if (has_identity(in, name) == "another") {
            must(in, by, "a store cannot be released",
                [&] { return release_store(any_store{in.stores.at(name)->below}); });
        }
    }
    for (int left = 12; left > 0 && !an_operator::heal(in, here); --left) {
        by.rest(1s);
        if (left == 1) { in.complain("in the end what was lost cannot be given up: " + in.injured->store); }
    }
    for (std::string const& name : in.names) { // one that was emptied while a mover was about to list it
        if (in.map_now()->lists(name) && has_identity(in, name) == "none") {
            static_cast<void>(an_operator::forget(in, here, name, {}));
        }
    }
    std::set<std::string> left = in.gone; // a mover that knew nothing of it may have begun to move there since
    for (auto const& [name, lost] : in.owed) {
        left.insert(name); // calls that ended in the middle are resumed
    }
    for (std::string const& name : left) {
        auto const is_left = [&] {
            auto const map = in.map_now();
            return std::any_of(map->places.begin(), map->places.end(), [&](auto const& each) {
                bool const is_there = each.row.store == name;
                return (is_there && (each.row.state == "sealed" || in.gone.contains(name))) ||
                    (in.gone.contains(name) &&
                        (each.row.attempt_store == name || each.row.retired.find(name + ":") != std::string::npos));
            });
        };
        for (int again = 3; again > 0 && is_left(); --again) {
            static_cast<void>(an_operator::forget(in, here, name, {}));
        }
        if (is_left()) { in.complain("in the end a store that was forgotten in part cannot be: " + name); }
    }
    auto const begun = in.map_now();
    for (auto const& each : begun->places) {
        if (!each.row.attempt_owner.empty()) {
            must(in, by, "a move cannot be cancelled", [&] { return cancel_move(here.cloud, each.row.shard); });
        }
    }
    for (std::string const& name : in.names) {
        must(in, by, "a store cannot be opened", [&] { return set_access(here.all(), name, store_access::open); });
    }
    auto const there = [](auto const& done) {
        bool const is = done || done.error().code == error_code::table_already_exists ||
            done.error().code == error_code::resource_not_found;
        return is ? result<void>{} : result<void>{failure{done.error()}};
    };
    for (char const* table : {"items", "tasks"}) {
        must(in, by, "a table cannot be made", [&] {
            call own;
            return there(here.cloud.execute(create_table{table}, own));
        });
    }
    if (in.old_map) {
        must(in, by, "the map cannot be adopted", [&] { return adopt(here.cloud); });
        in.guarded = true;
    }
    by.rest(30s); // what is late has come
    must(in, by, "what is left over stays", [&]() -> result<void> {
        auto const found = schema_drift(here.all(in.names));
        if (!found) { return failure{found.error()}; }
        auto const dropped = drop_orphaned_tables(here.all(in.names), *found);
        if (!dropped) { return failure{dropped.error()}; }
        in.told.left_over += *dropped;
        auto const again = schema_drift(here.all(in.names));
        if (again && again->empty()) { return {}; }
        return failure{error_code::row_mismatch,
            again ? std::to_string(again->size()) + ", " + again->front().store + " " + again->front().text
                  : again.error().to_string()};
    });
    client::read_all(in, any_store{here.cloud}, "who settles");
    client::read_all(in, any_store{other.cloud}, "a new program");
    int moves = 0;
    auto const before = in.map_now();
    for (auto const& each : before->places) {
        for (std::string const& target : in.names) {
            if (target != each.row.store && moves < 3) {
                move_options how;
                how.short_lease = short_lease;
                how.time = &by;
                must(in, by, "a shard cannot be moved", [&]() -> result<void> {
                    auto plan = plan_move(here.cloud, each.row.shard, target, how);
                    if (!plan) {
                        auto const now = in.map_now();
                        auto const* const at = now->find_shard(each.row.shard);
                        bool const is = at != nullptr && at->row.store == target;
                        return is ? result<void>{} : result<void>{failure{plan.error()}};
                    }
                    auto const moved = plan->run();
                    if (moved && !moved->left_in.empty()) {
                        return failure{error_code::row_mismatch, "tables are left in " + moved->left_in.front()};
                    }
                    return moved ? result<void>{} : result<void>{failure{moved.error()}};
                });
                ++moves;
                break;
            }
        }
    }
    must(in, by, "a table cannot be dropped", [&] {
        call own;
        return there(here.cloud.execute(delete_table{"tasks"}, own));
    });
    must(in, by, "there is no backup", [&]() -> result<void> {
        return an_operator::back_up_once(in, here) ? result<void>{} : failure{error_code::backup_incomplete, "again"};
    });
    must(in, by, "the fleet is not whole", [&]() -> result<void> {
        auto const found = check_fleet(here.all());
        if (found && !found->unread.empty()) { return failure{found->unread.front().error}; }
        return found ? result<void>{} : result<void>{failure{found.error()}};
    });
    auto const after = in.map_now();
    for (auto const& each : after->places) {
        for (std::string const& name : in.gone) {
            if (each.row.store == name || each.row.attempt_store == name ||
                each.row.retired.find(name + ":") != std::string::npos) {
                in.complain("in the end the map waits for " + name);
            }
        }
    }
    client::read_all(in, any_store{other.cloud}, "a new program, behind moves");
}

std::string run_world(std::uint64_t seed, figures& told) {
    world in{seed, told};
    ++told.worlds;
    begin(in);
    if (!in.wrong.empty()) { return in.wrong; }
    std::vector<std::unique_ptr<client>> clients;
    std::vector<std::unique_ptr<mover>> movers;
    std::vector<std::unique_ptr<an_operator>> operators;
    for (int number = 0; number < 4; ++number) {
        clients.push_back(std::make_unique<client>(in, number, number % 2 == 0));
        in.on.run([&in, own = clients.back().get()] { own->run(); });
    }
    for (int number = 0; number < 2; ++number) {
        movers.push_back(std::make_unique<mover>(in, number));
        in.on.run([own = movers.back().get()] { own->run(); });
        operators.push_back(std::make_unique<an_operator>(in));
        in.on.run([own = operators.back().get()] { own->run(); });
    }
    in.on.run([&in] { misfortune(in); });
    steady_time const ends = in.on.now() + 60s;
    in.on.run_until(ends);
    in.closing = true;
    in.in.faults = false;
    for (auto const& [name, store] : in.stores) { store->away = in.gone.contains(name); }
    in.catalogue->away = in.archive->away = false;
    in.on.run_until(ends + 10min);
    if (in.on.alive() > 0) {
        in.complain("somebody has not ended after 10 minutes without faults");
        return in.wrong;
    }
    in.on.run([&in] {
        auto const here = in.open(std::make_shared<process>(in.on, in.in, in.from));
        auto const other = in.open(std::make_shared<process>(in.on, in.in, in.from));
        if (!here || !other) { return in.complain("in the end the map cannot be opened"); }
        settle(in, *here, *other);
    });
    in.on.run_until(ends + 24h);
    if (in.on.alive() > 0) { in.complain("who settles has not ended"); }
    for (auto& [name, each] : in.histories) {
        if (std::string const problem = each.explain(); !problem.empty()) { in.complain(name + ": " + problem); }
    }
    told.requests += in.in.requests;
    return in.wrong;
}

/// Worlds of seeds from 1; ENTITABLE_FIRST_SEED and ENTITABLE_WORLDS say others.
template <class Run>
void run_worlds(std::size_t count, Run const& run) {
    char const* const first = std::getenv("ENTITABLE_FIRST_SEED");
    char const* const number = std::getenv("ENTITABLE_WORLDS");
    std::uint64_t const from = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
    std::size_t const worlds = number != nullptr ? std::strtoull(number, nullptr, 10) : count;
    for (std::uint64_t seed = from; seed < from + worlds; ++seed) {
        std::string const problem = run(seed);
        CAPTURE(seed);
        CHECK(problem == "");
    }
    std::size_t const undecided = std::exchange(partition_history::undecided(), 0);
    CHECK(undecided * 100 <= worlds); // histories that were too much to search
}

} // namespace

TEST_CASE("operator worlds: clients, movers and operators on stores that are unreachable, emptied or lost") {
    figures told;
    run_worlds(entitable_test::rounds(25, 3000, 100), [&](std::uint64_t seed) { return run_world(seed, told); });
    std::printf("operator worlds: %s\n", told.to_string().c_str());
}

TEST_CASE("operator worlds: hashed stores, the next generation, and stale programs") {
    figures told;
    hash_figures hashed;
    run_worlds(entitable_test::rounds(25, 3000, 100),
        [&](std::uint64_t seed) { return hash_world{seed, told, hashed}.run(); });
    std::printf("operator worlds: %zu of hashed stores, %zu generations made, %zu retired, %zu makes refused, %zu "
                "stores emptied; %s\n",
        hashed.worlds, hashed.made, hashed.retired, hashed.refused, hashed.emptied, told.to_string().c_str());
}
