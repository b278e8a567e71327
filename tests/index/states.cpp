// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// From no index to a ready one, and back; and the answers to readers and writers in between.

#include "runners.hpp"
#include "support/catch.hpp"
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

using namespace entitable;
using namespace marathon;

namespace {

runner const ann{"NYC", 1, "Ann", 55, "Ajax", "ann@x", 7};
runner const bob{"NYC", 2, "Bob", 50, "Ajax", "bob@x", {}};

/// The same name, other keys: another declaration of the index.
namespace later {
struct by_age : runner {};
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), width(bib, 5)), properties(name, club))
} // namespace later

} // namespace

TEST_CASE("index: an index of a non-empty table is not ready until it is built") {
    memory_backend const store;
    table<runner> const before{store, "runners"};
    before.create().value();
    before.insert(ann).value();
    before.insert(bob).value();
    testing::manual_clock time;
    table_options how;
    how.time = &time;
    table<runner, by_age, elsewhere<by_club>> const runners{store, "runners", how, in_table<by_club>{store, "clubs"}};
    CHECK(!runners.create_if_absent().value());
    using a = fields<by_age>;
    auto const asked = [&] { return runners.by<by_age>().where(a::race == "NYC").to(); };
    REQUIRE(!asked());
    CHECK(asked().error().code == error_code::index_not_ready);
    CHECK_THAT(asked().error().message, Catch::Matchers::Contains("build<by_age>()"));
    CHECK(runners.state<by_age>().value() == index_state::absent);
    auto const begun = time.steady();
    auto const built = runners.build<by_age>().value();
    CHECK(built.written == 2);
    CHECK(asked().value().size() == 2);
    CHECK(runners.state<by_age>().value() == index_state::ready);
    CHECK(runners.state<by_club>().value() == index_state::building); // declared with the other one, and not filled
    CHECK(runners.build<by_club>().value().written == 2);
    CHECK(time.steady() == begun); // there was no program to wait for
    CHECK(runners.verify().value().good());
    CHECK(runners.build<by_club>().value().written == 0); // ready stays ready
}

TEST_CASE("index: a retired index is not maintained, and can be built again once every program has read its state") {
    memory_backend const store;
    testing::manual_clock time;
    table_options how;
    how.time = &time;
    table<runner, by_age> const runners{store, "runners", how};
    runners.create().value();
    runners.insert(ann).value();
    auto begun = time.steady();
    runners.retire<by_age>().value();
    CHECK(time.steady() - begun >= how.lease + how.longest_request);
    CHECK(runners.retire("by_age").has_value()); // it is retired already
    runners.insert(bob).value();
    CHECK(runners.verify().value().good()); // it is not maintained, so nothing is missing
    CHECK(runners.build<by_age>().value().written == 2);
    using a = fields<by_age>;
    CHECK(runners.verify().value().good());
    runners.retire<by_age>().value();
    CHECK(runners.by<by_age>().where(a::race == "NYC").to().error().code == error_code::index_not_ready);
    begun = time.steady();
    runners.build<by_age>().value();
    CHECK(time.steady() - begun >= how.lease + how.longest_request);
    CHECK(runners.verify().value().good());
    CHECK(runners.by<by_age>().where(a::race == "NYC").to().value().size() == 2);
    CHECK(runners.retire("by_nothing").error().code == error_code::resource_not_found);
}

TEST_CASE("index: an insert adds no row to a retired index, alone or with others, and still to the others") {
    memory_backend const store;
    testing::manual_clock time;
    table_options how;
    how.time = &time;
    table<runner, by_age, unique<by_mail>> const runners{store, "runners", how};
    runners.create().value();
    runners.retire<by_age>().value();
    runners.insert(ann).value();
    auto both = runners.batch();
    both.insert(bob).insert(runner{"NYC", 3, "Cid", 40, "Ajax", "cid@x", {}}).submit().value();
    CHECK(table<by_age>{store, "runners"}.scan_table().count().value() == 0);
    CHECK(table<by_mail>{store, "runners"}.scan_table().count().value() == 3);
}

