// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Every write of an indexed table beside a plain map; and what is refused, healed and found.

#include "runners.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/core/random.hpp>
#include <entitable/retrying.hpp>
#include <entitable/tables.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

using namespace entitable;
using namespace marathon;

namespace {

using everything =
    indexed_table<runner, by_age, by_team, unique<by_mail>, elsewhere<by_club>, elsewhere<unique<by_name>>>;

everything open(any_transport const& through, index_options how = {}) {
    return {through, "runners", how, in_table<by_club>{through, "clubs"}, in_table<by_name>{through, "names"}};
}

bool same(runner const& one, runner const& other) {
    return std::tie(one.race, one.bib, one.name, one.age, one.club, one.mail, one.team) ==
        std::tie(other.race, other.bib, other.name, other.age, other.club, other.mail, other.team);
}

runner const ann{"NYC", 1, "Ann", 55, "Ajax", "ann@x", 7};
runner const bob{"NYC", 2, "Bob", 50, "Ajax", "bob@x", {}};

/// What each index has is what the entities say.
void check_by_hand(everything const& runners, std::map<std::int32_t, runner> const& model, std::string const& race) {
    using r = fields<runner>;
    using a = fields<by_age>;
    using t = fields<by_team>;
    using c = fields<by_club>;
    auto const all = runners.where(r::race == race).to().value();
    REQUIRE(all.size() == model.size());
    for (runner const& each : all) {
        CHECK(same(each, model.at(each.bib)));
    }
    std::vector<runner> by_years;
    for (auto const& [bib, each] : model) {
        by_years.push_back(each);
    }
    std::stable_sort(
        by_years.begin(), by_years.end(), [](runner const& one, runner const& other) { return one.age < other.age; });
    auto const aged = runners.by<by_age>().where(a::race == race).to().value();
    REQUIRE(aged.size() == by_years.size());
    for (std::size_t at = 0; at < aged.size(); ++at) {
        CHECK(same(aged[at], by_years[at]));
    }
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
    auto const seen = runners.verify().value();
    CHECK(seen.good());
    CHECK(seen.entities == model.size());
}

} // namespace

TEST_CASE("index: an entity is found by each of its keys") {
    memory_backend const store;
    everything const runners = open(store);
    runners.create().value();
    auto const made = runners.insert(ann).value();
    CHECK(made.attempts == 1);
    CHECK(made.changed);
    CHECK(made.unsettled == 0);
    CHECK(made.etag == runners.get_stored("NYC", 1).value().etag);
    runners.insert(bob).value();
    check_by_hand(runners, {{1, ann}, {2, bob}}, "NYC");
    using m = fields<by_mail>;
    using n = fields<by_name>;
    CHECK(runners.by<by_mail>().where(m::race == "NYC" && m::mail == "bob@x").first().value()->bib == 2);
    CHECK(runners.by<by_name>().where(n::name == "Ann").first().value()->bib == 1);
    CHECK(!runners.by<by_name>().where(n::name == "Zoe").first().value());
}

TEST_CASE("index: what an index covers is one request, without a look at the entities") {
    memory_backend const store;
    everything const runners = open(store);
    runners.create().value();
    runners.insert(ann).value();
    using a = fields<by_age>;
    auto const asked = runners.by<by_age>().where(a::race == "NYC" && a::age >= 50);
    auto const selected = asked.select(a::name, a::age).to().value();
    REQUIRE(selected.size() == 1);
    CHECK(selected.front()[a::name] == "Ann");
    CHECK(asked.unverified().to().value().front().club.empty());
    auto const told = asked.explain().value();
    CHECK(told.index == "by_age");
    CHECK(told.table == "runners");
    CHECK(told.reads_entities);
    CHECK(told.index_rows.access == access_path::row_range);
}

