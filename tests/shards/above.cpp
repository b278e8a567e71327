// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What stands above tables, over shards: sequences, indexes, transactions, bulk loads.

#include "shards.hpp"
#include "support/catch.hpp"
#include <entitable/bulk.hpp>
#include <entitable/index.hpp>
#include <entitable/sequence.hpp>

using namespace entitable;

namespace {

struct runner {
    std::string race;
    std::int32_t bib{};
    std::string club;
    std::int32_t age{};
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), width(bib, 5)), properties(club, age))
struct by_club : runner {};
ENTITABLE(by_club, partition_key(club), row_key(race, width(bib, 5)), properties())
using c = fields<by_club>;

std::vector<runner> field_of_runners() {
    std::vector<runner> all;
    for (std::int32_t bib = 0; bib < 60; ++bib) {
        all.push_back({"race" + std::to_string(bib % 7), bib, "club" + std::to_string(bib % 4), 20 + bib});
    }
    return all;
}

} // namespace

TEST_CASE("shards: a sequence draws each number once") {
    sharding::world const all;
    sequence const one{all.open(virtual_shards{5}), "tickets"};
    sequence const other{all.open(virtual_shards{5}), "tickets"};
    for (std::int64_t number = 1; number < 20; number += 2) {
        CHECK(one.next().value().value == number);
        CHECK(other.next().value().value == number + 1);
    }
}

TEST_CASE("shards: an index in another partition is in another shard") {
    sharding::world const all;
    sharded const cloud = all.open(virtual_shards{6});
    indexed_table<runner, elsewhere<by_club>> const runners{cloud, "runners", in_table<by_club>{cloud, "clubs"}};
    runners.create().value();
    for (runner const& each : field_of_runners()) {
        runners.insert(each).value();
    }
    CHECK(runners.by<by_club>().where(c::club == "club2").to().value().size() == 15);
    auto const seen = runners.verify().value();
    CHECK(seen.entities == 60);
    CHECK(seen.missing + seen.dangling + seen.different == 0);
}

TEST_CASE("shards: batches and transactions of a partition, and a bulk load over all") {
    sharding::world const all;
    sharded const cloud = all.open(virtual_shards{6});
    table<runner> const runners{cloud, "runners"};
    runners.create().value();
    std::vector<runner> const given = field_of_runners();
    auto const loaded = bulk_insert(runners, given).value();
    CHECK(loaded.written == given.size());
    CHECK(runners.scan_table().count().value() == given.size());
    auto const done = runners.transact("race3", [](transaction<runner>& here) -> result<void> {
        auto const first = here.get(3);
        if (!first) {
            return failure{first.error()};
        }
        here.insert({"race3", 1003, first->club, first->age});
        return here.update(10, [](runner& each) { each.age = 99; })
            ? result<void>{}
            : result<void>{failure{error_code::invalid_input, ""}};
    });
    REQUIRE(done);
    CHECK(runners.get("race3", 10).value().age == 99);
    CHECK(runners.get("race3", 1003).value().age == 23);
}
