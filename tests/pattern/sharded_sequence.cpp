// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What a sharded sequence declares in its first row: shards, start and step; rows that have no start and no step; and programs of different
// declarations in every order of their requests.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/sequence.hpp>
#include <entitable/testing.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>

#include <set>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;

namespace {

sequence_options counting(std::int64_t start, std::int64_t step, std::uint64_t seed = 3) {
    sequence_options how;
    how.start = start;
    how.step = step;
    how.seed = seed;
    how.delays = {}; // no waits
    return how;
}

void put(memory_backend const& store, row content) {
    call own;
    static_cast<void>(store.execute(create_table{"identities"}, own));
    store.execute(write_entity{"identities", mutation::insert(std::move(content))}, own).value();
}
/// A row of a program that stored neither start nor step.
row old_row(std::string_view partition, std::int64_t counted, std::int32_t shards) {
    row_builder made{partition, "Orders"};
    made.add("Value", value_view{counted});
    made.add("Shards", value_view{shards});
    return made.build();
}
/// The properties of the row of a shard.
std::string properties_of(memory_backend const& store, std::string const& partition = "identities__000") {
    call own;
    auto const read = store.execute(get_entity{"identities", partition, "Orders", {}}, own);
    if (!read) { return std::string{to_string(read.error().code)}; }
    std::string text;
    property_cursor cursor{read->entity.view().payload};
    property_view each;
    while (cursor.next(each)) {
        text.append(text.empty() ? "" : " ").append(each.name).append("=").append(std::to_string(each.value.bits()));
    }
    return text;
}

} // namespace

TEST_CASE("sharded sequence: two programs with different starts or steps never issue a number twice") {
    for (auto const& [one, two] : {std::pair{counting(1, 1, 5), counting(2, 1, 6)},
             std::pair{counting(1, 1, 7), counting(1, 2, 8)}, std::pair{counting(1, 2, 9), counting(2, 2, 10)}}) {
        memory_backend const store;
        sharded_sequence const first{store, "Orders", 4, one};
        sharded_sequence const second{store, "Orders", 4, two};
        std::set<std::int64_t> seen;
        std::size_t given = 0;
        for (int turn = 0; turn < 100; ++turn) {
            for (sharded_sequence const* each : {&first, &second}) {
                if (auto const number = each->next()) {
                    ++given;
                    seen.insert(number->value);
                }
            }
        }
        CHECK(given == 100);
        CHECK(seen.size() == given);
        CHECK(second.next().error().code == error_code::row_mismatch);
        CHECK(second.total().error().code == error_code::row_mismatch);
        CHECK(first.total().value() == 100);
    }
}

TEST_CASE("sharded sequence: the error for a different start or step contains both values") {
    memory_backend const store;
    sharded_sequence{store, "Orders", 4, counting(100, 5)}.next().value();
    error const start = sharded_sequence{store, "Orders", 4, counting(7, 5)}.next().error();
    CHECK(start.code == error_code::row_mismatch);
    CHECK_THAT(start.message, ContainsSubstring("Start 100") && ContainsSubstring("has 7"));
    error const step = sharded_sequence{store, "Orders", 4, counting(100, 6)}.next().error();
    CHECK(step.code == error_code::row_mismatch);
    CHECK_THAT(step.message, ContainsSubstring("Step 5") && ContainsSubstring("has 6"));
}

TEST_CASE("sharded sequence: the golden rows have not changed") {
    memory_backend const store;
    sharded_sequence const numbers{store, "Orders", 2, counting(100, 5)};
    do {
        static_cast<void>(numbers.next().value());
    } while (properties_of(store, "identities__001") == "ResourceNotFound");
    CHECK_THAT(properties_of(store), ContainsSubstring("Shards=2 Start=100 Step=5"));
    CHECK(properties_of(store, "identities__001") == "Value=1 Shards=2");
}

TEST_CASE("sharded sequence: a first row without start and step stays in use, and adopts the start and step of the "
          "first program that draws a number") {
    memory_backend const store;
    put(store, old_row("identities__000", 3, 2));
    put(store, old_row("identities__001", 4, 2));
    sharded_sequence const numbers{store, "Orders", 2, counting(10, 5)};
    CHECK(numbers.total().value() == 7);
    CHECK(properties_of(store) == "Value=3 Shards=2"); // a total writes nothing
    std::set<std::int64_t> seen;
    for (int turn = 0; turn < 40; ++turn) { seen.insert(numbers.next().value().value); }
    CHECK(seen.size() == 40);
    CHECK(*seen.begin() >= 10 + 3 * 2 * 5); // earlier numbers are not given again
    CHECK(numbers.total().value() == 47);
    CHECK_THAT(properties_of(store), ContainsSubstring("Start=10 Step=5"));
    CHECK(sharded_sequence{store, "Orders", 2, counting(10, 6)}.next().error().code == error_code::row_mismatch);
    CHECK(sharded_sequence{store, "Orders", 2, counting(10, 5, 9)}.next().has_value());
}

