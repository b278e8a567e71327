// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Those who look after a world: operators.

#include "operator_clients.hpp"

namespace operator_worlds {

/// Makes and drops a table, backs up, checks, sweeps, gives up what was lost; and programs that do what they should not.
class an_operator {
public:
    explicit an_operator(world& in) : in_(in) {}

    void run() {
        while (!in_.closing) {
            auto const by = in_.new_process();
            if (auto const here = in_.open(by)) {
                for (int left = 8; left > 0 && !by->dead() && !in_.closing; --left) {
                    if (in_.made) { act(*here); }
                    by->rest(in_.from.upto(1500ms));
                }
            }
            in_.told.crashes += by->dead() ? 1U : 0U;
            in_.on.sleep_until(in_.on.now() + 400ms);
        }
    }

    /// Gives up what was lost: true where that is over.
    static bool heal(world& in, program const& here) {
        if (!in.injured) { return true; }
        injury const what = *in.injured;
        if (what.part_only) { return repair(in, here); }
        bool const in_place = !what.gone && in.from.one_in(2);
        if (in_place && forget(in, here, what.store, {what.store})) { return true; }
        return forget(in, here, what.store, {});
    }
    static bool forget(world& in, program const& here, std::string const& name, std::vector<std::string> const& into) {
        giving_up own{name, ++in.on.order, {}};
        std::uint64_t const cause = in.injured ? in.injured->since : 0;
        auto const before = in.map_now();
        auto const others_too = [&] { // who may give up what was just replaced
            return in.owed.contains(name) || std::any_of(in.giving.begin(), in.giving.end(), [&](auto* each) {
                return each != &own && each->store == name;
            });
        };
        bool const alone = !others_too();
        auto const healthy = in_place(in, *before, name, into);
        std::uint64_t const emptied = in.stores.at(name)->emptied;
        in.note_at(*before, own);
        for (giving_up* const each : in.giving) { each->alone = each->alone && each->store != name; }
        in.giving.push_back(&own);
        std::vector<std::string> others = into;
        if (others.empty()) { // by default it may choose another store that is gone
            others = in.names;
            std::erase(others, name);
        }
        auto const lost = forget_store(here.all(), name, accepting_loss, others);
        std::erase(in.giving, &own);
        in.tell("forget " + name + (into.empty() ? "" : " in place"), lost);
        if (lost && into.empty() &&
            undone(in, *before, name)) { // in place, another call may have begun again in the meantime
            in.complain("a store is said to be forgotten, and has a shard: " + lost->to_string());
            return false;
        }
        if (!lost) {
            if (lost.error().code != error_code::invalid_input) {
                in.owed[name].insert(own.partitions.begin(), own.partitions.end());
                in.grant(own.partitions, own.begun, "forgetting " + name + " in part");
            }
            return false;
        }
        std::set<std::string> named;
        for (std::string const& partition : own.partitions) {
            for (lost_shard const& each : lost->shards) {
                bool const is_in = in.by_ranges
                    ? partition >= each.low && (each.high.empty() || partition < each.high)
                    : static_cast<std::int32_t>(*in.shards().shard_of(partition)) == each.shard;
                if (is_in) { named.insert(partition); }
            }
        }
        for (lost_shard const& each : lost->shards) {
            if (healthy.contains(each.shard) && in.stores.at(name)->emptied == emptied && alone && own.alone) {
                in.complain("a shard is replaced that had everything: " + std::to_string(each.shard) + " in " + name);
            }
        }
        in.grant(named, own.begun, "forgetting " + name);
        in.owed.erase(name);
        ++in.told.forgets;
        if (in.injured && in.injured->store == name && in.injured->since == cause) { in.injured.reset(); }
        return true;
    }
    /// Shards in the store that have their rows: to replace a store in its place gives up others only.
    static std::set<std::int32_t> in_place(
        world& in, detail::shard_map_copy const& map, std::string const& name, std::vector<std::string> const& into) {
        std::set<std::int32_t> found;
        auto const* const table = map.find("items");
        for (auto const& each : map.places) {
            call own;
            if (into == std::vector{name} && each.row.store == name && each.row.state == "open" && table != nullptr &&
                in.stores.at(name)->below.execute(query_entities{each.table_name(*table), {}, {}, {}, 1, {}}, own)) {
                found.insert(each.row.shard);
            }
        }
        return found;
    }
    /// Whether a shard is in the store that was on its way there, or was there, before.
    static bool undone(world& in, detail::shard_map_copy const& before, std::string const& name) {
        auto const map = in.map_now();
        return std::any_of(map->places.begin(), map->places.end(),
            [&](auto const& each) { return each.row.store == name && each.row.epoch < before.header.next_epoch; });
    }
    static bool repair(world& in, program const& here) {
        giving_up own{{}, ++in.on.order, {}};
        std::uint64_t const cause = in.injured ? in.injured->since : 0;
        in.note_missing(own);
        in.giving.push_back(&own);
        auto const made = repair_tables(here.all(), accepting_loss);
        std::erase(in.giving, &own);
        in.tell("repair", made);
        in.grant(own.partitions, own.begun, "repairing");
        if (made) {
            in.told.repairs += *made;
            for (auto const& [name, store] : in.stores) { ++store->repaired; }
            if (in.injured && in.injured->part_only && in.injured->since == cause) { in.injured.reset(); }
        }
        return made.has_value();
    }
    /// A backup is begun, or resumed; what is whole is restored and compared.
    static bool back_up_once(world& in, program const& here) {
        if (in.backup.empty()) {
            in.backup = "b" + std::string(1, static_cast<char>('a' + in.backups % 26)) +
                std::string(static_cast<std::size_t>(in.backups / 26), 'x');
            ++in.backups;
            in.backup_begun = ++in.on.order;
            in.backup_calls = 0;
        }
        std::string const name = in.backup;
        std::uint64_t const begun = in.backup_begun;
        ++in.backup_calls;
        any_store const to{way{here.by, in.archive}};
        auto const made = back_up(here.all(), to, name);
        std::uint64_t const ended = ++in.on.order;
        in.tell("back up " + name + ", call of " + std::to_string(begun), made);
        bool const there =
            !made && made.error().code == error_code::invalid_input; // the answer of an earlier call was lost
        if ((!made && !there) || in.backup != name) { return false; }
        bool const resumed = in.backup_calls > 1;
        ++in.told.backups;
        in.told.resumed += resumed ? 1U : 0U;
        in.backup.clear();
        if (auto const right = verify_backup(any_store{in.archive->below}, name); !right) {
            in.complain("a backup that is whole is not: " + right.error().to_string());
            return true;
        }
        restore_and_compare(in, here, name, begun, ended);
        return true;
    }

private:
    static void restore_and_compare(
        world& in, program const& here, std::string const& name, std::uint64_t begun, std::uint64_t ended) {
        memory_backend const catalogue;
        std::map<std::string, memory_backend> stores;
        auto const open = [&stores](std::string_view store) -> result<any_store> {
            return any_store{stores[std::string{store}]};
        };
        auto map = lookup_map::make(catalogue, map_table, virtual_shards{3}, {"x", "y"}, open, {lease, here.by.get()});
        sharded const copy{map.value(), open};
        fleet const into{copy, fleet_options{1, {}, here.by.get()}};
        bool restored = false;
        for (int left = 6; left > 0 && !restored && !here.by->dead(); --left) {
            restored = restore(any_store{way{here.by, in.archive}}, name, into).has_value();
        }
        if (!restored) { // its process has ended, say: another one resumes
            auto const again = restore(any_store{in.archive->below}, name, into);
            if (!again) { return in.complain("a whole backup cannot be restored: " + again.error().to_string()); }
        }
        ++in.told.restored;
        for (std::string const& partition : in.partitions) {
            for (std::size_t at = 0; at < rows_of_partition; ++at) {
                call own;
                auto const got = copy.execute(get_entity{"items", partition, row_names[at], {}}, own);
                int const value = got ? world::value_of(got->entity.view()) : 0;
                in.history("items", partition).add({begun, ended, {{at, value}}, {}, false, "backup " + name, true});
            }
        }
    }