TEST_CASE("index: refusals are those of a table, and change nothing") {
    memory_backend const store;
    everything const runners = open(store);
    runners.create().value();
    auto const first = runners.insert(ann).value();
    runners.insert(bob).value();
    auto const code_of = [](auto const& outcome) {
        REQUIRE(!outcome);
        CHECK(outcome.error().effect == effect::none);
        return outcome.error().code;
    };
    CHECK(code_of(runners.insert(ann)) == error_code::entity_already_exists);
    runner zoe = ann;
    zoe.bib = 3;
    zoe.name = "Zoe";
    auto const taken = runners.insert(zoe);
    CHECK(code_of(taken) == error_code::entity_already_exists); // the mail address
    CHECK_THAT(taken.error().message, Catch::Matchers::Contains("unique index by_mail"));
    zoe.mail = "zoe@x";
    zoe.name = "Ann"; // unique elsewhere
    CHECK(code_of(runners.insert(zoe)) == error_code::entity_already_exists);
    CHECK(code_of(runners.replace(zoe, any_etag)) == error_code::resource_not_found);
    CHECK(code_of(runners.remove("NYC", 3, any_etag)) == error_code::resource_not_found);
    CHECK(code_of(runners.merge(zoe, any_etag)) == error_code::resource_not_found);
    runners.update("NYC", 1, [](runner& each) { ++each.age; }).value();
    CHECK(code_of(runners.replace(ann, first.etag)) == error_code::update_condition_not_satisfied);
    CHECK(code_of(runners.remove("NYC", 1, first.etag)) == error_code::update_condition_not_satisfied);
    runner older = ann;
    older.age = 56;
    check_by_hand(runners, {{1, older}, {2, bob}}, "NYC");
}

TEST_CASE("index: a unique key passes from one entity to another in one batch") {
    memory_backend const store;
    indexed_table<runner, unique<by_mail>> const runners{store, "runners"};
    runners.create().value();
    runners.insert(ann).value();
    runners.insert(bob).value();
    runner ann_now = ann;
    runner bob_now = bob;
    std::swap(ann_now.mail, bob_now.mail);
    for (bool const ann_first : {true, false}) {
        auto all = runners.batch();
        all.replace(ann_first ? ann_now : bob_now, any_etag).replace(ann_first ? bob_now : ann_now, any_etag);
        all.submit().value();
        CHECK(runners.verify().value().good());
        std::swap(ann_now.mail, bob_now.mail);
    }
    ann_now.mail = "bob@x"; // which bob has by now
    auto both = runners.batch();
    both.replace(ann_now, any_etag);
    auto const refused = both.submit();
    REQUIRE(!refused);
    CHECK(refused.error().code == error_code::entity_already_exists);
    CHECK(runners.verify().value().good());
}

TEST_CASE("index: an index row that was removed by hand is in nobody's way") {
    memory_backend const store;
    everything const runners = open(store);
    runners.create().value();
    auto const remove_rows = [&] {
        table<by_age>{store, "runners"}.remove("NYC", 55, 1, any_etag).value();
        table<by_mail>{store, "runners"}.remove("NYC", "ann@x", any_etag).value();
        table<by_club>{store, "clubs"}.remove("Ajax", "NYC", 1, any_etag).value();
        table<by_name>{store, "names"}.remove("Ann", any_etag).value();
    };
    std::vector<std::function<result<indexed>()>> const writes{
        [&] {
            return runners.update("NYC", 1, [](runner& each) {
                each.age = 56;
                each.club = "Orion";
                each.mail = "a@x";
                each.name = "Anna";
            });
        },
        [&] {
            runner now = ann;
            now.age = 57;
            now.club = "Orion";
            now.mail = "a@x";
            now.name = "A";
            return runners.replace(now, any_etag);
        },
        [&] {
            runner now = ann;
            now.age = 57;
            now.club = "Orion";
            now.mail = "a@x";
            now.name = "A";
            return runners.insert_or_merge(now);
        },
        [&] { return runners.remove("NYC", 1, any_etag); },
        [&] {
            auto all = runners.batch();
            all.remove(ann, any_etag);
            return all.submit();
        },
        [&] {
            runner now = ann;
            now.bib = 9;
            now.age = 60;
            now.mail = "z@x";
            now.name = "Z";
            return runners.rekey(ann, now);
        },
    };
    for (auto const& write : writes) {
        runners.insert_or_replace(ann).value();
        CHECK(runners.verify().value().good());
        remove_rows();
        CHECK(runners.verify().value().missing == 4);
        auto const done = write().value();
        CHECK(done.healed > 0);
        CHECK(runners.verify().value().good());
        for (runner const& each : runners.scan_table().to().value()) {
            runners.remove("NYC", each.bib, any_etag).value();
        }
        CHECK(runners.verify().value().index_rows == 0);
    }
}

