// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A simulation of ranges with operators and clients, and the invariants of the logical table.

#include "range_saboteur.hpp"
#include "shard_world.hpp"

namespace shard_world {

inline row entry(std::string const& key, std::string const& value) {
    row_builder made{key, "k"};
    made.add("v", std::string_view{value});
    return made.build();
}
// ---- the invariants of the logical table ----

/// The current map; ShardMapInvalid unless its ranges cover every key exactly once.
inline result<detail::shard_map_ref> map_now(memory_backend const& store) {
    auto reading = detail::read_shard_map("shardmap");
    while (!reading.next().done()) {
        call context;
        operation_step const due = reading.next();
        due.request.visit(
            [&]<class Request>(Request const& request) { reading.answer(store.execute(request, context), {}); });
    }
    return reading.finish();
}

/// Invariants of a map from one change to the next: a removed number does not return, and a table gets keys only when it is created.
class map_rules {
public:
    [[nodiscard]] std::string follow(detail::shard_map_copy const& map) {
        std::set<std::int32_t> numbers;
        std::map<std::string, std::set<std::string>> keys;
        for (std::string const key : {"a", "c", "d", "k1", "m", "p", "t", "x", "y"}) { // bounds, and some between
            detail::shard_place const& place = map.range_of(key);
            keys[place.row.store + '/' + place.table_name(map.tables.front())].insert(key);
        }
        for (detail::shard_place const& place : map.places) {
            numbers.insert(place.row.shard);
            if (gone_.contains(place.row.shard)) {
                return "the number of a range that has gone is used again: " + std::to_string(place.row.shard);
            }
        }
        std::set_difference(
            numbers_.begin(), numbers_.end(), numbers.begin(), numbers.end(), std::inserter(gone_, gone_.end()));
        numbers_ = std::move(numbers);
        for (auto& [table, had] : keys_) {
            std::set<std::string>& has = keys[table];
            if (!std::includes(had.begin(), had.end(), has.begin(), has.end())) {
                return "a table has got keys: " + table;
            }
        }
        keys_ = std::move(keys); // includes earlier ranges, which have no keys now
        return {};
    }

private:
    std::set<std::int32_t> numbers_;
    std::set<std::int32_t> gone_;
    std::map<std::string, std::set<std::string>> keys_; ///< keys of each table that existed
};

/// The invariants of the ranges.
struct range_scene : scene {
    map_rules rules;
    bool
        late_rows{}; ///< when two ranges are merged, a late write to the keys of the upper one arrives in the table of the lower one
};

/// The rows that the ranges of the map have in their tables, in key order; each key once.
inline std::map<std::string, std::string> rows_now(memory_backend const& store) {
    std::map<std::string, std::string> rows;
    auto const read = map_now(store);
    if (!read) {
        rows["?"] = read.error().to_string();
        return rows;
    }
    auto const& map = *read;
    for (detail::shard_place const& place : map->places) {
        call context;
        auto const found = store.execute(
            query_entities{place.table_name(map->tables.front()), {place.keys(), {}}, {}, {}, 1000, {}}, context);
        if (!found) {
            rows["?"] = "the table of " + std::to_string(place.row.shard) + " is lost";
            continue;
        }
        for (std::size_t index = 0; index < found->rows.size(); ++index) {
            if (!system_row::is_one(found->rows[index].row_key)) {
                rows[std::string{found->rows[index].partition_key}] = value_of(found->rows[index]);
            }
        }
    }
    return rows;
}

/// Whether the ranges contain the expected rows.
inline std::string differs_now(memory_backend const& store, scene const& all) {
    auto const rows = rows_now(store);
    if (auto const lost = rows.find("?"); lost != rows.end()) { return lost->second; }
    for (auto const& [key, value] : rows) {
        auto const known = all.rows.find(key);
        if (!all.maybe.contains(key + value) && (known == all.rows.end() || known->second != value)) {
            return "a row is there that was removed, replaced or never written: " + key + " is " + value;
        }
    }
    for (auto const& [key, value] : all.rows) {
        if (!rows.contains(key)) { return "an acknowledged row is lost: " + key; }
    }
    return {};
}

/// Tables that no range uses, and rows in tables of ranges without their keys; none while the map has unfinished work.
inline std::string tables_left(memory_backend const& store, bool with_rows = false) {
    auto const read = map_now(store);
    if (!read) { return read.error().to_string(); }
    auto const& map = **read;
    std::map<std::string, std::vector<key_interval>> wanted;
    for (detail::shard_place const& place : map.places) {
        wanted[place.table_name(map.tables.front())].push_back(place.keys());
        if (!place.row.attempt_owner.empty() || !place.retired.empty()) { return {}; }
    }
    call context;
    auto const found = store.execute(list_tables{{}, 1000}, context).value().tables;
    for (std::string const& table : found) {
        if (!table.starts_with("items")) { continue; }
        auto const its = wanted.find(table);
        if (its == wanted.end()) { return "a table is left: " + table; }
        call own;
        auto const rows = store.execute(query_entities{table, {}, {}, {}, 1000, {}}, own).value().rows;
        for (std::size_t index = 0; with_rows && index < rows.size(); ++index) {
            std::string const key{rows[index].partition_key};
            bool const is_its = std::any_of(
                its->second.begin(), its->second.end(), [&](key_interval const& keys) { return keys.contains(key); });
            if (!is_its && !system_row::is_one(rows[index].row_key)) {
                return "a row is left in a table of other keys: " + key + " in " + table;
            }
        }
    }
    return {};
}

/// In front of the store. A client whose requests take no time writes a key of each range whenever the map changes, and between pages of a copy.
struct beside {
    using is_transport = void;
    memory_backend below;
    range_scene* all;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    void put(std::string const& key, std::string const& value) const {
        auto const read = map_now(below);
        if (!read) {
            return; // nobody can write
        }
        auto const& map = *read;
        detail::shard_place const& place = map->range_of(key);
        call own;
        if (place.allows(true) &&
            below.execute(
                write_entity{place.table_name(map->tables.front()), mutation::insert_or_replace(entry(key, value))},
                own)) {
            all->rows[key] = value;
        }
    }
    void map_has_changed() const {
        auto const map = map_now(below);
        std::string const broken = map ? all->rules.follow(**map) : map.error().to_string();
        all->wrong = all->wrong.empty() ? broken : all->wrong;
        if (map && all->crowd) {
            std::string const version = std::to_string((*map)->header.version);
            put("d", version);
            put("x", version);
        }
        if (map && all->late_rows && (*map)->places.front().row.attempt_with) {
            std::string const lower = (*map)->places.front().table_name((*map)->tables.front());
            call own;
            static_cast<void>(below.execute(write_entity{lower, mutation::insert_or_replace(entry("x", "late"))}, own));
        }
    }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        auto answer = below.execute(request, context);
        if constexpr (std::same_as<Request, transact>) {
            if (answer && request.table == "shardmap") { map_has_changed(); }
        }
        if constexpr (std::same_as<Request, query_entities>) {
            if (all->crowd && answer && request.table.starts_with("items") && request.select.empty() &&
                answer->continuation && !std::exchange(all->changed, true)) {
                put("d", "between pages");
                put("x", "between pages");
            }
        }
        return answer;
    }
};

