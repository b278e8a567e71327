// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// From no index to one that is ready, and back; what readers and writers are told on the way.

#include "runners.hpp"
#include "support/catch.hpp"
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

TEST_CASE("index: one of a table that has entities is not ready, is built, and then is") {
    memory_backend const store;
    table<runner> const before{store, "runners"};
    before.create().value();
    before.insert(ann).value();
    before.insert(bob).value();
    indexed_table<runner, by_age, elsewhere<by_club>> const runners{
        store, "runners", in_table<by_club>{store, "clubs"}};
    CHECK(!runners.create_if_absent().value());
    using a = fields<by_age>;
    auto const asked = [&] { return runners.by<by_age>().where(a::race == "NYC").to(); };
    REQUIRE(!asked());
    CHECK(asked().error().code == error_code::index_not_ready);
    CHECK_THAT(asked().error().message, Catch::Matchers::Contains("build<by_age>()"));
    CHECK(runners.state<by_age>().value() == index_state::absent);
    auto const built = runners.build<by_age>().value();
    CHECK(built.written == 2); // entities: a build mends all of their index rows
    CHECK(asked().value().size() == 2);
    CHECK(runners.state<by_age>().value() == index_state::ready);
    runners.build<by_club>().value();
    CHECK(runners.verify().value().good());
}

TEST_CASE("index: a retired one is not kept, and is built again after everybody knows") {
    memory_backend const store;
    testing::manual_clock time;
    index_options how;
    how.time = &time;
    indexed_table<runner, by_age> const runners{store, "runners", how};
    runners.create().value();
    runners.insert(ann).value();
    runners.retire<by_age>().value();
    runners.insert(bob).value();
    CHECK(runners.verify().value().missing == 1);
    using a = fields<by_age>;
    CHECK(runners.by<by_age>().where(a::race == "NYC").to().error().code == error_code::index_not_ready);
    auto const begun = time.steady();
    runners.build<by_age>().value();
    CHECK(time.steady() - begun >= how.lease + how.longest_request);
    CHECK(runners.verify().value().good());
    CHECK(runners.by<by_age>().where(a::race == "NYC").to().value().size() == 2);
}

TEST_CASE("index: a write behind its lease, of which the states cannot be read again, is of unknown effect") {
    memory_backend const store;
    index_options how;
    how.lease = std::chrono::nanoseconds{0};
    how.max_attempts = 1;
    indexed_table<runner, by_age> const before{store, "runners", how};
    before.create().value();
    before.retire<by_age>().value();
    testing::faulty const nasty{store};
    indexed_table<runner, by_age> const runners{nasty, "runners", how};
    nasty.plan({testing::fault::refused(), 2, "query_entities"});
    auto const done = runners.insert(ann);
    REQUIRE(!done);
    CHECK(done.error().effect == effect::unknown);
    CHECK(before.get("NYC", 1).has_value());
}

TEST_CASE("index: a program with another declaration of an index is told") {
    memory_backend const store;
    indexed_table<runner, by_age> const runners{store, "runners"};
    runners.create().value();
    indexed_table<runner, later::by_age> const changed{store, "runners"};
    auto const refused = changed.insert(ann);
    REQUIRE(!refused);
    CHECK(refused.error().code == error_code::index_definition_differs);
    CHECK(refused.error().effect == effect::none);
}

TEST_CASE("index: two entities with one key of a unique index are told by verify") {
    memory_backend const store;
    table<runner> const before{store, "runners"};
    before.create().value();
    before.insert(ann).value();
    runner twin = ann;
    twin.bib = 3;
    before.insert(twin).value();
    indexed_table<runner, unique<by_mail>> const runners{store, "runners"};
    runners.build<by_mail>().value();
    auto const seen = runners.verify().value();
    CHECK(seen.violations == 1);
    CHECK(seen.missing == 0);
    REQUIRE(seen.samples.size() == 1);
    CHECK(to_string(seen.samples.front().fault) == "violation");
}

TEST_CASE("intent: rows of one entity are told from those of another whose key goes on") {
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
