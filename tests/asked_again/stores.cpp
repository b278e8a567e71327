// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Shards and fleets, called again after an error at each request to their stores and to their map.

#include <entitable/fleet.hpp>
#include <entitable/shards.hpp>

#include <support/asked_again.hpp>
#include <support/maps.hpp>
#include <support/runners.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

constexpr std::int32_t in_each = 3; // three pages: with more, requests and the trials of each grow together
auto const everything = r::name != "nobody";

/// Shards whose map and stores are all in `store`.
sharded shards_over(faulty_store const& store) {
    return sharded{entitable_test::map_without_identity(
                       store, "shardmap", virtual_shards{4}, {"alpha", "beta"}, {std::chrono::milliseconds{0}}),
        [store](std::string_view) -> result<any_store> { return any_store{store}; }};
}

} // namespace

TEST_CASE("repeated requests: pages of a query over all shards are read") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        sharded const cloud = shards_over(store);
        auto const all = runners(cloud, in_each);
        plan();
        auto const query = all.scan_table(everything).page_size(5);
        auto pages = query.pages();
        std::size_t found = 0;
        std::optional<std::string> token;
        int errors = 0;
        for (; errors < 3;) {
            auto const page = pages.next();
            if (!page) {
                ++errors;
                continue;
            }
            REQUIRE(errors == 0); // after an error neither an end nor a page
            if (!*page) { break; }
            found += (*page)->size();
            token = (*page)->token;
        }
        if (errors > 0) {
            auto const rest = asked_until_success([&] { return token ? query.resume(*token).to() : query.to(); });
            found += rest->size();
        }
        CHECK(found == 4 * in_each);
        CHECK(asked_until_success([&] { return all.partitions(); })->size() == 4);
        CHECK(*asked_until_success([&] { return query.count(); }) == 4 * in_each);
        CHECK_FALSE(asked_until_success([&] { return cloud.map().to_string(); })->empty());
        CHECK_FALSE(asked_until_success([&] { return cloud.explain("runners"); })->empty());
    });
}

TEST_CASE("repeated requests: a partial query reports the missing shards and returns their rows when it is repeated") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        sharded const cloud = shards_over(store);
        static_cast<void>(runners(cloud, in_each));
        plan();
        for (int asked = 0;; ++asked) {
            REQUIRE(asked < 5);
            auto const seen = partial(
                cloud, [](any_store const& through) { return table<runner>{through, "runners"}.scan_table().to(); });
            if (seen && seen->good()) {
                CHECK(seen->value().size() == 4 * in_each);
                break;
            }
            if (seen) {
                CHECK_FALSE(seen->missing().empty());
                CHECK_FALSE(seen->whole());
            }
        }
    });
}

TEST_CASE("repeated requests: a shard is moved") {
    with_each_request_failing(
        [](faulty_store const& store, auto const& plan) {
            sharded const cloud = shards_over(store);
            auto const all = runners(cloud, in_each);
            plan();
            for (int asked = 0;; ++asked) {
                REQUIRE(asked < 5);
                auto planned = plan_move(cloud, 0, "beta");
                if (!planned) {
                    if (planned.error().code == error_code::invalid_input) { // it exists by now
                        break;
                    }
                    continue;
                }
                if (planned->run()) { break; }
            }
            CHECK(asked_until_success([&] { return all.scan_table().to(); })->size() == 4 * in_each);
            auto const map = asked_until_success([&] { return cloud.map().to_string(); });
            CHECK_THAT(*map, ContainsSubstring("0 -> beta (open"));
        },
        1000);
}

TEST_CASE("repeated requests: all stores of a fleet are visited and checked, and a reference table is published") {
    with_each_request_failing(
        [](faulty_store const& store, auto const& plan) {
            sharded const cloud = shards_over(store);
            auto const all = runners(cloud, in_each);
            fleet const stores{cloud, {.in_flight = 1}};
            reference_table<runner> const races{stores, "races", store};
            races.source().create().value();
            races.source().insert({"Boston", "Full", 1, "Ann", {}, 4}).value();
            plan();
            CHECK(asked_until_success([&] { return stores.stores(); })->size() == 2);
            auto const body = [](std::string_view, any_store const& there) -> result<std::size_t> {
                call context;
                auto const tables = there.execute(list_tables{}, context);
                return tables ? result<std::size_t>{tables->tables.size()} : failure{tables.error()};
            };
            auto told = asked_until_success([&] { return stores.each(body); });
            for (int asked = 0; !told->good() && asked < 3; ++asked) {
                CHECK_FALSE(told->whole());
                stores.resume(*told, body);
            }
            CHECK(told->whole());
            for (int asked = 0;; ++asked) {
                REQUIRE(asked < 5);
                auto const seen = races.publish();
                if (seen && seen->good()) { break; }
            }
            CHECK(asked_until_success([&] {
                auto const copy = races.at("alpha");
                return copy ? copy->get("Boston", "Full", 1) : result<versioned<runner>>{failure{copy.error()}};
            })->value.name == "Ann");
            CHECK_FALSE(asked_until_success([&] { return sizes_of(stores); })->stores.empty());
        },
        1000);
}
