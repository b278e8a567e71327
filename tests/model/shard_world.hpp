// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A simulation of one virtual shard with movers and clients, and the invariants of the logical table.

#include "shard_saboteur.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/shards.hpp>
#include <entitable/shards/move/detail/shard_mover.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

#include <support/maps.hpp>

#include <map>
#include <set>

namespace shard_world {

using namespace entitable;
using namespace std::chrono_literals;

/// A request of a client for one key, with its answer.
struct event {
    std::string key;
    bool reads{};
    std::string value;                    ///< read or written; empty for no row
    std::optional<std::string> expects{}; ///< the exact value it replaces
    std::uint64_t begun{};
    std::uint64_t ended{UINT64_MAX}; ///< never, if the outcome is unknown
    bool meets{};                    ///< some row, with any value: nothing was written
};

/// The invariants of the logical table, and its location.
struct scene {
    std::map<std::string, std::string> rows; ///< according to the answers of clients
    std::set<std::string> maybe;             ///< writes with unknown outcome: row key and value
    std::string wrong;
    bool changed{}; ///< the clients behind the watcher wrote during the copy
    bool closing{}; ///< and once more before it drained
    bool flipped{}; ///< and once more after the flip
    bool late{};    ///< a late request arrived while it drained, and was read
    bool crowd{true};
    bool ghost{}; ///< before the flip a late write with an unknown outcome arrives at the source
    bool apart{}; ///< after the registration another client writes
    std::optional<memory_backend> target; ///< a store of its own for the first attempt
    bool holds{}; ///< the first batch of the copy arrives twice: reported lost, and again before the flip
    std::optional<transact> held;
    std::vector<event> history;
    std::uint64_t ticks{};
    int lives{};      ///< starts of clients
    std::string told; ///< the remaining memory of clients
};

inline row value_row(std::string const& key, std::string const& value) {
    row_builder made{"p", key};
    made.add("v", std::string_view{value});
    return made.build();
}
inline std::string value_of(row_view each) {
    auto const found = each.find("v");
    return found ? std::string{found->as_string()} : std::string{};
}

/// The physical table according to the map, and its rows.
inline std::string table_now(memory_backend const& store, std::string* state = nullptr) {
    call context;
    auto const found = store.execute(get_entity{"shardmap", "map", "shard0000", {}}, context).value();
    if (state != nullptr) { *state = found.entity.view().find("state")->as_string(); }
    std::int64_t const epoch = found.entity.view().find("epoch")->as_int64();
    return detail::shard_table_name("items", 0, (std::max)(epoch, std::int64_t{2}));
}

/// Whether the table contains the expected rows.
inline std::string differs(memory_backend const& store, scene const& all) {
    call context;
    auto const found = store.execute(query_entities{table_now(store), {}, {}, {}, 1000, {}}, context);
    if (!found) { return "the table is lost: " + found.error().to_string(); }
    std::set<std::string> met;
    for (std::size_t index = 0; index < found->rows.size(); ++index) {
        row_view const each = found->rows[index];
        std::string const key{each.row_key};
        if (system_row::is_one(key)) { continue; }
        met.insert(key);
        auto const known = all.rows.find(key);
        bool const maybe = all.maybe.contains(key + value_of(each));
        if (!maybe && known == all.rows.end()) { return "a row is there that was removed, or never written: " + key; }
        if (!maybe && known->second != value_of(each)) {
            return "an acknowledged write is lost: " + key + " is " + value_of(each) + ", not " + known->second;
        }
    }
    for (auto const& [key, value] : all.rows) {
        if (!met.contains(key)) { return "an acknowledged row is lost: " + key; }
    }
    return {};
}

/// In front of the store. Other clients, whose requests take no time, write while the table is copied, before it drains, and after the flip.
struct watched {
    using is_transport = void;
    memory_backend below;
    scene* all;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }

