// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Movers of a world; and what happens to its stores.

#include "operator_world.hpp"

namespace operator_worlds {

/// Moves, splits, merges, cancels, and closes stores for a while.
class mover {
public:
    mover(world& in, int number) : in_(in), number_(number) {}

    void run() {
        while (!in_.closing) {
            auto const by = in_.new_process();
            if (auto const here = in_.open(by)) {
                for (int left = 12; left > 0 && !by->dead() && !in_.closing; --left) {
                    if (in_.made) { act(*here); }
                    by->rest(in_.from.upto(700ms));
                }
            }
            in_.told.crashes += by->dead() ? 1U : 0U;
            in_.on.sleep_until(in_.on.now() + 500ms);
        }
    }

private:
    move_options options(program const& here) {
        move_options how;
        how.owner = "mover " + std::to_string(number_) + "-" + std::to_string(in_.from.below(1'000'000));
        how.short_lease = short_lease;
        how.wait_budget = in_.from.one_in(2) ? 0s : 3s;
        how.failures = 3;
        how.page_size = static_cast<std::uint32_t>(in_.from.one_in(2) ? 3 : 1000);
        how.off_line = in_.from.one_in(8);
        how.keep_old_tables = in_.from.one_in(12);
        how.time = here.by.get();
        return how;
    }
    void act(program const& here) {
        auto const map = in_.map_now();
        if (map->places.empty()) { return; }
        auto const at = in_.from.below(map->places.size());
        std::int32_t const shard = map->places[at].row.shard;
        std::string const target = in_.from.any_of(in_.names);
        switch (in_.from.below(10)) {
            case 0:
                if (in_.by_ranges && at + 1 < map->places.size()) {
                    auto plan = plan_merge(here.cloud, shard, map->places[at + 1].row.shard, target, options(here));
                    in_.tell("merge " + std::to_string(shard) + " into " + target + " begins");
                    auto const done = plan ? plan->run() : result<move_progress>{failure{plan.error()}};
                    in_.tell("merge " + std::to_string(shard) + " into " + target, done);
                    in_.told.merges += done ? 1U : 0U;
                    return;
                }
                break;
            case 1:
                if (in_.by_ranges && map->places.size() < 7) {
                    in_.told.splits += split_shard(here.cloud, shard, in_.from.any_of(in_.partitions)) ? 1U : 0U;
                    return;
                }
                break;
            case 2: in_.told.cancels += cancel_move(here.cloud, shard) ? 1U : 0U; return;
            case 3: {
                auto const how = in_.from.one_in(2) ? store_access::read_only : store_access::offline;
                if (set_access(here.all(), target, how, {"for a while", {}})) {
                    ++in_.told.accesses;
                    here.by->rest(in_.from.upto(800ms));
                }
                for (int left = 6; left > 0 && !set_access(here.all(), target, store_access::open); --left) {
                    here.by->rest(300ms);
                }
                return;
            }
            default: break;
        }
        auto plan = plan_move(here.cloud, shard, target, options(here));
        in_.tell("move " + std::to_string(shard) + " to " + target + " begins");
        auto const done = plan ? plan->run() : result<move_progress>{failure{plan.error()}};
        in_.tell("move " + std::to_string(shard) + " to " + target, done);
        in_.told.moves += done ? 1U : 0U;
    }

    world& in_;
    int number_;
};

/// What happens to stores.
inline void misfortune(world& in) {
    auto const rest = [&](std::chrono::nanoseconds length) { in.on.sleep_until(in.on.now() + length); };
    while (!in.closing) {
        rest(1s + in.from.upto(5s));
        if (in.closing || !in.made) { continue; }
        std::string const name = in.from.any_of(in.names);
        place& at = *in.stores.at(name);
        std::size_t const what = in.from.below(12);
        if (what < 5 || in.injured || !in.may_injure() || in.misled.use_count() > 1) { // see `all_are_listed`
            place& gone = what == 0 ? *in.catalogue : what == 1 ? *in.archive : at;
            gone.away = true;
            rest(in.from.upto(3s));
            gone.away = false || in.gone.contains(gone.name);
        } else if (what < 7) {
            in.injured = injury{name, ++in.on.order, false, false};
            in.tell("emptied: " + name);
            ++in.told.emptied;
            ++at.emptied;
            at.below = in.fresh();
        } else if (what == 7 && in.names.size() > 3) {
            in.injured = injury{name, ++in.on.order, true, false};
            in.tell("gone for good: " + name);
            ++in.told.gone;
            in.gone.insert(name);
            std::erase(in.names, name);
            at.away = true;
        } else if (what == 8) {
            auto const map = in.map_now();
            for (auto const& each : map->places) {
                call own;
                if (each.row.store == name && map->find("items") != nullptr && map->find("items")->whole &&
                    at.below.execute(delete_table{each.table_name(*map->find("items"))}, own)) {
                    in.injured = injury{name, ++in.on.order, false, true};
                    in.tell("a part is lost: " + each.table_name(*map->find("items")) + " of " + name);
                    ++in.told.parts_lost;
                    ++at.repaired;
                    break;
                }
            }
        }
        in.last_injury = in.injured ? in.injured->since : in.last_injury;
        for (giving_up* const each : in.giving) {
            if (each->store.empty() && in.injured) { in.note_missing(*each); }
        }
    }
}

} // namespace operator_worlds
