// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// One table in one memory store is the oracle for one table over shards: random requests, page sizes and strategies; moves of both kinds, splits
// and merges between pages and between a request and its answer; stores that fail. ENTITABLE_MODEL_SEED=seed runs only that one.

#include <shards/shards.hpp>
#include <support/around.hpp>
#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/maps.hpp>
#include <support/two_stores.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Shards with faults in front of each store, and another client that moves them.
class subject {
public:
    explicit subject(std::uint64_t seed, std::size_t page_examined) : random_(seed) {
        small_.page_examined = page_examined;
        auto const stores = std::make_shared<std::map<std::string, any_store>>();
        auto const below = [this, stores](std::string_view name) {
            auto const at = stores->find(std::string{name});
            return at != stores->end()
                ? at->second
                : stores->emplace(std::string{name}, any_store{memory_backend{small_}}).first->second;
        };
        sharded_options narrow;
        narrow.in_flight = 1 + random_.below(4);
        cloud_.emplace(
            map(seed),
            [this, below](std::string_view name) -> result<any_store> {
                auto const at = faults_.find(name);
                if (at != faults_.end()) { return any_store{at->second}; }
                testing::faulty<any_store> const made{
                    any_store{around{below(name), {}, [meanwhile = meanwhile_](std::string_view, bool writes) {
                                         if (!writes && *meanwhile) { (*meanwhile)(); }
                                     }}}};
                faults_.emplace(std::string{name}, made);
                return any_store{made};
            },
            narrow);
        mover_.emplace(map(seed), [below](std::string_view name) -> result<any_store> { return below(name); });
    }

    [[nodiscard]] sharded const& cloud() const { return *cloud_; }
    [[nodiscard]] std::size_t moves() const { return moves_; }
    [[nodiscard]] std::int32_t shard_of(std::string_view partition) const {
        return static_cast<std::int32_t>(*shards_.shard_of(partition));
    }

    /// Moves any shard to another store; or splits a range, or merges it with the next one.
    void move() {
        auto const known = mover_->map().state().fresh({}).value();
        std::size_t const at = random_.below(known->places.size());
        std::int32_t const shard = known->places[at].row.shard;
        std::string const target = "store" + std::to_string(random_.below(4));
        move_options options;
        options.time = &time_;
        options.off_line = random_.once_in(2);
        if (known->by_ranges && random_.once_in(3)) {
            moves_ += split_shard(*mover_, shard, random_.partition()) ? 1U : 0U; // or the key is in another one
            return;
        }
        auto plan = known->by_ranges && at + 1 < known->places.size() && random_.once_in(2)
            ? plan_merge(*mover_, shard, known->places[at + 1].row.shard, target, options)
            : plan_move(*mover_, shard, target, options);
        if (plan) {
            plan->run().value();
            ++moves_;
        }
    }
    /// From now on a read may be overtaken by a move before its answer.
    void move_meanwhile(bool wanted) {
        *meanwhile_ = {};
        if (wanted) {
            *meanwhile_ = [this] {
                if (random_.once_in(4)) { move(); }
            };
        }
    }
    void pass_time() { time_.advance(std::chrono::seconds{random_.below(20)}); }
    /// Some of the next requests to one store or to all fail, or the first ones to all.
    void fail_some(std::size_t requests) {
        if (random_.once_in(8)) {
            for (auto const& [name, store] : faults_) {
                for (std::size_t number = 1; number <= 9; ++number) {
                    store.plan({testing::fault::refused(), number, "query_entities"});
                }
            }
            return;
        }
        std::size_t const only = random_.below(faults_.size());
        bool const every = random_.once_in(3);
        std::size_t at = 0;
        for (auto const& [name, store] : faults_) {
            std::set<std::size_t> numbers;
            for (std::size_t count = every || at++ == only ? 4 : 0; count > 0; --count) {
                numbers.insert(1 + random_.below(requests));
            }
            for (std::size_t const number : numbers) {
                store.plan({random_.once_in(2) ? testing::fault::refused() : testing::fault::busy(), number,
                    "query_entities"});
            }
        }
    }
    /// Counts the reads that are answered from now on.
    [[nodiscard]] std::shared_ptr<std::size_t> count_answers() {
        auto const count = std::make_shared<std::size_t>();
        *meanwhile_ = [count] { ++*count; };
        return count;
    }
    /// Cancels every planned fault that has not happened.
    void forget_faults() {
        for (auto const& [name, store] : faults_) {
            call context;
            while (!store.all_fired()) { (void)store.execute(query_entities{"None", {}, {}, {}, 1, {}}, context); }
        }
    }

private:
    [[nodiscard]] lookup_map map(std::uint64_t seed) {
        switch (seed % 4) {
            case 0: shards_ = virtual_shards::ranges({"O", "a", "\xEF\xBD\x9E"}); break;
            case 1: shards_ = virtual_shards::by_first_component(5); break;
            case 2: shards_ = virtual_shards{1 + static_cast<std::uint32_t>(seed % 3)}.with_own({"a", "O'Hara"}); break;
            default: shards_ = virtual_shards{static_cast<std::uint32_t>(1 + seed % 9)}; break;
        }
        return entitable_test::map_without_identity(
            catalogue_, "shardmap", shards_, {"store0", "store1", "store2"}, {std::chrono::seconds{60}, &time_});
    }