    void put(std::string const& key, std::string const& value) const {
        call own;
        auto done =
            below.execute(write_entity{table_now(below), mutation::insert_or_replace(value_row(key, value))}, own);
        if (done) { all->rows[key] = value; }
    }
    void take(std::string const& key) const {
        call own;
        if (below.execute(write_entity{table_now(below), mutation::remove(value_row(key, ""), any_etag)}, own)) {
            all->rows.erase(key);
        }
    }
    template <class Request>
    [[nodiscard]] result<response_of<Request>> deliver(Request const& request, call& context) const {
        if constexpr (requires { request.table; }) {
            return all->target && request.table == "items0000x3" ? all->target->execute(request, context)
                                                                 : below.execute(request, context);
        } else {
            return below.execute(request, context);
        }
    }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        std::string next;
        std::string before;
        std::string const table = table_now(below, &before);
        if constexpr (std::same_as<Request, transact>) {
            if (request.table == "shardmap" && request.changes.size() == 2) {
                next = request.changes[1].entity.view().find("state")->as_string();
            }
        }
        if (all->crowd && next == "draining" && before == "closing" && !std::exchange(all->closing, true)) {
            put("z", "closing");
        }
        if constexpr (std::same_as<Request, get_entity>) {
            if (request.table == "valid") { // a client that is as fast as the map
                return before == "sealed"
                    ? result<get_entity::response>{failure{error_code::shard_moving, "sealed"}}
                    : below.execute(get_entity{table, request.partition_key, request.row_key, {}}, context);
            }
        }
        if (all->crowd && before == "draining" && !next.empty() && next != "draining" &&
            !std::exchange(all->late, true)) {
            put("w", "late"); // by a client with an unknown outcome; clients may read it here
        }
        if constexpr (std::same_as<Request, transact>) {
            if (all->holds && request.table != "shardmap" && !all->held) {
                all->held = request;
                return failure{testing::lost_request()};
            }
            if (all->holds && before == "sealed" && next == "open") {
                call own;
                static_cast<void>(below.execute(*all->held, own));
                all->holds = false;
            }
        }
        if (all->ghost && before == "sealed" && next == "open") {
            call own;
            static_cast<void>(below.execute(write_entity{table, mutation::insert(value_row("g", "ghost"))}, own));
            all->ghost = false;
        }
        auto answer = deliver(request, context);
        if (all->apart && !next.empty() && before == "open") {
            put("z", "changed");
            all->apart = false;
        }
        if constexpr (std::same_as<Request, query_entities>) {
            // between the pages of the first scan: a row already read, a row still to read, a new one, a removed one
            if (all->crowd && answer && request.select.empty() && request.table == table && answer->continuation &&
                !std::exchange(all->changed, true)) {
                put("a", "changed");
                put("b", "new");
                put("z", "changed");
                take("r");
            }
        }
        if (all->crowd && table_now(below) != table && !std::exchange(all->flipped, true)) {
            put("z", "behind the flip");
        }
        return answer;
    }
};

/// An operation with late answers: something else can happen between an answer and its receipt.
template <class Op>
class slow {
public:
    explicit slow(Op op) : op_(std::move(op)) {}
    slow(slow const&) = delete;
    slow& operator=(slow const&) = delete;
    [[nodiscard]] operation_step next() const { return deliver_ ? operation_step{nothing_} : op_.next(); }
    template <class Response>
    void answer(result<Response> answered, steady_time now) {
        if (deliver_) {
            std::exchange(deliver_, nullptr)(now);
            return;
        }
        auto held = std::make_shared<result<Response>>(std::move(answered));
        deliver_ = [this, held](steady_time at) { op_.answer(std::move(*held), at); };
    }
    void abandon(error const& reason) {
        deliver_ = nullptr;
        op_.abandon(reason);
    }
    [[nodiscard]] auto finish() { return op_.finish(); }

private:
    Op op_;
    get_entity nothing_{"nothing", "p", "r", {}};
    std::function<void(steady_time)> deliver_;
};

constexpr auto lease = 10s;

