// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A catalogue, stores and an archive; programs that open the map; and what was seen of each partition.

#include "operator_figures.hpp"
#include "operator_histories.hpp"
#include "operator_stacks.hpp"
#include <entitable/core/row/system_rows.hpp>
#include <entitable/fleet.hpp>
#include <entitable/memory.hpp>
#include <entitable/shards.hpp>

#include <support/maps.hpp>

#include <cstdio>
#include <cstdlib>

namespace operator_worlds {

constexpr auto lease = 2s;
constexpr auto short_lease = 200ms;
constexpr auto check_every = 700ms;
inline constexpr char const* map_table = "shardmap";
inline constexpr char const* row_names[rows_of_partition] = {"a", "b", "c", "z"};

/// A program: a process, and the map that it opened.
struct program {
    std::shared_ptr<process> by;
    any_store catalogue;
    sharded cloud;
    std::int64_t generation{}; ///< of hashed stores; 0 for a map

    /// The table that is never dropped.
    [[nodiscard]] std::string items() const { return generation < 2 ? "items" : "items" + std::to_string(generation); }

    [[nodiscard]] fleet all(std::vector<std::string> stores = {}) const {
        return fleet{cloud, fleet_options{1, std::move(stores), by.get()}};
    }
};

class world {
public:
    world(std::uint64_t seed, figures& counted) : from(seed), told(counted) {
        by_ranges = !from.one_in(3);
        old_map = from.one_in(4);
        in.lost_one_in = 40 + from.below(200);
        in.late_one_in = 80 + from.below(400);
        std::size_t const count = 3 + from.below(3);
        for (std::size_t number = 0; number < count; ++number) {
            std::string const name = "s" + std::to_string(number);
            stores.emplace(name, make_place(name));
            names.push_back(name);
        }
        for (int number = 0; number < 10; ++number) { partitions.push_back("p" + std::to_string(number)); }
        catalogue = make_place("catalogue");
        archive = make_place("archive");
    }

    [[nodiscard]] std::shared_ptr<place> make_place(std::string const& name) {
        auto one = std::make_shared<place>();
        one->name = name;
        one->below = fresh();
        return one;
    }
    [[nodiscard]] memory_backend fresh() {
        local_options options;
        options.time = &on.clock;
        options.page_examined = from.one_in(2) ? 10'000 : 5;
        return memory_backend{options};
    }

    void complain(std::string const& what) {
        if (wrong.empty()) { wrong = what; }
    }
    [[nodiscard]] virtual_shards shards() const {
        return by_ranges ? virtual_shards::ranges({"p2", "p4", "p6", "p8"}) : virtual_shards{5};
    }
    [[nodiscard]] store_opener opener(std::shared_ptr<process> const& by, bool wrong_names = false) {
        return [this, by, wrong_names, lives = wrong_names ? misled : std::shared_ptr<int>{}](
                   std::string_view name) -> result<any_store> {
            auto found = stores.find(std::string{name});
            if (found == stores.end()) { return failure{error_code::invalid_input, "there is no such store"}; }
            if (wrong_names && ++found == stores.end()) { found = stores.begin(); }
            return any_store{way{by, found->second}};
        };
    }
    [[nodiscard]] lookup_map_options options(process& by) const { return {lease, &by, check_every}; }
    [[nodiscard]] std::shared_ptr<process> new_process(bool may_die = true) {
        bool const dies = may_die && in.faults && !closing && from.one_in(2);
        return std::make_shared<process>(on, in, from, dies ? 5 + from.below(250) : 0);
    }
    /// A program begins.
    [[nodiscard]] result<program> open(std::shared_ptr<process> const& by) {
        if (generation > 0) { return open_hashed(by, from.one_in(4) ? 1 : generation); }
        bool const wrong_names = may_injure() && from.one_in(25) && !injured && all_are_listed();
        told.wrong_names += wrong_names ? 1U : 0U;
        any_store const map{way{by, catalogue}};
        auto opened = lookup_map::open(map, map_table, by_ranges ? virtual_shards::ranges() : shards(), options(*by));
        if (!opened) { return std::move(opened).as_failure(); }
        sharded_options how;
        how.time = by.get();
        return program{by, map, sharded{*std::move(opened), opener(by, wrong_names), how}};
    }
    /// Whether stores are guarded: programs of versions without identities of maps do not notice that a store has lost its rows.
    [[nodiscard]] bool may_injure() const { return in.faults && !closing && guarded && made; }