    draws random_;
    local_options small_;
    testing::manual_clock time_;
    memory_backend catalogue_;
    virtual_shards shards_{1};
    std::shared_ptr<std::function<void()>> meanwhile_ = std::make_shared<std::function<void()>>();
    std::map<std::string, testing::faulty<any_store>, std::less<>> faults_;
    std::optional<sharded> cloud_;
    std::optional<sharded> mover_;
    std::size_t moves_{};
};

/// After a move earlier ETags are refused: the oracle forgets them, too.
void read_versions_again(side& alone, side& over) {
    alone.old.clear();
    over.old.clear();
    for (std::string const table : {"Orders", "Other"}) {
        for (side* const on : {&alone, &over}) {
            query_entities everything{table, {}, {}, {}, 1000, {}};
            do {
                auto page = on->send(everything).value();
                for (std::size_t index = 0; index < page.rows.size(); ++index) {
                    on->versions.insert_or_assign(place_of(table, page.rows[index]), page.rows[index].etag());
                }
                everything.continuation = std::move(page.continuation);
            } while (everything.continuation);
        }
    }
}

std::uint64_t first_seed() {
    char const* const chosen = std::getenv("ENTITABLE_MODEL_SEED");
    return chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
}
std::uint64_t last_seed(std::size_t usual, std::size_t patient) {
    return std::getenv("ENTITABLE_MODEL_SEED") != nullptr ? first_seed() : rounds(usual, patient, usual * 2);
}

/// Fills the same number of partitions on both sides.
void fill(draws& random, std::string const& table, side& alone, side& over) {
    for (std::size_t count = 60; count > 0; --count) {
        std::string const in = random.partition() + std::to_string(random.below(12));
        auto const given = random.entity(in, random.key());
        auto const one = alone.send(write_entity{table, mutation::insert(given)});
        auto const other = over.send(write_entity{table, mutation::insert(given)});
        REQUIRE(said(one) == said(other));
    }
}

} // namespace

