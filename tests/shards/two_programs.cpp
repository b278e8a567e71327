// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Two programs of different declarations over the same stores: every pair of making, opening, adopting, creating, retiring, placing and moving, in
// orders of their requests that are drawn, ended anywhere. Nobody's rows are lost, and no store has two owners.

#include "shards.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include "support/maps.hpp"
#include "support/turns.hpp"
#include <entitable/fleet.hpp>
#include <entitable/memory.hpp>

#include <map>
#include <set>

using namespace entitable;
using entitable_test::in_turns;
using entitable_test::turns;

namespace {

struct note {
    std::string place;
    std::int32_t number{};
};
ENTITABLE(note, partition_key(place), row_key(width(number, 6)), properties())

constexpr char const* store_names[] = {"a", "b", "c", "d"};

/// What is stored. Programs see it through transports of their own.
struct stores_kept {
    any_store catalogue{memory_backend{}};
    std::map<std::string, any_store, std::less<>> stores;

    stores_kept() {
        for (char const* each : store_names) { stores.emplace(each, memory_backend{}); }
    }
};

/// A program's way to it.
struct program_way {
    stores_kept const* all;
    turns* order{}; ///< null for one that runs alone
    std::size_t number{};

    [[nodiscard]] any_store through(any_store const& to) const {
        return order == nullptr ? to : any_store{in_turns{to, order, number}};
    }
    [[nodiscard]] any_store catalogue() const { return through(all->catalogue); }
    [[nodiscard]] store_opener opener() const {
        return [self = *this](std::string_view name) -> result<any_store> {
            return self.through(self.all->stores.find(name)->second);
        };
    }
};

/// What a program may be about.
struct declaration {
    std::string map; ///< its table; empty for hashed stores
    std::int64_t generation{};
    virtual_shards shards{1};
    std::vector<std::string> stores;
};
declaration const declarations[] = {
    {"mapm", 0, virtual_shards::ranges({"g"}), {"a", "b"}},
    {"mapm", 0, virtual_shards{3}, {"b", "c"}}, // the same map, otherwise
    {"mapn", 0, virtual_shards{2}, {"b", "d"}}, // another map over one of its stores
    {"", 1, virtual_shards{1}, {"a", "b"}},
    {"", 1, virtual_shards{1}, {"b", "a"}}, // in another order
    {"", 2, virtual_shards{1}, {"a", "b", "c"}},
};

/// Nobody waits: one program runs at a time, so they may share it.
testing::manual_clock& virtual_time() {
    static testing::manual_clock one;
    return one;
}
lookup_map_options brief() { return {std::chrono::milliseconds{0}, &virtual_time()}; }

/// The table over the stores, as a program opens it.
result<sharded> opened(program_way const& way, declaration const& of) {
    if (of.map.empty()) {
        hash_stores_options how;
        how.generation = of.generation;
        ENTITABLE_TRY(auto const stores, hash_stores::open(of.stores, way.opener(), how));
        return sharded{stores};
    }
    ENTITABLE_TRY(auto map, lookup_map::open(way.catalogue(), of.map, of.shards, brief()));
    return sharded{std::move(map), way.opener()};
}

enum class verb : std::uint8_t { make, open, adopt, create, retire, place, move, last };
constexpr std::string_view verb_names[] = {"make", "open", "adopt", "create", "retire", "place", "move"};

/// What a program did, for the judgement.
struct deeds {
    std::set<std::string> written; ///< places of rows that were acknowledged
    bool retired{};
    std::string told;
};

result<void> act(verb what, program_way const& way, declaration const& of, std::string const& own, deeds& done) {
    bool const hashed = of.map.empty();
    hash_stores_options how;
    how.generation = of.generation;
    if (what == verb::make) {
        if (hashed) {
            ENTITABLE_CHECK(hash_stores::make(of.stores, way.opener(), how));
        } else {
            ENTITABLE_CHECK(lookup_map::make(way.catalogue(), of.map, of.shards, of.stores, way.opener(), brief()));
        }
    }
    if (what == verb::retire && hashed) {
        ENTITABLE_CHECK(hash_stores::retire(of.stores, way.opener(), how));
        done.retired = true;
        return {};
    }
    ENTITABLE_TRY(auto const cloud, opened(way, of));
    table<note> const notes{cloud, "notes"};
    move_options quick;
    quick.short_lease = std::chrono::milliseconds{0};
    quick.failures = 1;
    quick.time = &virtual_time();
    if (what == verb::adopt && !hashed) {
        ENTITABLE_CHECK(adopt(cloud));
    } else if (what == verb::create || what == verb::make) {
        ENTITABLE_CHECK(notes.create_if_absent());
    } else if (what == verb::place && !hashed) {
        ENTITABLE_CHECK(place(fleet{cloud}, "g" + own, "d", quick));
    } else if (what == verb::move && !hashed) {
        ENTITABLE_TRY(auto plan, plan_move(cloud, 0, "c", quick));
        ENTITABLE_CHECK(plan.run());
    }
    for (char const* where : {"a", "g", "k", "x"}) {
        auto const written = notes.insert({where + own, 1});
        if (written) { done.written.insert(where + own); }
        ENTITABLE_CHECK(written);
    }
    return {};
}

/// What there is before both programs begin.
enum class beginning : std::uint8_t { nothing, map, old_map, hashed, last };

std::set<std::string> begin(beginning how, stores_kept& all) {
    program_way const way{&all};
    deeds done;
    if (how == beginning::map) {
        act(verb::make, way, declarations[0], "-before", done).value();
    } else if (how == beginning::old_map) {
        entitable_test::map_without_identity(
            all.catalogue, "mapm", declarations[0].shards, declarations[0].stores, brief());
        act(verb::create, way, declarations[0], "-before", done).value();
    } else if (how == beginning::hashed) {
        act(verb::make, way, declarations[3], "-before", done).value();
    }
    return done.written;
}

/// Stores that a declaration uses, as it is opened now; none where it is not.
std::set<std::string> used_by(stores_kept const& all, declaration const& of) {
    auto const cloud = opened(program_way{&all}, of);
    if (!cloud) { return {}; }
    std::set<std::string> names{of.stores.begin(), of.stores.end()};
    if (!of.map.empty()) {
        names.clear();
        for (auto const& each : cloud->map().state().fresh({}).value()->places) { names.insert(each.row.store); }
    }
    return names;
}

/// What is wrong when both have ended; empty for nothing.
std::string judged(stores_kept const& all, std::vector<std::pair<declaration, std::set<std::string>>> const& written,
    std::vector<declaration> const& retired) {
    program_way const way{&all};
    for (auto const& [of, places] : written) {
        bool const gone = std::any_of(retired.begin(), retired.end(),
            [&](declaration const& each) { return of.map.empty() && each.generation == of.generation; });
        if (gone || places.empty()) { continue; }
        auto const cloud = opened(way, of);
        if (!cloud) {
            return "rows were acknowledged, and nobody can open " + of.map + ": " + cloud.error().to_string();
        }
        for (auto const& each : cloud->map().state().fresh({}).value()->places) {
            if (!of.map.empty() && !each.row.attempt_owner.empty()) { // of a program that ended
                static_cast<void>(cancel_move(*cloud, each.row.shard));
            }
        }
        table<note> const notes{*cloud, "notes"};
        std::set<std::string> scanned;
        auto const rows = notes.scan_table().to();
        if (!rows) { return "rows were acknowledged, and a scan says " + rows.error().to_string(); }
        for (note const& each : *rows) { scanned.insert(each.place); }
        for (std::string const& each : places) {
            if (!notes.get(each, 1) || scanned.count(each) == 0) { return "a row is lost: " + each; }
        }
    }
    std::vector<std::set<std::string>> users;
    for (declaration const& each : declarations) {
        if (&each == &declarations[1] || &each == &declarations[4] || &each == &declarations[5]) {
            continue; // the same map; generations may share stores
        }
        users.push_back(used_by(all, each));
    }
    auto const other = used_by(all, declarations[1]);
    users.front().insert(other.begin(), other.end());
    auto const turned = used_by(all, declarations[4]);
    auto const next = used_by(all, declarations[5]);
    users.back().insert(turned.begin(), turned.end());
    users.back().insert(next.begin(), next.end());
    for (char const* store : store_names) {
        std::size_t owners = 0;
        for (auto const& each : users) { owners += each.count(store); }
        if (owners > 1) { return std::string{"two own the store "} + store; }
    }
    return "";
}

} // namespace

