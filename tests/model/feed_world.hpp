// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Programs that write an announced table and follow it, and what must be true in each state.

#include "support/catch.hpp"
#include "support/defects.hpp"
#include "support/long.hpp"
#include <entitable/core/try.hpp>
#include <entitable/feed.hpp>
#include <entitable/testing/contents.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

#include <algorithm>
#include <functional>
#include <map>

namespace feed_world {

using namespace entitable;
using entitable_test::through_defect;
using entitable_test::with_defect;

struct stock {
    std::string shop;
    std::int32_t item{};
    std::int64_t pieces{};
};
ENTITABLE(stock, partition_key(shop), row_key(literal("S:"), item), properties(pieces))

using one_lane = table<stock, logged_with<log_options{.announced = true, .feed_lanes = 1}>>;
using with_lanes = table<stock, logged_with<log_options{.lanes = 2, .announced = true, .feed_lanes = 2}>>;

template <class Table>
Table open(any_store const& through, entitable::clock& time, std::uint64_t seed) {
    table_options how;
    how.time = &time;
    how.seed = seed;
    how.max_attempts = 4;
    how.lease = std::chrono::hours{10};
    return Table{through, "stocks", how};
}

/// What a group has made of the changes: a copy of the rows, and how far it is.
struct mirror {
    std::map<std::string, std::int64_t> rows; ///< by partition and row key
    std::map<std::string, log_position> done; ///< by partition