TEST_CASE("index: after the lease has expired, no write is sent unless the states can be read again") {
    memory_backend const store;
    testing::manual_clock time;
    table_options how;
    how.time = &time;
    how.lease = std::chrono::nanoseconds{0};
    how.max_attempts = 1;
    table<runner, by_age> const before{store, "runners", how};
    before.create().value();
    before.retire<by_age>().value();
    for (std::size_t query = 1; query <= 4; ++query) {
        INFO("refused query " << query);
        testing::faulty const nasty{store};
        table<runner, by_age> const runners{nasty, "runners", how};
        nasty.plan({testing::fault::refused(), query, "query_entities"});
        auto const done = runners.insert(ann);
        if (done) { break; }
        // After the request that wrote it, an index may lack its row.
        CHECK(before.find("NYC", 1).value().has_value() == (done.error().effect == effect::unknown));
        before.unmaintained().remove_if_present("NYC", 1, any_etag).value();
    }
}

TEST_CASE("index: a program with a different declaration of an index gets an error") {
    memory_backend const store;
    table<runner, by_age> const runners{store, "runners"};
    runners.create().value();
    table<runner, later::by_age> const changed{store, "runners"};
    auto const refused = changed.insert(ann);
    REQUIRE(!refused);
    CHECK(refused.error().code == error_code::index_definition_differs);
    CHECK(refused.error().effect == effect::none);
}

TEST_CASE("index: two entities with the same unique key are both reported, and are corrected manually") {
    memory_backend const store;
    table<runner> const before{store, "runners"};
    before.create().value();
    before.insert(ann).value();
    runner twin = ann;
    twin.bib = 3;
    before.insert(twin).value();
    table<runner, unique<by_mail>, by_age> const runners{store, "runners"};
    runners.build<by_mail>().value();
    runners.build<by_age>().value();
    CHECK(runners.repair().value().written == 0);
    auto const seen = runners.verify().value().indexes;
    CHECK(seen.violations == 1);
    CHECK(seen.missing == 0);
    REQUIRE(seen.samples.size() == 1);
    CHECK(to_string(seen.samples.front().fault) == "violation");
    CHECK(seen.samples.front().entity_row_key == "BIB:00003");
    CHECK(seen.samples.front().other_row_key == "BIB:00001");
    auto const found = runners.violations().value();
    REQUIRE(found.size() == 1);
    CHECK(found.front().index == "by_mail");
    CHECK(found.front().key == row_keys{"NYC", "MAIL:ann@x"});
    REQUIRE(found.front().entities.size() == 2);
    CHECK(runners.get(found.front().entities[0]).value().bib == 1); // the entity that the index finds
    CHECK(runners.get(found.front().entities[1]).value().bib == 3);
    CHECK(runners.resolve_violation(found.front(), {"NYC", "BIB:00009"}).error().code == error_code::invalid_input);
    CHECK(runners.scan_table().count().value() == 2);
    CHECK(runners.resolve_violation(found.front(), found.front().entities[1]).value() == 1);
    CHECK(runners.violations().value().empty());
    CHECK(runners.verify().value().good());
    using m = fields<by_mail>;
    auto const left = runners.by<by_mail>().where(m::race == "NYC" && m::mail == "ann@x").to().value();
    REQUIRE(left.size() == 1);
    CHECK(left.front().bib == 3);
    CHECK(runners.resolve_violation(found.front(), found.front().entities[1]).value() == 0);
}

TEST_CASE("intent: rows of an entity are distinguished from rows of an entity whose key has the same beginning") {
    intent one{
        {"NYC", "BIB:1"}, std::string(32, 'a'), {}, intent_state::pending, {{"by_club", {}, row_keys{"Ajax", "x"}}}};
    intent const other{{"NYC", "BIB:1!2"}, std::string(32, 'b'), {}, intent_state::applied, {}};
    auto const row = other.to_row();
    auto const read = intent::read(row).value();
    CHECK(read.entity.row_key == "BIB:1!2");
    CHECK(read.state == intent_state::applied);
    auto const again = intent::read(one.to_row()).value();
    CHECK(again.wants("by_club", {"Ajax", "x"}));
    CHECK(!again.wants("by_club", {"Ajax", "y"}));
    CHECK(!again.wants("by_age", {"Ajax", "x"}));
    CHECK(intent::rows_of("BIB:1").contains(one.to_row().row_key()));
    CHECK(!intent::read(entitable::row{"NYC", "BIB:1", {}}));
}