TEST_CASE("two programs: every pair of operations and declarations on one store") {
    std::uint64_t const orders = entitable_test::rounds(1, 600, 60);
    std::size_t runs = 0;
    std::size_t acknowledged = 0;
    std::uint64_t seed = 1;
    std::set<std::string> told;
    for (std::size_t first = 0; first < static_cast<std::size_t>(verb::last); ++first) {
        for (std::size_t second = 0; second < static_cast<std::size_t>(verb::last); ++second) {
            for (std::size_t start = 0; start < static_cast<std::size_t>(beginning::last); ++start) {
                for (std::uint64_t order = 0; order < orders * 3; ++order, ++seed) {
                    random_source dice{seed};
                    // A map of an earlier version has no identity: other programs do not know to which map its stores belong.
                    std::size_t const many =
                        static_cast<beginning>(start) == beginning::old_map ? 2 : std::size(declarations);
                    declaration const& one = declarations[order % 3 == 0 ? 0 : dice.bits() % many];
                    declaration const& two = declarations[dice.bits() % many];
                    stores_kept all;
                    auto const before = begin(static_cast<beginning>(start), all);
                    turns turn{seed};
                    deeds done[2];
                    auto const dies = [&] { return dice.bits() % 3 == 0 ? 1 + dice.bits() % 25 : 0; };
                    auto const program = [&](verb what, declaration const& of) {
                        return [&, what](std::size_t number) {
                            auto const end =
                                act(what, {&all, &turn, number}, of, "-" + std::to_string(number), done[number]);
                            done[number].told = end ? "done" : end.error().to_string();
                        };
                    };
                    std::size_t const end_of_one = dies();
                    std::size_t const end_of_two = dies();
                    turn.add(program(static_cast<verb>(first), one), end_of_one, dice.bits() % 2 == 0);
                    turn.add(program(static_cast<verb>(second), two), end_of_two, dice.bits() % 2 == 0);
                    turn.run();
                    std::vector<declaration> retired;
                    if (static_cast<verb>(first) == verb::retire && one.map.empty()) { retired.push_back(one); }
                    if (static_cast<verb>(second) == verb::retire && two.map.empty()) { retired.push_back(two); }
                    declaration const& owner = declarations[static_cast<beginning>(start) == beginning::hashed ? 3 : 0];
                    CAPTURE(seed, start, verb_names[first], verb_names[second], one.map, one.generation, two.map,
                        two.generation, &one - declarations, &two - declarations, done[0].told, done[1].told);
                    CHECK(
                        judged(all, {{owner, before}, {one, done[0].written}, {two, done[1].written}}, retired) == "");
                    ++runs;
                    acknowledged += done[0].written.size() + done[1].written.size();
                    told.insert(done[0].told.substr(0, done[0].told.find(':')));
                }
            }
        }
    }
    std::printf("two programs: %zu runs, %zu rows acknowledged, %zu answers\n", runs, acknowledged, told.size());
    CHECK(acknowledged > runs);
    CHECK(told.count("AlreadyMade") + told.count("WrongStore") + told.count("done") == 3);
}
