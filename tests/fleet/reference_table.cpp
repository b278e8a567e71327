// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Reference tables: complete in every store or not served, wherever a publisher ends; each read returns its version.

#include "fleets.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/memory.hpp>
#include <entitable/testing/crash_points.hpp>

#include <support/maps.hpp>

#include <algorithm>
#include <optional>

using namespace entitable;
using namespace entitable_test;
using namespace fleets;

namespace {

struct currency {
    std::string code;
    std::int32_t rate{};
};
ENTITABLE(currency, partition_key(code), row_key(literal("rate")), properties(rate))

/// Every row of version n has the rate n, and there are 3 + n rows: so half a version shows.
void write_version(any_store const& source, std::int32_t version) {
    table<currency> const rows{source, "rates"};
    static_cast<void>(rows.create_if_absent());
    for (std::int32_t number = 0; number < 3 + version; ++number) {
        rows.insert_or_replace({"C" + std::to_string(number), version}).value();
    }
}

/// What is wrong with the copy of a store; empty where there is none, or a whole one.
std::string wrong_with(result<reference_copy<currency>> const& copy, std::int64_t at_least = 0) {
    if (!copy) {
        return copy.error().code == error_code::reference_missing && at_least == 0 ? "" : copy.error().to_string();
    }
    auto const rows = copy->scan_table().to();
    if (!rows) { return rows.error().to_string(); }
    for (currency const& each : *rows) {
        if (each.rate != copy->version()) {
            return "a row of version " + std::to_string(each.rate) + " in version " + std::to_string(copy->version());
        }
    }
    if (static_cast<std::int64_t>(rows->size()) != 3 + copy->version()) {
        return std::to_string(rows->size()) + " rows in version " + std::to_string(copy->version());
    }
    return copy->version() < at_least ? "a version went back" : "";
}

/// One store that is the catalogue, the source and the fleet.
struct one_store {
    any_store store;
    entitable::clock* time;

    /// Of a map that is not in the store: it is no part of what is interrupted.
    [[nodiscard]] static lookup_map map() {
        static memory_backend const catalogue;
        return entitable_test::map_without_identity(
            catalogue, "shardmap", virtual_shards{1}, {"only"}, {std::chrono::milliseconds{0}});
    }
    [[nodiscard]] reference_table<currency> rates() const {
        return {fleet{sharded{map(), [through = store](std::string_view) -> result<any_store> { return through; }},
                    {.in_flight = 1, .time = time}},
            "rates", store};
    }
};

/// Looks at the copy behind every request.
struct looking {
    using is_transport = void;
    any_store below;
    std::function<void()> look;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        auto answer = below.execute(request, context);
        look();
        return answer;
    }
};

} // namespace

TEST_CASE("reference: a table is published to all stores and read from the store of the shard, with its version") {
    world const all;
    auto const cloud = all.open(virtual_shards{6});
    fleet const stores{cloud, {.in_flight = 3, .stores = {"delta"}}};
    memory_backend const home;
    reference_table<currency> const rates{stores, "rates", home};
    CHECK(rates.at("alpha").error().code == error_code::reference_missing);
    CHECK(rates.fill("alpha").error().code == error_code::reference_missing);
    write_version(home, 1);
    CHECK(rates.at("alpha").error().code == error_code::reference_missing); // not published yet
    auto told = rates.publish().value();
    CHECK(told.good());
    CHECK(told.stores().size() == 4);
    CHECK(rates.at("delta").value().version() == 1); // a store without a shard, too
    auto const beside = rates.beside("customer-42").value();
    CHECK(beside.get("C1").value().value.rate == 1);
    CHECK(beside.get("C1").value().version == 1);
    CHECK(beside.where(fields<currency>::code == "C2").to().value().size() == 1);

    CHECK(rates.publish().value().stores()[0].outcome.value() == 1); // nothing has changed
    write_version(home, 2);
    all.store("beta").plan({testing::fault::refused(), 1, "create_table"});
    auto partly = rates.publish().value();
    CHECK(partly.failed() == std::vector<std::string>{"beta"});
    CHECK(rates.at("beta").value().version() == 1); // whole, and it says so
    CHECK(wrong_with(rates.at("beta")).empty());
    CHECK(rates.at("alpha").value().version() == 2);
    CHECK(wrong_with(beside).empty()); // who has a copy goes on with it
    rates.resume(partly);
    CHECK(partly.good());
    CHECK(rates.at("beta").value().version() == 2);
    auto const sound = rates.verify().value();
    CHECK(std::all_of(sound.stores().begin(), sound.stores().end(),
        [](auto const& each) { return each.outcome->is_current && each.outcome->is_sound; }));

    // Somebody writes into a copy: verify detects it, repair makes a new copy.
    auto const pointer = detail::read_pointer({any_store{all.store("gamma")}, "rates", "copy"}).value();
    table<currency>{any_store{all.store("gamma")}, pointer.stored}.insert_or_replace({"C0", -1}).value();
    CHECK_FALSE(rates.verify().value().stores()[3].outcome->is_sound);
    rates.repair("gamma").value();
    CHECK(rates.verify().value().stores()[3].outcome->is_sound);
    CHECK(rates.at("gamma").value().version() == 2);
    CHECK(wrong_with(rates.at("gamma")).empty());

    // Old copies are dropped, all but the last one.
    for (std::int32_t version = 3; version < 8; ++version) {
        write_version(home, version);
        rates.publish().value().whole().value();
    }
    call context;
    CHECK(any_store{all.store("delta")}.execute(list_tables{}, context).value().tables.size() == 3);
    CHECK(beside.get("C1").error().code == error_code::table_not_found);
}