    [[nodiscard]] hash_stores_options hash_options(process& by, std::int64_t of) const {
        return {of, check_every, &by};
    }
    [[nodiscard]] result<program> open_hashed(std::shared_ptr<process> const& by, std::int64_t of) {
        auto opened =
            hash_stores::open(hashed, opener(by, in.faults && !closing && from.one_in(25)), hash_options(*by, of));
        if (!opened) { return std::move(opened).as_failure(); }
        sharded_options how;
        how.time = by.get();
        return program{by, any_store{way{by, catalogue}}, sharded{*opened, how}, of};
    }
    /// Whether a request that began then may be answered by hashed stores.
    void answered(program const& here, steady_time begun) {
        if (here.generation == 1 && retired_at && begun > *retired_at + check_every * 11 / 10) {
            complain("a generation that was retired is used");
        }
    }
    /// A store that nobody uses yet can be any: what opens it under a wrong name cannot be told.
    [[nodiscard]] bool all_are_listed() {
        auto const map = map_now();
        return std::all_of(names.begin(), names.end(), [&](std::string const& name) {
            store_identity const its;
            call own;
            return map->lists(name) &&
                stores.at(name)->below.execute(get_entity{"entitableshards", its.part, its.kind, {}}, own);
        });
    }

    /// For people who look into one world: ENTITABLE_TELL.
    void tell(std::string const& what) {
        if (telling) {
            std::printf("%10.3f %8llu %s\n", std::chrono::duration<double>(on.now() - began).count(),
                static_cast<unsigned long long>(on.order), what.c_str());
        }
    }
    template <class Done>
    void tell(std::string const& what, Done const& done) {
        tell(what + (done ? ": done" : ": " + done.error().to_string()));
    }

    // ---- the map as it is ----

    [[nodiscard]] detail::shard_map_ref map_now() {
        if (!eye) {
            auto opened = lookup_map::open(
                catalogue->below, map_table, by_ranges ? virtual_shards::ranges() : shards(), {lease, &on.clock});
            if (!opened) {
                complain("the map is not valid: " + opened.error().to_string());
                return detail::shard_map_ref::make();
            }
            eye.emplace(*std::move(opened));
        }
        auto read = eye->state().fresh({});
        if (!read) {
            complain("the map is not valid: " + read.error().to_string());
            return detail::shard_map_ref::make();
        }
        return *read;
    }
    [[nodiscard]] detail::shard_place const* place_of(detail::shard_map_copy const& map, std::string const& partition) {
        if (map.places.empty()) { return nullptr; }
        return map.by_ranges ? &map.range_of(partition)
                             : map.find_shard(static_cast<std::int32_t>(*shards().shard_of(partition)));
    }
    /// Called whenever the map was changed.
    void map_changed() {
        if (!made) { return; }
        auto const map = map_now();
        if (telling) {
            std::string text;
            for (auto const& each : map->places) {
                text += " " + std::to_string(each.row.shard) +
                    (each.row.tables_of ? "/" + std::to_string(*each.row.tables_of) : "") + "=" + each.row.store + "x" +
                    std::to_string(each.row.epoch) + (each.row.state == "open" ? "" : each.row.state) +
                    (each.row.attempt_owner.empty()
                            ? ""
                            : ">" + each.row.attempt_store + "x" + std::to_string(each.row.attempt_epoch)) +
                    (each.row.retired.empty() ? "" : "[" + each.row.retired + "]");
            }
            tell("    map" + text + " " + map->header.tables);
        }
        for (giving_up* const each : giving) { note_at(*map, *each); }
    }
    void note_at(detail::shard_map_copy const& map, giving_up& each) {
        for (std::string const& partition : partitions) {
            auto const* const at = place_of(map, partition);
            if (at != nullptr && at->row.store == each.store) { each.partitions.insert(partition); }
        }
    }
    /// Partitions whose part is missing: a repair, in any store, gives their rows up. Called when a repair begins, and whenever a part is lost.
    void note_missing(giving_up& each) {
        auto const map = map_now();
        auto const* const table = map->find("items");
        for (std::string const& partition : partitions) {
            auto const* const at = place_of(*map, partition);
            call own;
            if (at != nullptr && table != nullptr &&
                !stores.at(at->row.store)
                    ->below.execute(query_entities{at->table_name(*table), {}, {}, {}, 1, {}}, own)) {
                each.partitions.insert(partition);
            }
        }
    }
    void grant(std::set<std::string> const& lost, std::uint64_t begun, std::string const& who) {
        for (std::string const& partition : lost) {
            for (char const* table : {"items", "tasks"}) {
                history(table, partition).add({begun, still_open, {}, {}, true, who});
            }
        }
    }
    [[nodiscard]] bool has_lost_something() const { return injured.has_value(); }

    // ---- what was seen ----