/// The actions of a client. `life`: unique to each client and to each of its restarts.
using client_body = std::function<void(any_store const&, entitable::clock&, scene&, int life)>;
/// A clock that is faster or slower than that of the mover.
struct skewed_clock final : entitable::clock {
    skewed_clock(entitable::clock& of, int rate) : real(of), begun(of.steady()), thousandths(rate) {}
    date_time now() noexcept override { return real.now(); }
    steady_time steady() noexcept override { return begun + (real.steady() - begun) * (1000 + thousandths) / 1000; }
    void wait_until(steady_time time) noexcept override {
        real.wait_until(begun + (time - begun) * 1000 / (1000 + thousandths) + 2ns);
    }
    entitable::clock& real;
    steady_time begun;
    int thousandths;
};

/// The rows that exist according to all answers, and those that may exist: a part of the state that a search remembers.
inline std::string text_of_rows(scene const& all) {
    std::string text;
    for (auto const& [key, value] : all.rows) { text += key + '=' + value + ';'; }
    for (auto const& each : all.maybe) { text += each + '?'; }
    return text;
}

/// Waits if an operation has to, and sends its request. Returns the function that gives it the answer, to be called
/// once.
template <class Op>
std::function<void()> take_step(Op& op, any_store const& way, testing::manual_clock& time) {
    operation_step const due = op.next();
    if (due.not_before > time.steady()) { time.wait_until(due.not_before); }
    std::function<void()> give;
    due.request.visit([&]<class Asked>(Asked const& request) {
        if constexpr (takes_answer_to<Op, Asked>) {
            call context;
            auto answer = std::make_shared<result<response_of<Asked>>>(way.execute(request, context));
            give = [&op, &time, answer] { op.answer(std::move(*answer), time.steady()); };
        }
    });
    return give;
}

struct order {
    move_defect mover{};
    int movers{1};
    bool crowd{true};
    bool late_writer{}; ///< a client that learnt that its write is lost
    client_body client{};
    int skew{};                    ///< rate of the client's clock, in thousandths
    std::uint32_t page_size{1000}; ///< page size of the mover; with a crowd 2
    int clients{1};
    bool prompt{}; ///< the client gets its answers at once
    bool holds{};  ///< see `scene`
    bool off_line{};
    std::function<std::string(memory_backend const&, scene const&)> end{};
    int* moved{}; ///< counts the completed moves
};

/// A map of one shard, and its table with three rows.
inline void set_up(memory_backend const& store, entitable::clock& time, scene& all) {
    lookup_map_options const leases{lease, &time};
    auto const map = entitable_test::map_without_identity(store, "shardmap", virtual_shards{1}, {"a"}, leases);
    call context;
    sharded const cloud{map, [&store](std::string_view) -> result<any_store> { return any_store{store}; }};
    cloud.execute(create_table{"items"}, context).value();
    for (auto const* key : {"a", "r", "z"}) {
        cloud.execute(write_entity{"items", mutation::insert(value_row(key, "old"))}, context).value();
        all.rows[key] = "old";
    }
    row_builder fixed{"map", "header"}; // the nonce of the setup is random
    fixed.add("nonce", "setup");
    store.execute(write_entity{"shardmap", mutation::merge(fixed.build(), any_etag)}, context).value();
}

/// A move of the shard to the store b or c.
inline detail::shard_mover_order order_of_move(std::string const& name, bool first, profile const& limits) {
    detail::shard_mover_order what;
    what.map = "shardmap";
    what.target = first ? "b" : "c";
    what.name = name;
    what.limits = limits;
    what.options.owner = what.name;
    what.options.rounds = 3;
    return what;
}

