// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "client/entities.hpp"
#include "support/catch.hpp"
#include <entitable/memory.hpp>

using namespace entitable;
using client_tests::runner;

namespace {

struct race {
    memory_backend store;
    table<runner> runners{store, "runners"};

    race() { runners.create().value(); }
};

} // namespace

TEST_CASE("a table is created once and dropped once") {
    memory_backend store;
    table<runner> const runners{store, "runners"};
    CHECK(runners.create_if_absent().value());
    CHECK_FALSE(runners.create_if_absent().value());
    CHECK(runners.create().error().code == error_code::table_already_exists);
    CHECK(runners.drop_if_present().value());
    CHECK_FALSE(runners.drop_if_present().value());
    CHECK(runners.drop().error().code == error_code::resource_not_found);
    CHECK(runners.get("Boston", 1).error().code == error_code::table_not_found);
}

TEST_CASE("an inserted entity is read back by its keys") {
    race on;
    on.runners.insert({"Boston", 7, "Ann", 31}).value();
    runner const ann = on.runners.get("Boston", 7).value();
    CHECK(ann.name == "Ann");
    CHECK(ann.age == 31);
    CHECK(on.runners.find("Boston", 7).value()->bib == 7);
    CHECK_FALSE(on.runners.find("Boston", 8).value());
    CHECK(on.runners.get("Boston", 8).error().code == error_code::resource_not_found);
    CHECK(on.runners.insert({"Boston", 7, "Bob", {}}).error().code == error_code::entity_already_exists);
    CHECK(on.runners.get("Boston", 7).value().name == "Ann");
}

TEST_CASE("an update with a given version succeeds once") {
    race on;
    auto const first = on.runners.insert({"Boston", 7, "Ann", 31}).value();
    auto const read = on.runners.get_stored("Boston", 7).value();
    CHECK(read.etag == first.etag);
    CHECK(etag::of(read.timestamp) == read.etag);
    auto const second = on.runners.replace({"Boston", 7, "Anna", 32}, read.etag).value();
    CHECK_FALSE(second.etag == first.etag);
    auto const lost = on.runners.replace({"Boston", 7, "Annie", 33}, read.etag);
    CHECK(lost.error().code == error_code::update_condition_not_satisfied);
    CHECK(lost.error().effect == effect::none);
    CHECK(on.runners.get("Boston", 7).value().name == "Anna");
    CHECK(on.runners.replace({"Boston", 7, "Annie", 33}, any_etag));
    CHECK(on.runners.replace({"Boston", 9, "Nobody", 1}, any_etag).error().code == error_code::resource_not_found);
}

TEST_CASE("a merge keeps absent members and a replace removes them") {
    race on;
    on.runners.insert({"Boston", 7, "Ann", 31}).value();
    on.runners.merge({"Boston", 7, "Anna", {}}, any_etag).value();
    CHECK(on.runners.get("Boston", 7).value().age == 31);
    on.runners.replace({"Boston", 7, "Anna", {}}, any_etag).value();
    CHECK_FALSE(on.runners.get("Boston", 7).value().age);
}

TEST_CASE("upserts take no version and never fail because of the row's state") {
    race on;
    CHECK(on.runners.insert_or_replace({"Boston", 7, "Ann", 31}));
    CHECK(on.runners.insert_or_replace({"Boston", 7, "Anna", {}}));
    CHECK_FALSE(on.runners.get("Boston", 7).value().age);
    CHECK(on.runners.insert_or_merge({"Boston", 7, "Anna", 40}));
    CHECK(on.runners.insert_or_merge({"Boston", 7, "Annie", {}}));
    CHECK(on.runners.get("Boston", 7).value().age == 40);
    CHECK(on.runners.insert_or_merge({"Boston", 8, "Bob", {}}));
}

TEST_CASE("a removal requires the version as well") {
    race on;
    auto const ann = on.runners.insert({"Boston", 7, "Ann", 31}).value();
    on.runners.merge({"Boston", 7, "Anna", {}}, any_etag).value();
    CHECK(on.runners.remove("Boston", 7, ann.etag).error().code == error_code::update_condition_not_satisfied);
    CHECK(on.runners.remove("Boston", 7, any_etag).value().etag.empty());
    CHECK(on.runners.remove("Boston", 7, any_etag).error().code == error_code::resource_not_found);
}

TEST_CASE("an entity is removed by its keys only if it has the given version") {
    race on;
    runner ann{"Boston", 7, "Ann", 31};
    auto const first = on.runners.insert(ann).value();
    on.runners.insert({"Boston", 8, "Bob", {}}).value();
    auto const second = on.runners.replace({"Boston", 7, "Anna", 32}, first.etag).value();
    auto const lost = on.runners.remove(ann, first.etag);
    CHECK(lost.error().code == error_code::update_condition_not_satisfied);
    CHECK(lost.error().effect == effect::none);
    CHECK(on.runners.get("Boston", 7).value().name == "Anna");
    CHECK(on.runners.remove(ann, second.etag)); // members that are not keys do not matter
    CHECK(on.runners.remove(ann, any_etag).error().code == error_code::resource_not_found);
    CHECK(on.runners.get("Boston", 8));
}

TEST_CASE("a table shares its backend and keeps it alive") {
    auto const make = [] {
        memory_backend store;
        table<runner> made{store, "runners"};
        made.create().value();
        made.insert({"Boston", 7, "Ann", 31}).value();
        return made;
    };
    table<runner> const runners = make();
    table<runner> const copy = runners;
    copy.insert({"Boston", 8, "Bob", {}}).value();
    CHECK(runners.get("Boston", 8).value().name == "Bob");
}

TEST_CASE("the options of a table apply to every call made through it") {
    race on;
    cancellation_source source;
    auto const impatient = on.runners.with({.timeout = std::chrono::seconds{-1}});
    CHECK(impatient.insert({"Boston", 7, "Ann", 31}).error().code == error_code::deadline_exceeded);
    call_options cancelled;
    cancelled.cancellation = source.token();
    auto const stopped = on.runners.with(cancelled);
    CHECK(stopped.insert({"Boston", 7, "Ann", 31}));
    source.cancel();
    CHECK(stopped.get("Boston", 7).error().code == error_code::cancelled);
    CHECK(on.runners.get("Boston", 7));
}

TEST_CASE("an invalid table name is reported by the first request") {
    memory_backend store;
    table<runner> const runners{store, "no"};
    auto const refused = runners.create();
    CHECK(refused.error().code == error_code::out_of_range_input);
    CHECK_THAT(refused.error().message, entitable_test::ContainsSubstring("3 to 63"));
}