TEST_CASE("index: random writes beside a map") {
    random_source random{2026};
    memory_backend const store;
    everything const runners = open(store);
    runners.create().value();
    std::map<std::int32_t, runner> model;
    auto const draw = [&](std::uint64_t below) { return static_cast<std::int32_t>(random.bits() % below); };
    auto const someone = [&] {
        runner made{"NYC", draw(5), "name" + std::to_string(draw(8)), draw(4), "club" + std::to_string(draw(3)),
            "mail" + std::to_string(draw(8)), {}};
        if (draw(2) == 0) {
            made.team = draw(3);
        }
        return made;
    };
    auto const clashes = [&](runner const& made) {
        for (auto const& [bib, each] : model) {
            if (bib != made.bib && (each.mail == made.mail || each.name == made.name)) {
                return true;
            }
        }
        return false;
    };
    std::size_t const rounds = entitable_test::rounds(400, 20'000);
    for (std::size_t round = 0; round < rounds; ++round) {
        runner const made = someone();
        bool const there = model.contains(made.bib);
        bool const clash = clashes(made);
        bool expected = !clash;
        bool written = true;
        result<indexed> done{std::in_place};
        switch (draw(7)) {
            case 0:
                done = runners.insert(made);
                expected = expected && !there;
                break;
            case 1:
                done = runners.replace(made, any_etag);
                expected = expected && there;
                break;
            case 2: done = runners.insert_or_replace(made); break;
            case 3:
                done = runners.update("NYC", made.bib, [&](runner& each) { each = made; });
                expected = expected && there;
                break;
            case 4: {
                auto all = runners.batch();
                all.insert_or_replace(made);
                done = all.submit();
                break;
            }
            case 5:
                done = runners.transact("NYC", [&](transaction<runner>& all) -> result<void> {
                    all.insert_or_replace(made);
                    return {};
                });
                break;
            default:
                done = runners.remove("NYC", made.bib, any_etag);
                expected = there;
                written = false;
        }
        CAPTURE(round, made.bib, there, clash);
        REQUIRE(done.has_value() == expected);
        if (done && written) {
            model[made.bib] = made;
        } else if (done) {
            model.erase(made.bib);
        }
        if (round % 20 == 0) {
            check_by_hand(runners, model, "NYC");
        }
    }
    check_by_hand(runners, model, "NYC");
}

TEST_CASE("index: entities and index rows are entities of several types to others") {
    memory_backend const store;
    indexed_table<runner, by_age> const runners{store, "runners"};
    runners.create().value();
    runners.insert(ann).value();
    std::size_t ages = 0;
    std::size_t bibs = 0;
    tables<runner, by_age> const both{store, "runners"};
    both.for_each_in_partition("NYC",
            [&](auto const& any) {
                ages += std::holds_alternative<by_age>(any) ? 1 : 0;
                bibs += std::holds_alternative<runner>(any) ? 1 : 0;
            })
        .value();
    CHECK(ages == 1);
    CHECK(bibs == 1);
}

TEST_CASE("index: through retries with operation rows, with answers that are lost") {
    memory_backend const store;
    retrying const through{
        store, {.policy = retry_policy::fixed(5, std::chrono::milliseconds{1}), .operation_rows = true}};
    everything const runners = open(through);
    runners.create().value();
    runners.insert(ann).value();
    runners.update("NYC", 1, [](runner& each) { each.club = "Orion"; }).value();
    CHECK(runners.verify().value().good());
}