    [[nodiscard]] partition_history& history(std::string const& table, std::string const& partition) {
        return histories[table + '/' + partition];
    }
    [[nodiscard]] row entity(std::string const& partition, std::size_t at, int held) const {
        row_builder builder{partition, row_names[at]};
        builder.add("v", value_view{static_cast<std::int32_t>(held)});
        return builder.build();
    }
    static int value_of(row_view stored) {
        auto const found = stored.find("v");
        return found ? found->as_int32() : -1;
    }
    static std::size_t number_of(std::string_view row_key) {
        for (std::size_t at = 0; at < rows_of_partition; ++at) {
            if (row_key == row_names[at]) { return at; }
        }
        return rows_of_partition;
    }
    using position = std::pair<std::string, std::string>;
    /// What a page says of the rows between where it began and where it ended. `at_once`: as one snapshot of its partition.
    void saw_page(std::string const& table, std::uint64_t begun, page const& rows, bool more,
        std::optional<position>& before, std::vector<std::string> const& of, bool at_once, std::string const& who) {
        std::map<position, int> found;
        std::optional<position> last = before;
        for (std::size_t index = 0; index < rows.size(); ++index) {
            row_view const each = rows[index];
            position here{each.partition_key, each.row_key};
            if (last && here <= *last) {
                complain(who + " meets a row twice, or out of order: " + here.first + " " + here.second);
            }
            last = here;
            found.emplace(std::move(here), value_of(each));
        }
        std::uint64_t const ended = ++on.order;
        for (std::string const& partition : blind(begun) ? std::vector<std::string>{} : of) {
            happened seen{begun, ended, {}, {}, false, who};
            for (std::size_t at = 0; at < rows_of_partition; ++at) {
                position const here{partition, row_names[at]};
                if ((before && here <= *before) || (more && (!last || here > *last))) { continue; }
                auto const met = found.find(here);
                std::pair<std::size_t, int> const one{at, met == found.end() ? 0 : met->second};
                if (at_once) {
                    seen.sees.push_back(one);
                } else {
                    history(table, partition).add({begun, ended, {one}, {}, false, who});
                }
            }
            if (!seen.sees.empty()) { history(table, partition).add(std::move(seen)); }
        }
        before = std::move(last);
    }
    /// Reads a partition page by page; false where it could not.
    bool read_partition(
        any_store const& through, std::string const& table, std::string const& partition, std::string const& who) {
        query_entities asked{table, {key_interval::only(partition), {}}, {}, {}, 1000, {}};
        std::optional<position> before;
        do {
            std::uint64_t const begun = ++on.order;
            call own;
            auto const got = through.execute(asked, own);
            if (!got) {
                judge(table, got.error());
                return false;
            }
            ++told.pages;
            saw_page(table, begun, got->rows, got->continuation.has_value(), before, {partition}, true, who);
            asked.continuation = got->continuation;
        } while (asked.continuation);
        return true;
    }
    /// Reads a table by tokens; false where it could not to its end.
    bool scan(any_store const& through, std::string const& table, std::uint32_t size, std::string const& who) {
        query_entities asked{table, {}, {}, {}, size, {}};
        std::optional<position> before;
        int left = 8; // an error now and then is what tokens are for
        do {
            std::uint64_t const begun = ++on.order;
            call own;
            auto const got = through.execute(asked, own);
            if (!got) {
                judge(table, got.error());
                if (--left == 0 || closing) { return false; }
                continue;
            }
            saw_page(table, begun, got->rows, got->continuation.has_value(), before, partitions, false, who);
            asked.continuation = got->continuation;
            if (!asked.continuation) {
                ++told.scans;
                return true;
            }
        } while (true);
    }
    /// What no client may be told.
    void judge(std::string const& table, error const& why) {
        if (table == "items" && made && !old_map && generation == 0 &&
            (why.code == error_code::table_not_found || why.code == error_code::shard_map_invalid)) {
            complain("a client is told " + why.to_string());
        }
    }

    stage on;
    steady_time began{on.now()};
    bool telling{std::getenv("ENTITABLE_TELL") != nullptr};
    weather in;
    draws from;
    figures& told;
    std::string wrong;
    bool by_ranges{};
    bool old_map{}; ///< begins without an identity
    bool guarded{}; ///< has one
    bool made{};    ///< the map, and the table "items" in it
    bool closing{}; ///< actors end
    std::map<std::string, std::shared_ptr<place>> stores;
    std::vector<std::string> names; ///< of stores that may get shards
    std::vector<std::string> partitions;
    std::shared_ptr<place> catalogue;
    std::shared_ptr<place> archive;
    std::optional<lookup_map> eye;
    std::map<std::string, partition_history> histories;
    /// Whether what began then proves nothing: within `check_every` a hashed store that was emptied is noticed, and not before.
    [[nodiscard]] bool blind(std::uint64_t begun) const { return blind_now || begun < blind_until; }
    std::shared_ptr<int> misled{std::make_shared<int>()}; ///< programs with wrong names have it
    bool blind_now{};
    std::uint64_t blind_until{};
    std::optional<injury> injured;
    std::uint64_t last_injury{};
    std::vector<giving_up*> giving;                    ///< those who are at it
    std::map<std::string, std::set<std::string>> owed; ///< by calls that ended in the middle
    std::set<std::string> gone;                        ///< stores that never answer again
    std::string backup;                                ///< that was begun; empty for none
    std::uint64_t backup_begun{};
    int backup_calls{};
    int backups{};
    int value{};
    std::vector<std::string> hashed;         ///< hashed stores, in their order
    std::int64_t generation{};               ///< of them, which new programs open; 0 for a map
    std::optional<steady_time> retired_at{}; ///< the first one
};

} // namespace operator_worlds