TEST_CASE("sharded sequence: the start and step of a row are unchanged if a program with an earlier version counts") {
    memory_backend const store;
    sharded_sequence const numbers{store, "Orders", 2, counting(10, 5)};
    static_cast<void>(numbers.next().value());
    for (int turn = 0; turn < 3; ++turn) { // an earlier program merges the count alone
        call own;
        auto const read = store.execute(get_entity{"identities", "identities__000", "Orders", {}}, own).value();
        row_builder made{"identities__000", "Orders"};
        made.add("Value", value_view{read.entity.view().find("Value")->as_int64() + 1});
        store.execute(write_entity{"identities", mutation::merge(made.build(), read.etag)}, own).value();
    }
    CHECK_THAT(properties_of(store), ContainsSubstring("Start=10 Step=5"));
    CHECK(sharded_sequence{store, "Orders", 2, counting(11, 5)}.next().error().code == error_code::row_mismatch);
    CHECK(numbers.next().has_value());
}

TEST_CASE("sharded sequence: a start or step that is not an Int64 is refused") {
    memory_backend const store;
    row_builder made{"identities__000", "Orders"};
    made.add("Value", value_view{std::int64_t{0}});
    made.add("Shards", value_view{2});
    made.add("Step", value_view{"5"});
    put(store, made.build());
    error const refused = sharded_sequence{store, "Orders", 2, counting(10, 5)}.next().error();
    CHECK(refused.code == error_code::row_mismatch);
    CHECK_THAT(refused.message, ContainsSubstring("Step"));
}

// ---- every order -------------------------------------------------------------------------------------

namespace {

struct drawn {
    std::vector<std::int64_t> numbers;
};

testing::interleaving_report two_declarations(bool over_an_old_row, testing::interleaving_limits limits) {
    limits.most_states = entitable_test::rounds(2'000, 400'000, 40'000);
    return testing::interleavings(
        [=](testing::stage& on) {
            if (over_an_old_row) {
                put(on.store(), old_row("identities__000", 2, 2));
                put(on.store(), old_row("identities__001", 2, 2));
            } else {
                call own;
                on.store().execute(create_table{"identities"}, own).value();
            }
            auto& all = on.keep<std::vector<std::vector<std::int64_t>>>(2);
            for (std::size_t index = 0; index < 2; ++index) {
                on.add(
                    index == 0 ? "from 1" : "from 2",
                    [&on, index] {
                        auto const runs = [index](any_store way, entitable::clock& time) {
                            sequence_options how = counting(static_cast<std::int64_t>(index) + 1, 1, index + 11);
                            how.time = &time;
                            how.max_attempts = 4;
                            sharded_sequence const numbers{std::move(way), "Orders", 2, how};
                            drawn made;
                            for (int turn = 0; turn < 2; ++turn) {
                                if (auto const number = numbers.next()) { made.numbers.push_back(number->value); }
                            }
                            return made;
                        };
                        return testing::program<drawn>{runs, on.time().steady()};
                    },
                    [&all, index](drawn const& made) {
                        all[index].insert(all[index].end(), made.numbers.begin(), made.numbers.end());
                    });
            }
            on.remember([&all] {
                std::string text;
                for (auto const& numbers : all) {
                    for (std::int64_t const each : numbers) { text.append(std::to_string(each)).append(" "); }
                    text.append(";");
                }
                return text;
            });
            on.always([&all]() -> std::string {
                return !all[0].empty() && !all[1].empty() ? "programs of both declarations were given numbers" : "";
            });
        },
        limits);
}

} // namespace

TEST_CASE("sharded sequence: two programs with different declarations draw numbers in any order, with lost and late "
          "requests") {
    for (bool const over_an_old_row : {false, true}) {
        for (auto const& limits :
            {testing::interleaving_limits{.faults = 1, .late = 0}, testing::interleaving_limits{.faults = 0, .late = 1},
                testing::interleaving_limits{.faults = 0, .late = 0, .twice = 1, .crashes = 1, .again = 1}}) {
            auto const seen = two_declarations(over_an_old_row, limits);
            CAPTURE(over_an_old_row, seen.schedule);
            CHECK(seen.problem == "");
            CHECK(seen.states > 100);
        }
    }
}