    void act(program const& here) {
        if (in_.injured && !in_.from.one_in(3)) {
            static_cast<void>(heal(in_, here));
            return;
        }
        switch (in_.from.below(12)) {
            case 0:
            case 1: return create(here);
            case 2: return drop(here);
            case 3:
            case 4:
            case 5: static_cast<void>(back_up_once(in_, here)); return;
            case 6:
            case 7: {
                auto const found = schema_drift(here.all(in_.names));
                if (found) {
                    auto const dropped = drop_orphaned_tables(here.all(in_.names), *found);
                    in_.told.left_over += dropped ? *dropped : 0;
                }
                return;
            }
            case 8: return check(here);
            case 9:
                if (in_.old_map) { return adopt_map(here); }
                return late_make(here);
            case 10: return late_make(here);
            default: return second_map(here);
        }
    }
    void create(program const& here) {
        call own;
        in_.told.created += here.cloud.execute(create_table{"tasks"}, own) ? 1U : 0U;
    }
    void drop(program const& here) {
        std::uint64_t const begun = ++in_.on.order;
        call own;
        auto const done = here.cloud.execute(delete_table{"tasks"}, own);
        if (!done && done.error().effect == effect::none) { return; }
        in_.told.dropped += done ? 1U : 0U;
        for (std::string const& partition : in_.partitions) {
            in_.history("tasks", partition).add({begun, done ? ++in_.on.order : still_open, {}, {}, true, "dropping"});
        }
    }
    /// Whether a shard of the store is without rows that it had, whoever asks.
    [[nodiscard]] bool lacks_part(std::string const& name) {
        auto const map = in_.map_now();
        auto const* const table = map->find("items");
        return std::any_of(map->places.begin(), map->places.end(), [&](auto const& each) {
            if (each.row.store != name || table == nullptr) { return false; }
            call own;
            query_entities const asked{each.table_name(*table), {}, {}, {}, 1, {}};
            return in_.gone.contains(name) || !in_.stores.at(name)->below.execute(asked, own);
        });
    }
    /// A check says that it has read everything: not while a store lacks what it had.
    void check(program const& here) {
        bool const before = in_.injured && lacks_part(in_.injured->store);
        std::uint64_t const since = before ? in_.injured->since : 0;
        auto const found = check_fleet(here.all());
        bool const lasts = before && in_.injured && in_.injured->since == since && in_.giving.empty() &&
            in_.owed.empty() && lacks_part(in_.injured->store);
        if (found && found->healthy() && lasts) {
            in_.complain("the fleet is healthy, and " + in_.injured->store + " lacks what it had");
        }
    }
    void adopt_map(program const& here) {
        auto const done = adopt(here.cloud);
        in_.tell("adopt", done);
        if (done) {
            ++in_.told.adoptions;
            in_.guarded = true;
        }
    }
    /// A program of long ago that begins by making.
    void late_make(program const& here) {
        bool const same = in_.from.one_in(2);
        auto const made = lookup_map::make(here.catalogue, map_table, same ? in_.shards() : virtual_shards{3},
            in_.names, in_.opener(here.by), in_.options(*here.by));
        in_.told.late_makes += !made && made.error().code == error_code::already_made ? 1U : 0U;
        if (made) { in_.complain("a map is made a second time"); }
    }
    void second_map(program const& here) {
        if (!in_.guarded || in_.injured || !in_.all_are_listed()) { return; }
        std::size_t const emptied = in_.told.emptied; // one that is emptied in the meantime, and given up, is nobody's
        auto const made = lookup_map::make(
            here.catalogue, "othermap", virtual_shards{2}, {in_.names[0]}, in_.opener(here.by), in_.options(*here.by));
        in_.told.second_maps += !made && made.error().code == error_code::wrong_store ? 1U : 0U;
        if (made && !in_.injured && in_.told.emptied == emptied) { in_.complain("two maps have the same store"); }
    }

    world& in_;
};

} // namespace operator_worlds
