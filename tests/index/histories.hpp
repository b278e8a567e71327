// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Random writes of a table with indexes over any transport: compared with a map, with faults, and by several concurrent
/// writers.

#include <entitable/core/random.hpp>
#include <entitable/testing/faulty.hpp>

#include <index/runners.hpp>
#include <support/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace marathon {

using entitable::any_etag;
using entitable::effect;
using entitable::error_code;
using entitable::result;

using everything = entitable::table<runner, by_age, by_team, entitable::unique<by_mail>, entitable::elsewhere<by_club>,
    entitable::elsewhere<entitable::unique<by_name>>>;

/// The tables, with `tag` in their names: of one test in a store that others also use.
inline everything open(
    entitable::any_store const& through, std::string const& tag = "", entitable::table_options const& how = {}) {
    return {through, "runners" + tag, how, entitable::in_table<by_club>{through, "clubs" + tag},
        entitable::in_table<by_name>{through, "names" + tag}};
}

inline bool same(runner const& one, runner const& other) {
    return std::tie(one.race, one.bib, one.name, one.age, one.club, one.mail, one.team) ==
        std::tie(other.race, other.bib, other.name, other.age, other.club, other.mail, other.team);
}

/// A query by each index returns what the entities contain.
inline void check_by_hand(
    everything const& runners, std::map<std::int32_t, runner> const& model, std::string const& race) {
    using r = entitable::fields<runner>;
    using a = entitable::fields<by_age>;
    using t = entitable::fields<by_team>;
    using c = entitable::fields<by_club>;
    auto const all = runners.where(r::race == race).to().value();
    REQUIRE(all.size() == model.size());
    for (runner const& each : all) { CHECK(same(each, model.at(each.bib))); }
    std::vector<runner> by_years;
    for (auto const& [bib, each] : model) { by_years.push_back(each); }
    std::stable_sort(
        by_years.begin(), by_years.end(), [](runner const& one, runner const& other) { return one.age < other.age; });
    auto const aged = runners.by<by_age>().where(a::race == race).to().value();
    REQUIRE(aged.size() == by_years.size());
    for (std::size_t at = 0; at < aged.size(); ++at) { CHECK(same(aged[at], by_years[at])); }
    std::size_t teams = 0;
    std::map<std::string, std::size_t> clubs;
    for (auto const& [bib, each] : model) {
        teams += each.team ? 1 : 0;
        ++clubs[each.club];
    }
    CHECK(runners.by<by_team>().where(t::race == race).to().value().size() == teams);
    for (auto const& [club, count] : clubs) {
        CHECK(runners.by<by_club>().where(c::club == club).to().value().size() == count);
    }
    auto const seen = runners.verify().value().indexes;
    CHECK(seen.good());
    CHECK(seen.entities == model.size());
}

/// Random writes of one writer.
class random_writer {
public:
    static constexpr std::int32_t bibs = 5;

    explicit random_writer(std::uint64_t seed) : random_(seed) {}

    [[nodiscard]] std::int32_t below(std::uint64_t count) { return static_cast<std::int32_t>(random_.bits() % count); }

    [[nodiscard]] runner someone() {
        runner made{"NYC", below(bibs), "name" + std::to_string(below(8)), below(4), "club" + std::to_string(below(3)),
            "mail" + std::to_string(below(8)), {}};
        if (below(2) == 0) { made.team = below(3); }
        return made;
    }

    /// The requirements of a write, and its result.
    struct write {
        bool needs_absence{};
        bool needs_presence{};
        bool removes{};
    };

    /// Writes this runner in one of the possible ways.
    result<void> go(everything const& runners, runner const& made, write& what) {
        switch (below(7)) {
            case 0: what.needs_absence = true; return only(runners.insert(made));
            case 1: what.needs_presence = true; return only(runners.replace(made, any_etag));
            case 2: return only(runners.insert_or_replace(made));
            case 3:
                what.needs_presence = true;
                return only(runners.update("NYC", made.bib, [&](runner& each) { each = made; }));
            case 4: {
                auto all = runners.batch();
                all.insert_or_replace(made);
                return only(all.submit());
            }
            case 5:
                return only(runners.transact("NYC", [&](entitable::transaction<runner>& all) -> result<void> {
                    all.insert_or_replace(made);
                    return {};
                }));
            default: what.needs_presence = what.removes = true; return only(runners.remove("NYC", made.bib, any_etag));
        }
    }

private:
    /// Whether it succeeded.
    template <class T>
    [[nodiscard]] static result<void> only(result<T> done) {
        return done ? result<void>{} : result<void>{std::move(done).as_failure()};
    }

    entitable::random_source random_;
};

/// Without faults: each outcome, and the answer of every index, equals that of a map.
inline void write_beside_a_map(everything const& runners, std::uint64_t seed, std::size_t rounds) {
    runners.create().value();
    random_writer writer{seed};
    std::map<std::int32_t, runner> model;
    for (std::size_t round = 0; round < rounds; ++round) {
        runner const made = writer.someone();
        bool const there = model.contains(made.bib);
        bool clash = false;
        for (auto const& [bib, each] : model) {
            clash = clash || (bib != made.bib && (each.mail == made.mail || each.name == made.name));
        }
        random_writer::write what;
        auto const done = writer.go(runners, made, what);
        CAPTURE(seed, round, made.bib, there, clash);
        REQUIRE(done.has_value() ==
            ((what.removes || !clash) && !(what.needs_absence && there) && !(what.needs_presence && !there)));
        if (done && what.removes) {
            model.erase(made.bib);
        } else if (done) {
            model[made.bib] = made;
        }
        if (round % 20 == 0) { check_by_hand(runners, model, "NYC"); }
    }
    check_by_hand(runners, model, "NYC");
}

