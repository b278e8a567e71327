// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Programs with different lists of indexes over one table, and programs that use a state they read a minute ago.

#include "runners.hpp"
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing.hpp>

#include <support/around.hpp>
#include <support/catch.hpp>

using namespace entitable;
using namespace entitable_test;
using namespace marathon;

namespace {

using a = fields<by_age>;
using t = fields<by_team>;

runner const ann{"NYC", 1, "Ann", 55, "Ajax", "ann@x", 7};
runner const bob{"NYC", 2, "Bob", 50, "Ajax", "bob@x", 7};

using narrow = table<runner, by_age>;
using wide_list = table<runner, by_age, by_team>;

struct world {
    memory_backend store;
    testing::manual_clock time;
    table_options how = [this] {
        table_options made;
        made.time = &time;
        return made;
    }();
};

/// The clock of a program that is stopped as soon as it waits.
struct stopping_clock : clock {
    clock* behind{};
    cancellation_source* stop{};
    date_time now() noexcept override { return behind->now(); }
    steady_time steady() noexcept override { return behind->steady(); }
    void wait_until(steady_time) noexcept override { stop->cancel(); }
};

/// Another type in the same table.
struct club {
    std::string race;
    std::string name;
    std::string city;
};
ENTITABLE(club, partition_key(race), row_key(literal("CLUB:"), name), properties(city))
struct by_city : club {};
ENTITABLE(by_city, partition_key(race), row_key(literal("CITY:"), city, name), properties())

} // namespace

TEST_CASE("index: a program with a shorter list can read, but cannot write without maintaining an index that others "
          "maintain") {
    world all;
    wide_list{all.store, "runners", all.how}.create().value();
    narrow const older{all.store, "runners", all.how};
    auto const refused = older.insert(ann);
    REQUIRE(!refused);
    CHECK(refused.error().code == error_code::declaration_differs);
    CHECK(refused.error().effect == effect::none);
    CHECK_THAT(refused.error().message,
        Catch::Matchers::Contains("\"runners\" maintains by_team") && Catch::Matchers::Contains("retire(\"by_team\")"));
    CHECK(older.batch().insert(ann).submit().error().code == error_code::declaration_differs);
    CHECK(older.remove("NYC", 1, any_etag).error().code == error_code::declaration_differs);
    CHECK(older.by<by_age>().where(a::race == "NYC").to().value().empty()); // its own index is complete
    older.retire("by_team").value();
    CHECK(older.insert(ann).has_value());
    wide_list const newer{all.store, "runners", all.how};
    CHECK(newer.by<by_team>().where(t::race == "NYC").to().error().code == error_code::index_not_ready);
    newer.build<by_team>().value();
    CHECK(newer.by<by_team>().where(t::race == "NYC").to().value().size() == 1);
    all.time.advance(all.how.lease);
    CHECK(older.insert(bob).error().code == error_code::declaration_differs); // it does not use an old list
}

TEST_CASE("index: a program with a shorter list writes within its lease while the new index is built, and is refused "
          "afterwards") {
    world all;
    narrow const older{all.store, "runners", all.how};
    older.create().value();
    older.insert(ann).value(); // its lease begins
    // The build waits, and the older program writes meanwhile: at each request of the build, and between.
    wide_list const newer{all.store, "runners", all.how};
    newer.build<by_team>().value();
    auto const late = older.insert(bob); // the lease is over: the clock has advanced
    CHECK(late.error().code == error_code::declaration_differs);
    CHECK(newer.by<by_team>().where(t::race == "NYC").to().value().size() == 1);
    CHECK((newer.verify)().value().good());
}

TEST_CASE("index: a build that was cancelled during its wait waits again when it is repeated") {
    world all;
    narrow const first{all.store, "runners", all.how};
    first.create().value();
    first.retire<by_age>().value();
    narrow const writer{all.store, "runners", all.how};
    writer.insert(ann).value(); // according to its lease the index is retired
    cancellation_source stop;
    stopping_clock slow;
    slow.behind = &all.time;
    slow.stop = &stop;
    table_options stopped = all.how;
    stopped.time = &slow;
    stopped.calls.cancellation = stop.token();
    CHECK(narrow{all.store, "runners", stopped}.build<by_age>().error().code == error_code::cancelled);
    narrow const second{all.store, "runners", all.how};
    CHECK(second.state<by_age>().value() == index_state::fencing);
    auto const begun = all.time.steady();
    second.build<by_age>().value();
    CHECK(all.time.steady() - begun >= all.how.lease + all.how.longest_request);
    CHECK(second.by<by_age>().where(a::race == "NYC").to().value().size() == 1);
    // Between its two steps a build that does not wait finds entities that were fenced.
    CHECK((second.verify)().value().good());
}