    [[nodiscard]] std::string text() const {
        std::string made;
        for (auto const& [key, pieces] : rows) { made += " " + key + "=" + std::to_string(pieces); }
        for (auto const& [key, position] : done) { made += " " + key + "@" + position.to_string(); }
        return made;
    }
};
using mirrors = std::map<std::string, mirror>; ///< by group

inline std::map<std::string, std::int64_t> rows_of(any_store const& store) {
    std::map<std::string, std::int64_t> found;
    for (stock const& one : table<stock>{store, "stocks"}.scan_table()) {
        found[one.shop + "/" + row_key_of(one).value()] = one.pieces;
    }
    return found;
}

/// The effect of changes: at the time of the call, directly in the store.
inline void apply(any_store const& store, partition_changes const& each, mirror& to) {
    table<stock> const stocks{store, "stocks"};
    std::string const prefix = each.partition_key + "/";
    if (each.needs_full_read) {
        std::erase_if(to.rows, [&](auto const& one) { return one.first.starts_with(prefix); });
        for (stock const& one : stocks.where(fields<stock>::shop == each.partition_key)) {
            to.rows[prefix + row_key_of(one).value()] = one.pieces;
        }
    }
    for (logged_change const& change : each.changes) {
        for (logged_row const& row : change.rows) {
            auto const one = stocks.find(reference<stock>{each.partition_key, row.row_key}).value();
            if (one) {
                to.rows[prefix + row.row_key] = one->pieces;
            } else {
                to.rows.erase(prefix + row.row_key);
            }
        }
    }
    to.done[each.partition_key] = each.position;
}

inline feed_options options_of(entitable::clock& time, std::uint64_t seed) {
    feed_options how;
    how.time = &time;
    how.seed = seed;
    how.void_after = {};
    how.trim_after = 1;
    how.keep = {};
    how.max_attempts = 4;
    how.polling = {.base = {}, .least = std::chrono::seconds{1}, .most = std::chrono::seconds{1}, .jitter = 0};
    return how;
}

/// Processes at most some batches. `early`: a defect, the position is saved before the effect.
template <class Table>
result<void> work(any_store const& direct, feed const& changes, mirror& to, int batches,
    std::chrono::nanoseconds wait = {}, bool early = false) {
    for (int batch = 0; batch < batches; ++batch) {
        ENTITABLE_TRY(auto const found, changes.next(wait));
        if (!found) { continue; }
        if (early) { ENTITABLE_CHECK(found->done()); }
        for (partition_changes const& each : found->partitions()) { apply(direct, each, to); }
        if (!early) { ENTITABLE_CHECK(found->done()); }
    }
    return {};
}

template <class Table>
struct actor {
    std::string name;
    std::function<result<void>(
        any_store const& direct, any_store const& way, entitable::clock&, std::uint64_t seed, mirrors&)>
        does;
    through_defect defect{};
};

template <class Result>
result<void> only_error(Result const& made) {
    return made ? result<void>{} : result<void>{failure{made.error()}};
}

template <class Table>
actor<Table> writes(std::int32_t item, int times = 1, std::string const& shop = "Kiel") {
    return {"write " + std::to_string(item),
        [=](any_store const&, any_store const& way, entitable::clock& time, std::uint64_t seed,
            mirrors&) -> result<void> {
            auto const stocks = open<Table>(way, time, seed);
            for (int round = 0; round < times; ++round) {
                stock const one{shop, item, static_cast<std::int64_t>(seed) * 100 + round};
                ENTITABLE_CHECK(only_error(stocks.insert_or_replace(one)));
            }
            return {};
        }};
}
template <class Table>
actor<Table> removes(std::int32_t item) {
    return {"remove " + std::to_string(item),
        [=](any_store const&, any_store const& way, entitable::clock& time, std::uint64_t seed,
            mirrors&) -> result<void> {
            return only_error(open<Table>(way, time, seed).remove(stock{"Kiel", item, 0}, any_etag));
        }};
}
template <class Table>
actor<Table> follows(
    std::string const& group, int batches = 1, std::chrono::nanoseconds wait = {}, bool early = false) {
    return {"follow " + group,
        [=](any_store const& direct, any_store const& way, entitable::clock& time, std::uint64_t seed,
            mirrors& all) -> result<void> {
            feed const changes{open<Table>(way, time, seed), group, options_of(time, seed)};
            return work<Table>(direct, changes, all[group], batches, wait, early);
        }};
}
template <class Table>
actor<Table> joins(std::string const& group) {
    return {"join " + group,
        [=](any_store const&, any_store const& way, entitable::clock& time, std::uint64_t seed,
            mirrors&) -> result<void> {
            feed const changes{open<Table>(way, time, seed), group, options_of(time, seed)};
            return only_error(changes.create());
        }};
}
template <class Table>
actor<Table> leaves(std::string const& group) {
    return {"leave " + group,
        [=](any_store const&, any_store const& way, entitable::clock& time, std::uint64_t seed, mirrors&)
            -> result<void> { return feed{open<Table>(way, time, seed), group, options_of(time, seed)}.leave(); }};
}
template <class Table>
actor<Table> with(through_defect defect, actor<Table> one) {
    one.defect = std::move(defect);
    return one;
}

// ---- the invariant ----------------------------------------------------------------------------------

/// A partition, and a lane of its log.
using place = std::pair<std::string, std::uint32_t>;
struct stored_log {
    std::map<std::int64_t, detail::stored_log_entry> entries;
    std::int64_t head{};
};
struct stored_group {
    std::map<std::string, bool> lanes; ///< lanes where it is registered: whether it has joined
    std::map<std::string, log_position> positions;
};
struct stored_feed {
    std::map<place, stored_log> logs;
    std::map<place, std::int64_t> announced; ///< the greatest number
    std::map<std::string, bool> announced_by_create;
    std::map<std::string, stored_group> groups;
    std::size_t announcements{};
};

inline stored_feed read_feed(any_store const& store, std::size_t lanes) {
    stored_feed made;
    auto const all = testing::read_contents(store, {"stocks", "stocksfeed"}).value();
    for (auto const& [keys, each] : all.tables.at("stocks")) {
        std::string_view key = keys.second;
        if (!key.starts_with(system_row::log)) { continue; }
        key.remove_prefix(system_row::log.size());
        std::uint32_t lane = 0;
        if (lanes > 1) {
            lane = static_cast<std::uint32_t>((key[0] - '0') * 10 + key[1] - '0');
            key.remove_prefix(3);
        }
        stored_log& log = made.logs[{keys.first, lane}];
        if (key == "head") {
            log.head = detail::read_log_head(each.view()).value().number;
        } else {
            auto const entry = detail::read_log_entry(each.view(), lane).value();
            log.entries[entry.change.number] = entry;
        }
    }
    for (auto const& [keys, each] : all.tables.at("stocksfeed")) {
        std::string const& key = keys.second;
        auto const text = [&](std::string_view name) { return std::string{each.view().find(name)->bytes()}; };
        if (key.starts_with(detail::feed_prefix('a'))) {
            auto const one = detail::read_announcement(each.view()).value();
            std::int64_t& number = made.announced[{one.partition_key, one.log_lane}];
            number = (std::max)(number, one.number);
            if (one.number == 0) { made.announced_by_create[one.partition_key] = true; }
            ++made.announcements;
        } else if (key.starts_with(detail::feed_prefix('g'))) {
            made.groups[key.substr(detail::feed_prefix('g').size())].lanes[keys.first] =
                each.view().find("Joined")->bits() != 0;
        } else if (key.starts_with(detail::feed_prefix('p'))) {
            std::string name = key.substr(detail::feed_prefix('p').size());
            name = name.substr(0, name.find('!'));
            made.groups[name].positions[text("Partition")] = *log_position::parse(text("Position"));
        }
    }
    std::erase_if(made.groups, [](auto const& each) { return each.second.lanes.empty(); });
    return made;
}

/// What is wrong in a state.
inline std::string wrong(any_store const& store, std::size_t lanes, mirrors const& all) {
    stored_feed const now = read_feed(store, lanes);
    for (auto const& [name, group] : now.groups) {
        for (auto const& [at, log] : now.logs) {
            auto const lane = group.lanes.find(detail::feed_lane_key(detail::feed_lane_of(at.first, lanes)));
            if (lane == group.lanes.end()) { continue; } // not registered yet, or it leaves
            auto const known = group.positions.find(at.first);
            bool const has_position = known != group.positions.end();
            if (!has_position && (!lane->second || now.announced_by_create.contains(at.first))) { continue; }
            std::int64_t const position = has_position ? known->second.numbers.at(at.second) : 0;
            auto const later = log.entries.upper_bound(position);
            bool const is_trimmed =
                later == log.entries.end() ? log.head > position : later->second.previous > position;
            if (is_trimmed) { return "a change that the group " + name + " has not processed was trimmed"; }
            auto const told = now.announced.find(at);
            std::int64_t const announced = told == now.announced.end() ? 0 : told->second;
            for (auto entry = later; entry != log.entries.end(); ++entry) {
                if (!entry->second.is_void && entry->first > announced) {
                    return "a change that the group " + name + " has not processed is not announced";
                }
            }
            auto const own = all.find(name);
            if (!has_position || own == all.end()) { continue; }
            auto const done = own->second.done.find(at.first);
            std::int64_t const processed = done == own->second.done.end() ? 0 : done->second.numbers.at(at.second);
            for (auto const& [number, entry] : log.entries) {
                if (number > processed && number <= position && !entry.is_void) {
                    return "the position of the group " + name + " is saved before the effect";
                }
            }
        }
    }
    return {};
}

template <class Table>
testing::interleaving_report walk(std::vector<actor<Table>> const& actors, testing::interleaving_limits limits,
    std::uint64_t drawn = 0, std::size_t usual_states = 300) {
    constexpr std::size_t lanes = std::is_same_v<Table, with_lanes> ? 2 : 1;
    limits.most_states = drawn != 0 ? 5'000 : entitable_test::rounds(usual_states, 300'000, 5'000);
    limits.most_requests = 800;
    auto const begin = [&](testing::stage& on) {
        auto const all = std::make_shared<mirrors>();
        auto const first = open<Table>(on.store(), on.time(), 98);
        first.create().value();
        first.insert(stock{"Kiel", 1, 100}).value();
        feed const changes{first, "a", options_of(on.time(), 99)};
        changes.create().value();
        work<Table>(on.store(), changes, (*all)["a"], 4).value();
        changes.release().value();
        std::uint64_t seed = 0;
        for (actor<Table> const& each : actors) {
            ++seed;
            on.add(
                each.name,
                [&on, each, seed, all] {
                    any_store const direct = on.store();
                    // The declaration does not change here, so its reads are not steps.
                    auto const known =
                        with_defect([direct]<class Request>(any_store const& below, Request const& request,
                                        call& context) -> result<response_of<Request>> {
                            bool is_declaration = false;
                            if constexpr (std::same_as<Request, get_entity>) {
                                is_declaration = request.partition_key == system_row::index;
                            } else if constexpr (std::same_as<Request, query_entities>) {
                                is_declaration = request.range.partition.lower.key == system_row::index;
                            }
                            return is_declaration ? direct.execute(request, context) : below.execute(request, context);
                        });
                    auto const runs = [each, seed, all, direct, known](any_store way, entitable::clock& time) {
                        any_store const through = known(std::move(way));
                        return each.does(direct, each.defect ? each.defect(through) : through, time, seed, *all);
                    };
                    return testing::program<result<void>>{runs, on.time().steady()};
                },
                [](result<void> const&) {});
        }
        on.remember([all] {
            std::string made;
            for (auto const& [name, each] : *all) { made += name + each.text() + ";"; }
            return made;
        });
        on.always([&on, all] { return wrong(on.store(), lanes, *all); });
        on.at_end([&on, all]() -> std::string {
            // Workers that nobody disturbs bring each registered group to the state of the table.
            for (int round = 0; round < 3; ++round) {
                on.time().advance(std::chrono::minutes{1});
                for (auto const& [name, each] : read_feed(on.store(), lanes).groups) {
                    feed const worker{open<Table>(on.store(), on.time(), 97), name, options_of(on.time(), 96)};
                    static_cast<void>(worker.create().value());
                    auto const done = work<Table>(on.store(), worker, (*all)[name], 8);
                    if (!done) { return "a worker ends with " + done.error().to_string(); }
                    worker.release().value();
                }
            }
            stored_feed const last = read_feed(on.store(), lanes);
            for (auto const& [name, each] : last.groups) {
                if ((*all)[name].rows != rows_of(on.store())) { return "the group " + name + " misses a change"; }
            }
            return last.announcements == 0 || last.groups.empty() ? std::string{} : "announcements are left";
        });
    };
    return drawn == 0 ? testing::interleavings(begin, limits) : testing::random_interleaving(begin, limits, drawn);
}

inline void check_walk(testing::interleaving_report const& seen) {
    CAPTURE(seen.schedule, seen.states, seen.complete);
    CHECK(seen.problem == "");
}

inline testing::interleaving_limits const quiet{.faults = 0, .late = 0};
inline testing::interleaving_limits const lost{.faults = 1, .late = 0};
inline testing::interleaving_limits const late{.faults = 0, .late = 1};
inline testing::interleaving_limits const ends{.faults = 0, .late = 0, .crashes = 1};

/// Runs schedules from seeds until one shows a problem.
template <class Table>
std::string found_by_chance(
    std::vector<actor<Table>> const& actors, testing::interleaving_limits const& limits, std::uint64_t most = 4'000) {
    for (std::uint64_t seed = 1; seed <= most; ++seed) {
        auto seen = walk(actors, limits, seed);
        if (!seen.problem.empty()) { return std::move(seen.problem); }
    }
    return {};
}

} // namespace feed_world