constexpr char const* first_keys[] = {"a", "d", "p", "x"};

struct range_order {
    std::vector<std::string> bounds{};
    std::vector<std::vector<task>> operators{};
    client_body client{};
    int clients{1};
    bool prompt{};
    bool crowd{true};
    bool off_line{};
    int skew{};
    std::uint64_t seed{};
    range_defect planted{};
    bool late_rows{}; ///< see `range_scene`
    std::function<std::string(memory_backend const&, scene const&)> end{};
    int* done{};
};

inline void set_up_ranges(
    memory_backend const& store, entitable::clock& time, scene& all, std::vector<std::string> const& bounds) {
    lookup_map_options const leases{lease, &time};
    auto const map =
        entitable_test::map_without_identity(store, "shardmap", virtual_shards::ranges(bounds), {"s0"}, leases);
    call context;
    sharded const cloud{map, [&store](std::string_view) -> result<any_store> { return any_store{store}; }};
    cloud.execute(create_table{"items"}, context).value();
    for (auto const* key : first_keys) {
        cloud.execute(write_entity{"items", mutation::insert(entry(key, "old"))}, context).value();
        all.rows[key] = "old";
    }
    row_builder fixed{"map", "header"}; // the nonce of the setup is random
    fixed.add("nonce", std::string_view{"setup"});
    store.execute(write_entity{"shardmap", mutation::merge(fixed.build(), any_etag)}, context).value();
}