TEST_CASE("index: a reader with a valid lease does not use an index that is no longer maintained") {
    world all;
    narrow const reader_of{all.store, "runners", all.how};
    reader_of.create().value();
    CHECK(reader_of.by<by_age>().where(a::race == "NYC").to().value().empty());
    narrow const other{all.store, "runners", all.how};
    auto const asked = reader_of.by<by_age>().where(a::race == "NYC"); // created while it was ready
    other.retire<by_age>().value();
    other.insert(ann).value();
    CHECK(reader_of.by<by_age>().where(a::race == "NYC").to().error().code == error_code::index_not_ready);
    CHECK(asked.to().error().code == error_code::index_not_ready);
}

TEST_CASE("index: nothing is written to a table without declared indexes") {
    world all;
    table<runner> const plain{all.store, "runners"};
    plain.create().value();
    narrow const runners{all.store, "runners", all.how};
    auto const refused = runners.insert(ann);
    CHECK(refused.error().code == error_code::declaration_missing);
    CHECK_THAT(refused.error().message,
        Catch::Matchers::Contains("create_if_absent()") && Catch::Matchers::Contains("adopt()"));
    CHECK(!runners.create_if_absent().value()); // the table exists and has no entities: declared
    CHECK(runners.insert(ann).has_value());
    CHECK(runners.by<by_age>().where(a::race == "NYC").to().value().size() == 1);
    // The creator ended before it declared anything, and another program wrote.
    table<runner> const again{all.store, "others"};
    again.create().value();
    again.insert(ann).value();
    narrow const others{all.store, "others", all.how};
    CHECK(!others.create_if_absent().value());
    CHECK(others.insert(bob).error().code == error_code::declaration_missing);
    others.build<by_age>().value();
    CHECK(others.insert(bob).has_value());
    CHECK((others.verify)().value().good());
}

TEST_CASE("index: two programs create a table concurrently") {
    // The other program comes after each of the requests of the first.
    for (int behind = 0; behind < 6; ++behind) {
        INFO("behind request " << behind);
        world all;
        int requests = 0;
        bool done = false;
        around const watched{all.store, {}, [&](std::string_view, bool) {
                                 if (requests++ == behind && !std::exchange(done, true)) {
                                     narrow const other{all.store, "runners", all.how};
                                     CHECK(other.create_if_absent().has_value());
                                     CHECK(other.insert(ann).has_value());
                                 }
                             }};
        narrow const one{watched, "runners", all.how};
        CHECK(one.create_if_absent().has_value());
        CHECK(one.insert(bob).has_value());
        narrow const direct{all.store, "runners", all.how};
        std::size_t const entities = direct.scan_table().count().value();
        CHECK(direct.by<by_age>().where(a::race == "NYC").to().value().size() == entities);
        CHECK((direct.verify)().value().good());
    }
}

TEST_CASE("index: the index declarations of two types in one table do not interfere") {
    world all;
    narrow const runners{all.store, "all", all.how};
    table<club, by_city> const clubs{all.store, "all", all.how};
    runners.create().value();
    CHECK(clubs.insert({"NYC", "Ajax", "Kiel"}).error().code == error_code::declaration_missing);
    CHECK(!clubs.create_if_absent().value());
    CHECK(runners.insert(ann).has_value());
    CHECK(clubs.insert({"NYC", "Ajax", "Kiel"}).has_value());
    CHECK((runners.verify)().value().good());
    CHECK((clubs.verify)().value().good());
    // Entities do not belong to a type in an earlier state: they may be of any type, until its own program has run.
    row_builder old{"~!index!", "~!index!by_city"};
    old.add("State", value_view{"ready"});
    call context;
    auto const stored =
        any_store{all.store}.execute(get_entity{"all", "~!index!", "~!index!by_city", {}}, context).value();
    old.add("Definition", *stored.entity.view().find("Definition"));
    static_cast<void>(
        any_store{all.store}.execute(write_entity{"all", mutation::replace(old.build(), any_etag)}, context).value());
    all.time.advance(all.how.lease);
    CHECK(runners.insert(bob).error().code == error_code::declaration_differs);
    CHECK(!clubs.create_if_absent().value());
    CHECK(runners.insert(bob).has_value());
}

TEST_CASE("index: ambiguous row types in one table are refused before the first request") {
    world all;
    table<runner, elsewhere<by_club>> const same{
        all.store, "runners", all.how, in_table<by_club>{all.store, "Runners"}};
    auto const refused = same.create();
    CHECK(refused.error().code == error_code::invalid_input);
    CHECK_THAT(refused.error().message,
        Catch::Matchers::Contains("by_club") && Catch::Matchers::Contains("its entities") &&
            Catch::Matchers::Contains("a separate table"));
    CHECK(same.insert(ann).error().code == error_code::invalid_input);
    CHECK((same.verify)().error().code == error_code::invalid_input);
    table<runner, elsewhere<unique<by_name>>> const apart{
        all.store, "runners", all.how, in_table<by_name>{all.store, "runners"}};
    CHECK(apart.create().has_value()); // their literals differ
    CHECK(apart.insert(ann).has_value());
    CHECK((apart.verify)().value().good());
}