TEST_CASE("reference: a new store gets its copy before its first shard") {
    world const all;
    auto const cloud = all.open(virtual_shards{8});
    fill(cloud);
    memory_backend const home;
    fleet const before{cloud};
    write_version(home, 1);
    reference_table<currency>{before, "rates", home}.publish().value().whole().value();
    fleet const grown{cloud, {.stores = {"delta"}}};
    reference_table<currency> const rates{grown, "rates", home};
    rebalance_options options;
    options.prepare = [&](std::string_view store) { return rates.fill(store); };
    auto const plan = plan_rebalance(grown, options).value();
    REQUIRE_FALSE(plan.moves.empty());
    bool had_it = true;
    plan.run([&](rebalance_progress const&) { return had_it = had_it && rates.at("delta").has_value(); }).value();
    CHECK(had_it);
    // A store that cannot take it gets no shard.
    fleet const more{cloud, {.stores = {"delta", "epsilon"}}};
    reference_table<currency> const again{more, "rates", home};
    options.prepare = [&](std::string_view store) { return again.fill(store); };
    all.store("epsilon").plan({testing::fault::refused(), 1, "create_table"});
    auto const refused = plan_drain(more, "alpha", options).value().run();
    CHECK(refused.error().message.starts_with("the move of the virtual shard "));
    auto const map = cloud.map().state().fresh({}).value();
    CHECK(std::none_of(
        map->places.begin(), map->places.end(), [](auto const& each) { return each.row.store == "epsilon"; }));
}

TEST_CASE("reference: no reader sees a partial copy, whenever a publisher stops or another publishes, and a new store "
          "has either all rows or none") {
    std::int64_t const before = GENERATE(1, 0); // the version that the store has; 0: a new one
    std::string seen_wrong;
    std::size_t looks = 0;
    std::size_t missing = 0;
    std::optional<any_store> real; // as readers see it, behind every request of a publisher
    std::int64_t version = 0;      // that was seen last
    auto const look = [&] {
        auto const pointer = detail::read_pointer({*real, "rates", "copy"}).value();
        ++looks;
        if (pointer.version == 0) {
            seen_wrong += (std::max)(version, before) > 0 ? "a copy is gone" : "";
            ++missing;
            return;
        }
        seen_wrong += wrong_with(reference_copy<currency>{table<currency>{*real, pointer.stored}, pointer.version},
            (std::max)({version, before, std::int64_t{1}}));
        version = pointer.version;
    };
    testing::crash_point_world around;
    around.workers = rounds(1, 3);
    around.begin = [&](any_store const& store, entitable::clock& time) {
        real = store;
        version = 0;
        if (before > 0) {
            write_version(store, 1);
            one_store{store, &time}.rates().publish().value().whole().value();
        }
        write_version(store, static_cast<std::int32_t>(before) + 1);
    };
    around.shows = [](any_store const& store) {
        auto const copy = one_store{store, &system_clock()}.rates().at("only");
        return copy ? "version " + std::to_string(copy->version()) : copy.error().to_string();
    };
    around.wrong = [&](any_store const& store) {
        return seen_wrong + wrong_with(one_store{store, &system_clock()}.rates().at("only"), before + 1);
    };
    auto const told = testing::every_crash_point(
        [&](any_store const& through, entitable::clock& time) {
            static_cast<void>(one_store{looking{through, look}, &time}.rates().publish());
        },
        around);
    CAPTURE(told.point, before);
    CHECK(told.problem == "");
    CHECK(told.points > (before > 0 ? 100U : 50U));
    CHECK(looks > 10'000);
    CHECK((missing > 500) == (before == 0));
    WARN("walked through " << told.points << " points, looked " << looks << " times, " << missing
                           << " times for nothing");
}

TEST_CASE("reference: each of two concurrent publishers publishes or gets a conflict, and no copy is left behind") {
    std::int32_t const before = GENERATE(0, 1); // versions that the store has
    std::size_t told = 0;
    for (std::size_t point = 0;; ++point) {
        CAPTURE(before, point);
        memory_backend const store;
        auto const other = one_store{store, &system_clock()}.rates();
        for (std::int32_t version = 1; version <= before; ++version) {
            write_version(store, version);
            REQUIRE(other.publish().value().good());
        }
        write_version(store, before + 1);
        std::size_t requests = 0;
        bool complete = true;
        auto const look = [&] {
            if (requests++ == point) { complete = other.publish().value().good(); }
        };
        auto const one = one_store{looking{store, look}, &system_clock()}.rates();
        auto const done = one.publish();
        CHECK(complete);
        if (done) {
            CHECK(done->whole());
        } else {
            ++told;
            CHECK(done.error().code == error_code::update_condition_not_satisfied);
            CHECK(done.error().effect == effect::none);
        }
        CHECK(wrong_with(one.at("only"), before + 1) == "");
        CHECK(other.publish().value().good());
        call context;
        auto const tables = any_store{store}.execute(list_tables{}, context).value().tables;
        CHECK(tables.size() <= 6); // the source, the pointers, and of master and copy the last one and the one before
        if (requests <= point) { break; }
    }
    CHECK(told > 10);
}