inline void begin(testing::stage& on, range_order const& how) {
    auto& all = on.keep<range_scene>();
    all.crowd = how.crowd;
    all.late_rows = how.late_rows;
    set_up_ranges(on.store(), on.time(), all, how.bounds);
    for (std::size_t place = 0; place < 5; ++place) { on.deliver_to(beside{on.store(), &all}, place); }
    auto& lives = on.keep<int>(0);
    for (std::size_t number = 0; number < how.operators.size(); ++number) {
        on.add(
            "operator " + std::to_string(number),
            [&on, &how, &lives, number] {
                ++lives;
                return range_saboteur{how.planted, "operator" + std::to_string(lives), how.operators[number],
                    on.store().profile(), how.off_line, on.time().steady(),
                    how.seed * 100 + static_cast<std::uint64_t>(lives)};
            },
            [&how](int done) {
                if (how.done != nullptr) { *how.done += done; }
            });
    }
    for (int number = 0; number < how.clients && how.client; ++number) {
        auto const begins = [&on, &how, &all, number] {
            int const life = number + how.clients * all.lives++; // so that a restarted client is the same client
            auto const body = [&how, &all, number, life](any_store through, entitable::clock& real) {
                skewed_clock time{real, how.skew * (number % 2 == 0 ? 1 : -1)};
                how.client(through, time, all, life);
                return true;
            };
            return testing::program<bool>{body, on.time().steady()};
        };
        std::string const name = "client " + std::to_string(number);
        if (how.prompt) {
            on.add(name, begins, [](bool) {});
        } else {
            on.add(name, [begins] { return slow{begins()}; }, [](bool) {});
        }
    }
    on.remember([&all, &lives] {
        std::string text = all.wrong + std::to_string(lives) + (all.changed ? "c" : "") + all.told;
        return text + text_of_rows(all);
    });
    on.always([&all] { return all.wrong; });
    on.at_end([&on, &all, &how] {
        if (how.end) { return how.end(on.store(), all); }
        std::string const problem = differs_now(on.store(), all);
        return problem.empty() ? tables_left(on.store()) : problem;
    });
}

inline std::optional<sharded> open_ranges(any_store const& way, entitable::clock& time) {
    auto opened = lookup_map::open(way, "shardmap", virtual_shards::ranges(), lookup_map_options{lease, &time});
    if (!opened) { return std::nullopt; }
    return sharded{*std::move(opened), [way](std::string_view) -> result<any_store> { return way; }};
}
// ---- clients ----

/// Inserts a row of each half and remembers the answers.
inline void inserts_both(any_store const& way, entitable::clock& time, scene& all, int) {
    auto const cloud = open_ranges(way, time);
    for (std::string const key : {"y", "b"}) {
        if (!cloud) { return; }
        call context;
        all.maybe.insert(key + "new");
        auto const done = cloud->execute(write_entity{"items", mutation::insert(entry(key, "new"))}, context);
        if (done) { // a refused row may have been written by a client that was killed before
            all.maybe.erase(key + "new");
            all.rows[key] = "new";
        }
    }
}

