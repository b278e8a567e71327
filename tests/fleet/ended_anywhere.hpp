// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// A call is ended at each of its requests; somebody else moves, splits and merges shards and makes tables, behind its end or between its effect and
// its next look at the map.

#include "watched_program.hpp"

#include <support/catch.hpp>
#include <support/long.hpp>

namespace fleets {

using entitable_test::rounds;

inline std::vector<item> rows_named(std::string const& text) {
    std::vector<item> made;
    for (auto const* group : {"b", "e", "j", "m", "r", "x"}) { made.push_back({group, 1, text, 7}); }
    return made;
}

/// Three ranges over two stores; rows in "items" that stay, and in "others", which somebody may make again.
struct ranged {
    world all;
    sharded cloud = all.open(virtual_shards::ranges({"h", "p"}), {"alpha", "beta"});

    void fill() const {
        for (auto const* name : {"items", "others"}) {
            table<item> const made{cloud, name};
            made.create().value();
            for (item const& each : rows_named("before")) { made.insert(each).value(); }
        }
    }
    [[nodiscard]] detail::shard_map_ref map() const { return cloud.map().state().fresh({}).value(); }
    [[nodiscard]] fleet program(std::shared_ptr<program_life> const& life) const {
        return program_over(all, life, virtual_shards::ranges({}));
    }
    [[nodiscard]] std::vector<item> rows(std::string const& name) const {
        return table<item>{cloud, name}.scan_table().to().value();
    }
};

/// What somebody else does, by a number. It may be refused; nothing of it is left half done.
constexpr std::size_t kinds_of_change = 6;
inline void change_something(ranged const& at, std::size_t number) {
    std::vector<std::string> const stores{"alpha", "beta", "delta"};
    std::size_t const of_kind = number / kinds_of_change;
    std::string const key{"bjr"[of_kind % 3]};
    auto const shard_of = [&] { return at.map()->range_of(key).row.shard; };
    auto const move_to = [&](std::string const& store) {
        if (auto plan = plan_move(at.cloud, shard_of(), store)) { static_cast<void>(plan->run()); }
    };
    switch (number % kinds_of_change) {
        case 0: move_to(stores[of_kind % 3]); return;
        case 1: {
            std::string const home = at.map()->range_of(key).row.store;
            move_to("delta");
            move_to(home);
            return;
        }
        case 2: static_cast<void>(split_shard(at.cloud, shard_of(), std::string{"dls"[of_kind % 3]})); return;
        case 3:
            static_cast<void>(split_shard(at.cloud, shard_of(), std::string{"dls"[of_kind % 3]}));
            move_to("delta"); // the lower half leaves the table that both share
            return;
        case 4: {
            auto const map = at.map();
            auto const& low = map->range_of("b");
            if (auto plan = plan_merge(at.cloud, low.row.shard, map->range_of(low.row.high).row.shard, "beta")) {
                static_cast<void>(plan->run());
            }
            return;
        }
        default: {
            table<item> const others{at.cloud, "others"};
            if (others.drop() && others.create()) {
                for (item const& each : rows_named("made again")) { static_cast<void>(others.insert(each)); }
            }
        }
    }
}

/// How a call meets its end and the change.
enum class schedule : unsigned char {
    lost,     ///< it ends before a request; then the change
    answered, ///< it ends behind a request; then the change
    unread,   ///< the change before a request; it ends when it reads the map next, or up to three requests later
    alive,    ///< the change before a request, and it goes on
};

struct trial {
    schedule how{};
    std::size_t at{};     ///< the request
    std::size_t change{}; ///< its number
    bool read_behind{};   ///< the call has read the map behind the change
};

/// Runs `once(trial)` for every request and schedule until the request is beyond the end; `once` returns whether it was met. The long form takes
/// every change at every request, the short one two, in turns. Returns the number of trials.
template <class Once>
std::size_t at_every_request(Once const& once) {
    std::size_t const turns = rounds(1, kinds_of_change * 3);
    std::size_t trials = 0;
    for (auto const how : {schedule::lost, schedule::answered, schedule::unread, schedule::alive}) {
        for (std::size_t turn = 0; turn < turns; ++turn) {
            for (std::size_t at = 0;; ++at) {
                REQUIRE(at < 5'000);
                trial each{how, at, turns > 2 ? turn : at * 5 + static_cast<std::size_t>(how) + turn * 7, false};
                CAPTURE(static_cast<int>(how), at, each.change % kinds_of_change, each.change / kinds_of_change);
                if (!once(each)) { break; }
                ++trials;
            }
        }
    }
    return trials;
}

/// The life of a program under a trial, with the change in it or behind it.
struct staged {
    ranged const& world;
    trial& plan;
    std::shared_ptr<program_life> life = std::make_shared<program_life>();
    bool met{};

    staged(ranged const& of, trial& each) : world(of), plan(each) {
        if (each.how == schedule::lost || each.how == schedule::answered) {
            life->ends_at = each.at;
            life->behind = each.how == schedule::answered;
            return;
        }
        life->before = [this](sent_request const& sent) {
            if (!met && sent.number >= plan.at) {
                met = true;
                change_something(world, plan.change);
            }
            if (met && sent.reads_map()) {
                if (plan.how == schedule::unread && life->ends_at == static_cast<std::size_t>(-1)) {
                    life->ends_at = sent.number + plan.at % 4;
                    life->behind = plan.at % 8 >= 4;
                }
                plan.read_behind = true;
            }
            return true;
        };
    }
    staged(staged const&) = delete;
    /// Behind the call: whether its request was reached. The change comes now, if it has not come before.
    [[nodiscard]] bool was_met() {
        if (plan.how == schedule::lost || plan.how == schedule::answered) {
            met = life->has_ended();
            if (met) { change_something(world, plan.change); }
        }
        life->before = {};
        return met;
    }
};

inline fleet fresh_program(ranged const& at) { return at.program(std::make_shared<program_life>()); }

inline bool makes_tables(trial const& each) { return each.change % kinds_of_change == 5; }

/// Rows as they were before, or as somebody has made them again: all of one kind.
inline bool is_one_of(std::vector<item> const& found, bool made_again) {
    return found == rows_named("before") || (made_again && found == rows_named("made again"));
}

} // namespace fleets