TEST_CASE("model: one store and shards have the same outcomes, with moves in between") {
    std::size_t accepted = 0;
    std::size_t refused = 0;
    std::size_t moves = 0;
    for (std::uint64_t seed = first_seed(); seed <= last_seed(6, 100); ++seed) {
        draws random{seed};
        subject shards{seed, seed % 2 == 0 ? 3U : 10'000U};
        side alone{memory_backend{}, {}, {}};
        side over{shards.cloud(), {}, {}};
        for (std::string const table : {"Orders", "Other", "Extra"}) {
            for (side* const each : {&alone, &over}) { REQUIRE(each->send(create_table{table})); }
        }
        for (std::size_t at = 0; at < 200; ++at) {
            if (random.once_in(12)) {
                shards.move();
                read_versions_again(alone, over);
            }
            shards.pass_time();
            auto const [what, one, other] = one_step(random, alone, over);
            (one == "success" || one.starts_with('(') || one.empty() ? accepted : refused) += 1;
            // An ETag of another row may be from another epoch: it is refused before the store sees other errors.
            bool const early =
                shards.moves() > 0 && one != "success" && other.starts_with("UpdateConditionNotSatisfied");
            if (one != other && !early) {
                FAIL("ENTITABLE_MODEL_SEED=" << seed << " step " << at << ", " << what << "\nalone: " << one
                                             << "\nshards: " << other);
            }
        }
        moves += shards.moves();
    }
    CHECK(accepted > refused);
    CHECK(refused > 0);
    CHECK(moves > 0);
}

TEST_CASE("model: queries over shards, with moves between pages and during requests") {
    std::size_t moves = 0;
    for (std::uint64_t seed = first_seed(); seed <= last_seed(12, 150); ++seed) {
        CAPTURE(seed);
        draws random{seed};
        subject shards{seed, seed % 3 == 0 ? 2U : 10'000U};
        side alone{memory_backend{}, {}, {}};
        side over{shards.cloud(), {}, {}};
        for (side* const each : {&alone, &over}) { REQUIRE(each->send(create_table{"Orders"})); }
        fill(random, "Orders", alone, over);
        for (std::size_t round = 0; round < 12; ++round) {
            auto request = random.query("Orders");
            request.page_size = static_cast<std::uint32_t>(1 + random.below(30));
            if (random.once_in(2)) { request.range.partition = {}; }
            std::string const expected = rows_of(alone, request);
            shards.move_meanwhile(random.once_in(2));
            std::string found;
            for (std::size_t pages = 0; pages < 1000; ++pages) {
                auto page = over.send(request).value();
                CHECK(page.rows.size() <= request.page_size);
                CHECK((!page.continuation || 2 * page.rows.size() + 1 >= request.page_size ||
                    request.range.partition.is_point()));
                for (std::size_t index = 0; index < page.rows.size(); ++index) {
                    found += system_row::is_one(page.rows[index].row_key) ? std::string{} : shown(page.rows[index]);
                }
                request.continuation = std::move(page.continuation);
                if (!request.continuation) { break; }
                if (random.once_in(3)) { shards.move(); }
            }
            shards.move_meanwhile(false);
            CHECK(found == expected);
        }
        moves += shards.moves();
    }
    CHECK(moves > 0);
}

namespace {

/// All rows of a query, one text each; with an error the rows before it are lost.
result<std::vector<row>> rows_there(any_store const& there, query_entities asked) {
    std::vector<row> all;
    do {
        call context;
        auto page = there.execute(asked, context);
        if (!page) { return failure{page.error()}; }
        for (std::size_t index = 0; index < page->rows.size(); ++index) {
            row_view const each = page->rows[index];
            all.emplace_back(each.partition_key, each.row_key, each.payload, std::string_view{});
        }
        asked.continuation = std::move(page->continuation);
    } while (asked.continuation);
    return all;
}

/// The required rows of a partial answer: `whole` except those of that table that it reports as missing.
std::string without(std::vector<row> const& whole, std::vector<missing_shard> const& missing, std::string const& table,
    subject const& shards) {
    std::string text;
    for (row const& each : whole) {
        bool const lacks = std::any_of(missing.begin(), missing.end(), [&](missing_shard const& gone) {
            int const order = gone.after ? text::compare_utf16(each.partition_key(), gone.after->first) : 1;
            return gone.table == table && gone.shard == shards.shard_of(each.partition_key()) &&
                (order > 0 || (order == 0 && text::compare_utf16(each.row_key(), gone.after->second) > 0));
        });
        text += lacks ? std::string{} : shown(each);
    }
    return text;
}

} // namespace

TEST_CASE("model: a partial answer contains every row except the rows of the shards it reports as missing") {
    std::size_t incomplete = 0;
    std::size_t behind = 0;
    std::size_t failed = 0;
    for (std::uint64_t seed = first_seed(); seed <= last_seed(15, 200); ++seed) {
        CAPTURE(seed);
        draws random{seed};
        subject shards{seed, seed % 3 == 0 ? 2U : 10'000U};
        side alone{memory_backend{}, {}, {}};
        side over{shards.cloud(), {}, {}};
        for (side* const each : {&alone, &over}) {
            for (std::string const table : {"Orders", "Other"}) { REQUIRE(each->send(create_table{table})); }
        }
        fill(random, "Orders", alone, over);
        fill(random, "Other", alone, over);
        for (std::size_t round = 0; round < 12; ++round) {
            CAPTURE(round);
            query_entities first{"Orders", {}, {}, {}, static_cast<std::uint32_t>(1 + random.below(30)), {}};
            std::vector<query_entities> asked{first};
            if (random.once_in(2)) {
                asked.push_back(first);
                asked.back().table = random.once_in(2) ? "Orders" : "Other";
            }
            bool const same_twice = asked.size() == 2 && asked.back().table == "Orders";
            shards.fail_some(random.once_in(2) ? 6 : 40);
            auto const answers = shards.count_answers();
            auto const some =
                partial(shards.cloud(), [&](any_store const& there) -> result<std::vector<std::vector<row>>> {
                    std::vector<std::vector<row>> came;
                    for (query_entities const& each : asked) {
                        auto rows = rows_there(there, each);
                        if (!rows) { return failure{rows.error()}; }
                        came.push_back(*std::move(rows));
                    }
                    return came;
                });
            std::size_t const answered = *answers;
            shards.forget_faults();
            if (!some) {
                ++failed;
                CHECK((answered == 0 || asked.size() > 1 || seed % 3 == 0)); // otherwise it would have been partial
                continue;
            }
            incomplete += some->good() ? 0U : 1U;
            for (missing_shard const& each : some->missing()) {
                behind += each.after ? 1U : 0U;
                CHECK(each.error.message.find(each.store) != std::string::npos);
            }
            for (std::size_t which = 0; which < asked.size(); ++which) {
                std::string found;
                for (row const& each : some->value()[which]) { found += shown(each); }
                auto const whole = rows_there(alone.store, asked[which]).value();
                std::string const expected = without(whole, some->missing(), asked[which].table, shards);
                if (same_twice) { // an entry is for both: one of them may have more
                    CHECK(found.size() >= expected.size());
                } else {
                    CHECK(found == expected);
                }
            }
        }
    }
    CHECK(incomplete > 0);
    CHECK(behind > 0);
    CHECK(failed > 0);
}
