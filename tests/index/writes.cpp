// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Every write of a table with indexes, compared with a plain map; and refusals, repairs and queries.

#include "histories.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing/spy.hpp>

#include <functional>

using namespace entitable;
using namespace marathon;

namespace {

runner const ann{"NYC", 1, "Ann", 55, "Ajax", "ann@x", 7};
runner const bob{"NYC", 2, "Bob", 50, "Ajax", "bob@x", {}};

} // namespace

TEST_CASE("index: an entity is found by each of its index keys") {
    memory_backend const store;
    everything const runners = open(store);
    runners.create().value();
    auto const made = runners.insert(ann).value();
    CHECK(made.attempts == 1);
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

TEST_CASE("index: a covered query is one request and does not read the entities") {
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

TEST_CASE("index: refused writes return the same errors as in a plain table and change nothing") {
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
    zoe.name = "Ann"; // unique, in another table
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

TEST_CASE("index: a unique key moves from one entity to another in one batch") {
    memory_backend const store;
    table<runner, unique<by_mail>> const runners{store, "runners"};
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
    ann_now.mail = "bob@x"; // bob has it by now
    auto both = runners.batch();
    both.replace(ann_now, any_etag);
    auto const refused = both.submit();
    REQUIRE(!refused);
    CHECK(refused.error().code == error_code::entity_already_exists);
    CHECK(runners.verify().value().good());
}

TEST_CASE("index: an index row that was deleted by hand does not prevent writes") {
    memory_backend const store;
    everything const runners = open(store);
    runners.create().value();
    auto const remove_rows = [&] {
        table<by_age>{store, "runners"}.remove("NYC", 55, 1, any_etag).value();
        table<by_mail>{store, "runners"}.remove("NYC", "ann@x", any_etag).value();
        table<by_club>{store, "clubs"}.remove("Ajax", "NYC", 1, any_etag).value();
        table<by_name>{store, "names"}.remove("Ann", any_etag).value();
    };
    auto const healed_by = [](auto const& done) {
        return done ? result<std::uint16_t>{done->healed} : failure{done.error()};
    };
    std::vector<std::function<result<std::uint16_t>()>> const writes{
        [&] {
            return healed_by(runners.update("NYC", 1, [](runner& each) {
                each.age = 56;
                each.club = "Orion";
                each.mail = "a@x";
                each.name = "Anna";
            }));
        },
        [&] {
            runner now = ann;
            now.age = 57;
            now.club = "Orion";
            now.mail = "a@x";
            now.name = "A";
            return healed_by(runners.replace(now, any_etag));
        },
        [&] {
            runner now = ann;
            now.age = 57;
            now.club = "Orion";
            now.mail = "a@x";
            now.name = "A";
            return healed_by(runners.insert_or_merge(now));
        },
        [&] { return healed_by(runners.remove("NYC", 1, any_etag)); },
        [&]() -> result<std::uint16_t> {
            auto all = runners.batch();
            all.remove(ann, any_etag);
            ENTITABLE_TRY(auto const done, all.submit());
            return done.front().healed;
        },
        [&] {
            runner now = ann;
            now.bib = 9;
            now.age = 60;
            now.mail = "z@x";
            now.name = "Z";
            return healed_by(runners.rekey(ann, now));
        },
    };
    for (auto const& write : writes) {
        runners.insert_or_replace(ann).value();
        CHECK(runners.verify().value().good());
        remove_rows();
        CHECK(runners.verify().value().indexes.missing == 4);
        CHECK(write().value() > 0);
        CHECK(runners.verify().value().good());
        for (runner const& each : runners.scan_table().to().value()) {
            runners.remove("NYC", each.bib, any_etag).value();
        }
        CHECK(runners.verify().value().indexes.index_rows == 0);
    }
}

TEST_CASE("index: after random writes, queries return the same entities as a std::map") {
    memory_backend const store;
    write_beside_a_map(open(store), 2026, entitable_test::rounds(400, 20'000));
}

TEST_CASE("index: other programs see entities and index rows as entities of several types") {
    memory_backend const store;
    table<runner, by_age> const runners{store, "runners"};
    runners.create().value();
    runners.insert(ann).value();
    std::size_t ages = 0;
    std::size_t bibs = 0;
    table<runner, as_entity<by_age>> const both{store, "runners"};
    both.for_each_in_partition("NYC",
            [&](auto const& any) {
                ages += std::holds_alternative<by_age>(any) ? 1 : 0;
                bibs += std::holds_alternative<runner>(any) ? 1 : 0;
            })
        .value();
    CHECK(ages == 1);
    CHECK(bibs == 1);
}

TEST_CASE("index: with retries and operation rows, indexes stay correct despite lost answers") {
    memory_backend const store;
    retrying const through{
        store, {.policy = retry_policy::fixed(5, std::chrono::milliseconds{1}), .operation_rows = true}};
    everything const runners = open(through);
    runners.create().value();
    runners.insert(ann).value();
    runners.update("NYC", 1, [](runner& each) { each.club = "Orion"; }).value();
    CHECK(runners.verify().value().good());
}

namespace {

struct letter {
    std::string town;
    std::string id;
    std::optional<std::int32_t> sender;
};
ENTITABLE(letter, partition_key(town), row_key(id), properties(sender))

struct by_sender : letter {};
ENTITABLE(by_sender, partition_key(sender), row_key(town, id), properties())

} // namespace

TEST_CASE("index: an index in another table costs the documented requests and accepts row keys of 474 units") {
    testing::spy const seen{any_store{memory_backend{}}};
    table<letter, elsewhere<by_sender>> const letters{seen, "letters", in_table<by_sender>{seen, "senders"}};
    letters.create().value();
    letters.insert({"York", "0", {}}).value(); // the states of indexes are known now
    auto const requests_of = [&](auto const& call) {
        seen.forget();
        auto const done = call();
        REQUIRE(done);
        return seen.seen().size();
    };
    auto const sent_by = [&](std::optional<std::int32_t> sender) {
        return requests_of([&] { return letters.update("York", "1", [&](letter& each) { each.sender = sender; }); });
    };
    CHECK(requests_of([&] { return letters.insert({"York", "1", 1}); }) == 4);
    CHECK(sent_by(2) == 9);
    CHECK(sent_by({}) == 8);
    CHECK(sent_by(3) == 5);
    CHECK(requests_of([&] { return letters.remove("York", "1", any_etag); }) == 7);
    CHECK(letters.insert({"York", std::string(474, 'x'), 1}));
    CHECK(letters.insert({"York", std::string(475, 'x'), 1}).error().code == error_code::key_value_too_large);
    CHECK(letters.insert({"York", std::string(475, 'x'), {}})); // no row in the other table, no intent
}