/// Scans with tokens: the rows that exist all the time are returned once each, in order.
inline void scans_all(any_store const& way, entitable::clock& time, scene& all, int) {
    auto const cloud = open_ranges(way, time);
    if (!cloud) { return; }
    query_entities asked{"items", {}, {}, {}, 2, {}};
    std::string met;
    for (;;) {
        call context;
        auto const found = cloud->execute(asked, context);
        if (!found) { return; }
        for (std::size_t index = 0; index < found->rows.size(); ++index) {
            row_view const each = found->rows[index];
            bool const counts =
                each.row_key == "k" && std::string_view{"adpx"}.find(each.partition_key) != std::string_view::npos;
            met += counts ? each.partition_key : std::string_view{};
        }
        asked.continuation = found->continuation;
        if (!asked.continuation) { break; }
    }
    if (met != "adpx") { all.wrong = "a scan of the rows a, d, p and x met " + met; }
}

/// Reads a key of the upper half twice: the value acknowledged before the read began, or a later one.
inline void reads_upper(any_store const& way, entitable::clock& clock, scene& all, int) {
    auto const cloud = open_ranges(way, clock);
    for (int time = 0; cloud && time < 2; ++time) {
        std::string const before = all.rows["x"];
        call context;
        auto const found = cloud->execute(get_entity{"items", "x", "k", {}}, context);
        auto const number = [](std::string const& value) {
            return value == "old" ? 0 : value[0] == 'b' ? -1 : std::stoi(value);
        };
        if (found && number(before) > 0 && number(value_of(found->entity)) < number(before) &&
            value_of(found->entity) != "between pages") {
            all.wrong = "a read gave what was there before a write that was acknowledged before it began";
        }
        if (!found && found.error().code == error_code::resource_not_found) {
            all.wrong = "a read did not find a row that is there all the time";
        }
    }
}

inline task split_at(std::string key, std::int32_t shard = 0) {
    return {task::kind::split, shard, 0, std::move(key), {}};
}
inline task move_to(std::int32_t shard, std::string store) {
    return {task::kind::move, shard, 0, {}, std::move(store)};
}
inline task merge_to(std::int32_t lower, std::int32_t upper, std::string store) {
    return {task::kind::merge, lower, upper, {}, std::move(store)};
}

inline range_order splits(client_body client = {}) {
    range_order how;
    how.operators = {{split_at("m"), move_to(1, "s1")}};
    how.client = std::move(client);
    return how;
}
inline range_order merges(client_body client = {}) {
    range_order how;
    how.bounds = {"m"};
    how.operators = {{merge_to(0, 1, "s1")}};
    how.client = std::move(client);
    return how;
}

/// A store with ranges, for programs that take turns.
struct ranges_alone {
    testing::manual_clock time;
    memory_backend store{local_options{.time = &time}};
    range_scene all;
    any_store way{beside{store, &all}};

    explicit ranges_alone(range_order const& how) {
        set_up_ranges(store, time, all, how.bounds);
        all.crowd = how.crowd;
        all.late_rows = how.late_rows;
    }
    ranges_alone(ranges_alone const&) = delete;
    ranges_alone& operator=(ranges_alone const&) = delete;
};

/// Three clients and two operators, with tasks drawn from a seed.
inline range_order drawn_from(std::uint64_t seed) {
    range_order how;
    how.bounds = {"m"};
    how.operators.assign(2, std::vector<task>(4, task{task::kind::draw}));
    how.seed = seed;
    how.crowd = false;
    how.off_line = seed % 5 == 0;
    how.skew = static_cast<int>(seed % 41) - 20;
    how.clients = 3;
    return how;
}

// ---- suspension: every step of a client at every step of an operator ----