/// The result of a history with faults.
struct stormy_history {
    std::size_t done{};
    std::size_t refused{};
    std::size_t unknown{};
    std::size_t left{}; ///< index rows that dangled before repair
};

/// With faults between writer and store: a refused write has left nothing, an acknowledged one is stored, and no entity is ever
/// without its index rows. `clean` bypasses the faults. After repair nothing is left over.
template <class Faulty>
stormy_history write_in_a_storm(
    Faulty const& stormy, everything const& runners, everything const& clean, std::uint64_t seed, std::size_t rounds) {
    using entitable::testing::fault;
    clean.create_if_absent().value();
    random_writer writer{seed};
    std::map<std::int32_t, std::optional<runner>> now; // the state after the last write with a known outcome
    std::map<std::int32_t, std::vector<std::optional<runner>>> maybe; // the states after writes of unknown outcome
    stormy_history told;
    std::vector<fault> const choices{fault::refused(), fault::lost_before(), fault::lost_after(), fault::half_answer(),
        fault::late(), fault::busy(), fault::throttled()};
    auto const look = [&](std::size_t round) {
        CAPTURE(seed, round);
        for (std::int32_t bib = 0; bib < random_writer::bibs; ++bib) {
            auto found = clean.find("NYC", bib).value();
            auto const is = [&](std::optional<runner> const& one) {
                return one.has_value() == found.has_value() && (!one || same(*one, *found));
            };
            bool const known = is(now[bib]) || std::any_of(maybe[bib].begin(), maybe[bib].end(), is);
            CHECK(known);
        }
        auto const seen = clean.verify().value().indexes;
        CHECK(seen.missing == 0);
        CHECK(seen.violations == 0);
        told.left += static_cast<std::size_t>(seen.dangling);
    };
    for (std::size_t round = 0; round < rounds; ++round) {
        if (round % 10 == 0) { stormy.plan_random(seed + round, 6, 60, choices); }
        runner const made = writer.someone();
        random_writer::write what;
        auto const done = writer.go(runners, made, what);
        std::optional<runner> left;
        if (!what.removes) { left = made; }
        if (done) {
            now[made.bib] = left;
            ++told.done;
        } else if (done.error().effect == effect::unknown) {
            maybe[made.bib].push_back(left);
            ++told.unknown;
        } else {
            ++told.refused;
        }
        if (round % 10 == 9) { look(round); }
    }
    clean.repair().value();
    auto const seen = clean.verify().value().indexes;
    CHECK(seen.good());
    look(rounds);
    return told;
}

/// One of several writers: each adds to the ages and moves rows of all indexes meanwhile. Returns the numbers of acknowledged
/// additions and of those with unknown outcome.
struct additions {
    std::int64_t done{};
    std::int64_t unknown{};
};
inline additions add_and_move(everything const& runners, std::uint64_t seed, std::size_t rounds) {
    random_writer writer{seed};
    additions told;
    for (std::size_t round = 0; round < rounds; ++round) {
        auto const bib = writer.below(random_writer::bibs);
        auto const club = "club" + std::to_string(writer.below(3));
        auto const name = "name" + std::to_string(bib) + "." + std::to_string(writer.below(3));
        auto const mail = "mail" + std::to_string(bib) + "." + std::to_string(writer.below(3));
        bool const in_team = writer.below(2) == 0;
        auto const done = runners.update("NYC", bib, [&](runner& each) {
            ++each.age;
            each.club = club;
            each.name = name;
            each.mail = mail;
            each.team = in_team ? std::optional{bib} : std::nullopt;
        });
        told.done += done ? 1 : 0;
        told.unknown += !done && done.error().effect == effect::unknown ? 1 : 0;
    }
    return told;
}

/// The entities that `add_and_move` changes.
inline void insert_movers(everything const& runners) {
    runners.create().value();
    for (std::int32_t bib = 0; bib < random_writer::bibs; ++bib) {
        runners
            .insert({"NYC", bib, "name" + std::to_string(bib), 0, "club0", "mail" + std::to_string(bib),
                std::optional<std::int32_t>{}})
            .value();
    }
}

/// The sum of the additions is right, no entity is without its index rows, and after repair no row is left over.
inline void check_movers(everything const& runners, additions const& all) {
    auto const before = runners.verify().value().indexes;
    CHECK(before.entities == random_writer::bibs);
    CHECK(before.missing == 0);
    CHECK(before.violations == 0);
    runners.repair().value();
    CHECK(runners.verify().value().good());
    std::int64_t sum = 0;
    for (runner const& each : runners.scan_table().to().value()) { sum += each.age; }
    CHECK(sum >= all.done);
    CHECK(sum <= all.done + all.unknown);
}

} // namespace marathon