TEST_CASE("index: with an operation id, a write omits the removal of an index row that is already deleted") {
    world all;
    auto const safe = retrying{all.store, {.operation_rows = true}};
    narrow const runners{all.store, "runners", all.how};
    runners.create().value();
    runners.insert(ann).value();
    table<by_age>{all.store, "runners"}.remove("NYC", 55, 1, any_etag).value();
    table_options id = all.how;
    id.calls.operation_id = "op-1";
    narrow const with_id{safe, "runners", id};
    runner older = ann;
    older.age = 56;
    auto const made = with_id.replace(older, any_etag);
    CHECK((made ? std::string{} : made.error().to_string()) == "");
    CHECK(made->healed == 1);
    CHECK((runners.verify)().value().good());
    CHECK(with_id.replace(older, any_etag).value().attempts == 0); // it was created before
}

TEST_CASE("index: no row is written based on a state whose lease has expired") {
    // The index is retired, or built again, after each request of a write whose lease ends there.
    for (bool const retired : {false, true}) {
        for (int behind = 0; behind < 12; ++behind) {
            INFO((retired ? "retired" : "built") << " behind request " << behind);
            world all;
            using both = table<runner, by_age, elsewhere<by_club>>;
            both const direct{all.store, "runners", all.how, in_table<by_club>{all.store, "clubs"}};
            direct.create().value();
            direct.insert(ann).value();
            if (!retired) {
                direct.retire<by_age>().value();
                direct.retire<by_club>().value();
            }
            int requests = 0;
            bool done = false;
            around const watched{all.store, {}, [&](std::string_view, bool) {
                                     if (requests++ == behind && !std::exchange(done, true)) {
                                         if (retired) {
                                             direct.retire<by_age>().value();
                                             direct.retire<by_club>().value();
                                         } else {
                                             direct.build<by_age>().value();
                                             direct.build<by_club>().value();
                                         }
                                     }
                                 }};
            both const writer{watched, "runners", all.how, in_table<by_club>{watched, "clubs"}};
            runner changed = ann;
            changed.age = 60;
            changed.club = "Hertha";
            CHECK(writer.replace(changed, any_etag).has_value());
            both const after{all.store, "runners", all.how, in_table<by_club>{all.store, "clubs"}};
            if (retired && done) {
                after.build<by_age>().value();
                after.build<by_club>().value();
            }
            auto const seen = (after.verify)().value().indexes;
            CHECK(seen.missing == 0);
            CHECK(seen.different == 0);
            if (!retired || done) {
                CHECK((done ? after.by<by_age>().where(a::race == "NYC").to().value().size() : 1) == 1);
            }
        }
    }
}

TEST_CASE("index: a writer that ends right after its transaction leaves no row missing from an index that was built in "
          "the meantime") {
    struct ended {};
    for (bool const replaces : {false, true}) {
        for (int behind = 0; behind < 12; ++behind) {
            INFO("built behind request " << behind);
            world all;
            using both = table<runner, by_age, by_team>;
            both const direct{all.store, "runners", all.how};
            direct.create().value();
            if (replaces) { direct.insert(ann).value(); }
            direct.retire<by_age>().value();
            int requests = 0;
            bool built = false;
            bool over = false;
            auto const before = [&](std::string_view, bool) {
                if (over) { throw ended{}; }
            };
            auto const behind_it = [&](std::string_view name, bool) {
                over = over || name == "transact";
                if (requests++ == behind && !std::exchange(built, true)) { direct.build<by_age>().value(); }
            };
            around const watched{all.store, before, behind_it};
            both const writer{watched, "runners", all.how};
            runner changed = ann;
            changed.age = 60;
            try {
                static_cast<void>(replaces ? writer.replace(changed, any_etag) : writer.insert(changed));
            } catch (ended const&) {}
            if (direct.state<by_age>().value() != index_state::ready) {
                break; // there was no such request
            }
            auto const seen = (direct.verify)().value().indexes;
            CHECK(seen.missing == 0);
            CHECK(seen.different == 0);
        }
    }
}

TEST_CASE("index: the indexes of a non-empty table are not declared complete if the answer to its creation was lost") {
    world all;
    table<runner> const plain{all.store, "runners"};
    plain.create().value();
    plain.insert(ann).value();
    testing::faulty const lossy{all.store};
    lossy.plan({testing::fault::lost_after(), 1, "create_table"});
    narrow const runners{retrying{lossy, {.time = &all.time, .seed = 1}}, "runners", all.how};
    static_cast<void>(runners.create_if_absent().value()); // whichever program created it
    CHECK(runners.by<by_age>().where(a::race == "NYC").to().error().code == error_code::index_not_ready);
    CHECK(runners.insert(bob).error().code == error_code::declaration_missing);
}

TEST_CASE("index: the state of an index is stored in its registered form") {
    world all;
    narrow{all.store, "runners", all.how}.create().value();
    call context;
    auto const stored =
        any_store{all.store}.execute(get_entity{"runners", "~!index!", "~!index!by_age", {}}, context).value();
    auto const view = stored.entity.view();
    CHECK(view.find("State")->as_string() == "ready");
    CHECK(view.find("Definition")->as_int64() == -5458663774236740303); // hash of AGE:, age, bib and its name
    CHECK(view.find("Entities")->as_string() == "BIB:");
}