/// Adds everything to the simulation.
inline void begin(testing::stage& on, order const& how) {
    auto& all = on.keep<scene>();
    all.crowd = how.crowd;
    all.holds = how.holds;
    set_up(on.store(), on.time(), all);
    for (std::size_t place = 0; place < 5; ++place) { on.deliver_to(watched{on.store(), &all}, place); }
    auto& movers = on.keep<int>(0);
    auto& done = on.keep<int>(0);
    for (int number = 0; number < how.movers; ++number) {
        on.add(
            "mover " + std::to_string(number),
            [&on, &how, &movers, number] {
                ++movers;
                auto what = order_of_move("mover" + std::to_string(movers), number == 0, on.store().profile());
                what.options.page_size = how.crowd ? 2 : how.page_size;
                what.options.off_line = how.off_line;
                return saboteur{std::move(what), how.mover, on.time().steady()};
            },
            [&done, &how](result<move_progress> const& ended) {
                done += ended ? 1 : 0;
                if (how.moved != nullptr && ended) { ++*how.moved; }
            });
    }
    if (how.late_writer) {
        on.add(
            "writer",
            [&all] {
                all.maybe.insert("wlate");
                return testing::program<bool>{[](any_store through, entitable::clock&) {
                    call own;
                    static_cast<void>(
                        through.execute(write_entity{"items0000x2", mutation::insert(value_row("w", "late"))}, own));
                    return true;
                }};
            },
            [](bool) {});
    }
    for (int number = 0; number < how.clients && how.client; ++number) {
        auto const begins = [&on, &how, &all, number] {
            auto const body = [&how, &all, number, life = ++all.lives](any_store through, entitable::clock& real) {
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
    on.remember([&all, &movers, &done] {
        std::string text = all.wrong + std::to_string(movers) + std::to_string(done) + (all.changed ? "c" : "") +
            (all.closing ? "d" : "") + (all.flipped ? "f" : "") + (all.late ? "l" : "") + (all.held ? "h" : "") +
            (all.holds ? "H" : "");
        return text + text_of_rows(all);
    });
    on.always([&all] { return all.wrong; });
    on.at_end([&on, &all, how_it_ends = how.end] {
        return how_it_ends ? how_it_ends(on.store(), all) : differs(on.store(), all);
    });
}

inline testing::interleaving_report walk(order const& how, testing::interleaving_limits limits, std::size_t most) {
    limits.most_states = most;
    limits.life = 24h;
    return testing::interleavings([&how](testing::stage& on) { begin(on, how); }, limits);
}

/// Walks through all states, of which there are about this number. Outside the long run walks with many states are replaced by complete
/// schedules drawn from seeds.
inline void check(char const* name, std::size_t states, order const& how, testing::interleaving_limits limits) {
    if (states <= entitable_test::rounds(200, SIZE_MAX, 2'500)) {
        auto const seen = walk(how, limits, 10'000'000);
        std::printf("shard moves: %s: %zu states, %zu ends\n", name, seen.states, seen.ends);
        CAPTURE(name, seen.schedule);
        CHECK(seen.problem == "");
        CHECK(seen.complete);
        CHECK(seen.states > states / 2); // otherwise the figure is outdated
        return;
    }
    limits.life = 24h;
    std::size_t const schedules = entitable_test::rounds(10, 0, 100);
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
        auto const seen = testing::random_interleaving([&how](testing::stage& on) { begin(on, how); }, limits, seed);
        CAPTURE(name, seed, seen.schedule);
        CHECK(seen.problem == "");
        CHECK(seen.complete);
    }
}

inline std::optional<sharded> open(any_store const& way, entitable::clock& time) {
    auto opened = lookup_map::open(way, "shardmap", virtual_shards{1}, lookup_map_options{lease, &time});
    if (!opened) { return std::nullopt; }
    return sharded{*std::move(opened), [way](std::string_view) -> result<any_store> { return way; }};
}

inline testing::interleaving_limits const quiet{.faults = 0, .late = 0};
/// The possible faults of the requests of a world that is drawn from a seed.
inline testing::interleaving_limits limits_of_world(std::uint64_t seed, std::size_t most_requests) {
    return {.faults = seed % 4,
        .late = seed % 3,
        .twice = seed % 2,
        .crashes = seed % 3,
        .again = 4,
        .life = 24h,
        .most_requests = most_requests,
        .most_states = 20'000};
}

} // namespace shard_world