/// The result of a client that is suspended after some of its requests for some requests of the operator. `behind`: with the answer to the last
/// one in flight.
struct suspended {
    std::string problem;
    bool client_ended{};
    bool operator_ended{};
};

inline suspended suspend(range_order const& how, std::size_t own, std::size_t others, bool behind) {
    ranges_alone on{how};
    testing::manual_clock& time = on.time;
    memory_backend const& store = on.store;
    range_scene& all = on.all;
    any_store const& way = on.way;
    range_saboteur work{how.planted, "operator", how.operators.front(), store.profile(), how.off_line, time.steady()};
    testing::program<bool> asking{[&](any_store through, entitable::clock& clock) {
                                      how.client(through, clock, all, 0);
                                      return true;
                                  },
        time.steady()};
    suspended seen;
    std::function<void()> held;
    for (std::size_t done = 0; done < own && !asking.next().done(); ++done) {
        held = take_step(asking, way, time);
        if (done + 1 < own || !behind) { std::exchange(held, nullptr)(); }
    }
    seen.client_ended = !held && asking.next().done();
    std::size_t moved = 0;
    for (; moved < others && !work.next().done(); ++moved) { take_step(work, way, time)(); }
    seen.operator_ended = moved < others;
    if (held) { held(); }
    while (!asking.next().done()) { take_step(asking, way, time)(); }
    while (!work.next().done()) { take_step(work, way, time)(); }
    seen.problem = !all.wrong.empty() ? all.wrong : differs_now(store, all);
    seen.problem = seen.problem.empty() ? tables_left(store) : seen.problem;
    if (seen.problem.empty() && work.finish() != static_cast<int>(how.operators.front().size())) {
        seen.problem = "not all was done";
    }
    return seen;
}

// ---- operators in turn ----

/// The point where the first operator stops, and the second one works to its end.
struct turn {
    std::size_t behind{SIZE_MAX}; ///< after this number of requests
    bool goes_on{};               ///< resumes after the second one; otherwise it has died
};

/// The result of operators that run one after another. Only the crowd also writes.
inline suspended taking_turns(range_order const& how, turn const& at) {
    ranges_alone on{how};
    testing::manual_clock& time = on.time;
    memory_backend const& store = on.store;
    range_scene& all = on.all;
    any_store const& way = on.way;
    range_saboteur first{how.planted, "first", how.operators.front(), store.profile(), how.off_line, time.steady()};
    std::size_t steps = 0;
    for (; steps < at.behind && !first.next().done(); ++steps) { take_step(first, way, time)(); }
    suspended seen;
    seen.operator_ended = steps < at.behind;
    for (std::size_t next = 1; next < how.operators.size(); ++next) {
        range_saboteur other{how.planted, "other", how.operators[next], store.profile(), how.off_line, time.steady()};
        while (!other.next().done()) { take_step(other, way, time)(); }
    }
    while (at.goes_on && !first.next().done()) { take_step(first, way, time)(); }
    seen.problem = !all.wrong.empty() ? all.wrong : differs_now(store, all);
    seen.problem = seen.problem.empty() ? tables_left(store, true) : seen.problem;
    if (seen.problem.empty() && how.end) { seen.problem = how.end(store, all); }
    if (seen.problem.empty() && how.operators.size() == 1 &&
        first.finish() != static_cast<int>(how.operators.front().size())) {
        seen.problem = "not all was done";
    }
    return seen;
}

/// Every point where the first operator can stop, or a sample of them, while the others work. Returns the first
/// problem.
inline std::string walk_of_turns(range_order const& how, bool goes_on, std::size_t first = 0, std::size_t stride = 1) {
    suspended seen;
    for (turn at{first, goes_on}; !seen.operator_ended; at.behind += stride) {
        seen = taking_turns(how, at);
        if (!seen.problem.empty()) { return seen.problem + " (behind " + std::to_string(at.behind) + " requests)"; }
    }
    return {};
}

} // namespace shard_world
