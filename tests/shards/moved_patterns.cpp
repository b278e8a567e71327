// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What stands above tables, over shards that move while it is used: for each request from a program to a store, all shards move when the
// request is on its way there, so that it comes too late, or when it was applied, so that its answer does not count.

#include "clubs.hpp"
#include "support/around.hpp"
#include "support/catch.hpp"
#include "support/microblog.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/retrying.hpp>
#include <entitable/sequence.hpp>
#include <entitable/shards.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/maps.hpp>

#include <map>
#include <set>

using namespace entitable;
using namespace entitable_test;
using namespace sharding;

namespace {

/// Stores by one clock, and somebody who moves all shards when one request is sent.
struct moving_stores {
    testing::manual_clock time;
    memory_backend catalogue;
    std::map<std::string, any_store> stores;
    virtual_shards shards{2};
    std::size_t seen{};   ///< requests of the program
    std::size_t number{}; ///< the one with which the shards move; 0 for none
    bool behind{};        ///< it was applied before that

    [[nodiscard]] any_store store(std::string_view name) {
        local_options by_clock;
        by_clock.time = &time;
        return stores.emplace(name, any_store{memory_backend{by_clock}}).first->second;
    }
    [[nodiscard]] sharded open(store_opener const& opener) {
        return entitable_test::cloud_of(
            catalogue, "shardmap", shards, {"alpha", "beta"}, {std::chrono::seconds{2}, &time}, opener);
    }
    /// A store that the program asks.
    [[nodiscard]] any_store watched(std::string_view name) {
        auto const move_if = [this](bool wanted) {
            return [this, wanted](std::string_view, bool) {
                seen += wanted ? 0U : 1U;
                if (seen == number && behind == wanted) { move_all(); }
            };
        };
        return any_store{around{store(name), move_if(false), move_if(true)}};
    }
    void move_all() {
        sharded const mover = open([this](std::string_view name) -> result<any_store> { return store(name); });
        move_options options;
        options.time = &time;
        for (std::int32_t shard = 0; shard < 2; ++shard) {
            plan_move(mover, shard, "gamma", options).value().run().value();
        }
    }
};

/// What a program makes beforehand, what it does, and what is wrong then.
struct program_over_shards {
    std::function<void(any_store const&, entitable::clock&)> prepare;
    std::function<std::string(any_store const&, entitable::clock&)> use;
};

/// Runs the program once for each of its requests, and both ways.
void with_moves(program_over_shards const& program) {
    for (bool const behind : {false, true}) {
        for (std::size_t number = 1;; ++number) {
            CAPTURE(behind, number);
            moving_stores all;
            all.behind = behind;
            retrying_options patience;
            patience.operation_rows = true;
            patience.policy = retry_policy::fixed(8, std::chrono::milliseconds{10});
            patience.quota = 0;
            patience.time = &all.time;
            patience.seed = number;
            any_store const cloud{retrying{
                any_store{all.open([&](std::string_view name) -> result<any_store> { return all.watched(name); })},
                patience}};
            program.prepare(cloud, all.time);
            all.number = all.seen + number;
            std::string const problem = program.use(cloud, all.time);
            CHECK(problem == "");
            if (all.seen < all.number) {
                CHECK(number > 5);
                break; // the program has no more requests
            }
        }
    }
}

template <class Done>
std::string told(Done const& done) {
    return done ? std::string{} : done.error().to_string();
}

} // namespace

TEST_CASE("shards: a sequence that moves while numbers are drawn issues each number once") {
    with_moves({[](auto const& cloud, auto&) { (void)sequence{cloud, "tickets"}.next().value(); },
        [](auto const& cloud, auto&) {
            sequence const tickets{cloud, "tickets"};
            std::int64_t last = 1;
            for (int time = 0; time < 4; ++time) {
                auto const drawn = tickets.next();
                if (!drawn || drawn->value <= last) {
                    return "drew " + (drawn ? std::to_string(drawn->value) : told(drawn));
                }
                last = drawn->value;
            }
            return last == 5 ? std::string{} : "numbers were left out";
        }});
}

TEST_CASE("shards: indexes move while entities change") {
    using indexed = table<runner, elsewhere<by_club>>;
    auto const open = [](any_store const& cloud) {
        return indexed{cloud, "runners", in_table<by_club>{cloud, "clubs"}};
    };
    with_moves({[&](auto const& cloud, auto&) {
                    open(cloud).create().value();
                    open(cloud).insert({"spring", 1, "red", 30}).value();
                },
        [&](auto const& cloud, auto&) {
            indexed const runners = open(cloud);
            std::string wrong = told(runners.insert({"autumn", 2, "red", 20}));
            wrong += told(runners.update("spring", 1, [](runner& each) { each.club = "blue", ++each.age; }));
            wrong += told(runners.insert({"spring", 3, "blue", 25}));
            wrong += told(runners.remove("autumn", 2, any_etag));
            auto const red = runners.template by<by_club>().where(fields<by_club>::club == "red").to();
            auto const blue = runners.template by<by_club>().where(fields<by_club>::club == "blue").to();
            if (!red || !blue || red->size() != 0 || blue->size() != 2 || blue->at(0).age != 31) {
                wrong += " the index shows other entities than there are";
            }
            auto const seen = runners.verify();
            return !seen ? told(seen)
                         : wrong + (seen->indexes.entities == 2 && seen->good() ? "" : " an index row is wrong");
        }});
}

TEST_CASE("shards: sums move while entities change") {
    with_moves({[](auto const& cloud, auto&) {
                    table<runner, club_size> const runners{cloud, "runners"};
                    runners.create().value();
                    runners.insert({"spring", 1, "red", 30}).value();
                },
        [](auto const& cloud, auto&) {
            table<runner, club_size> const runners{cloud, "runners"};
            std::string wrong = told(runners.insert({"spring", 2, "red", 20}));
            wrong += told(runners.update("spring", 1, [](runner& each) { each.club = "blue", ++each.age; }));
            wrong += told(runners.insert({"spring", 3, "blue", 25}));
            wrong += told(runners.remove("spring", 2, any_etag));
            auto const sums = runners.where(fields<club_size>::race == "spring").to();
            if (!sums || sums->at(0).club != "blue" || sums->at(0).years != 56 || sums->at(0).runners != 2) {
                wrong += " a sum is wrong";
            }
            auto const seen = runners.template verify<club_size>("spring");
            return wrong + (seen && seen->good() ? "" : " sums are not those of a recomputation");
        }});
}

TEST_CASE("shards: a queue moves while messages are enqueued and processed") {
    auto const open = [](any_store const& cloud, entitable::clock& time) {
        queue_options how;
        how.time = &time;
        how.lanes = 2;
        how.visibility = std::chrono::minutes{2};
        return table_queue<task>{cloud, "tasks", how};
    };
    with_moves({[&](auto const& cloud, auto& time) { open(cloud, time).create().value(); },
        [&](auto const& cloud, auto& time) {
            auto const queue = open(cloud, time);
            std::string wrong;
            for (std::int32_t number = 0; number < 3; ++number) {
                wrong += told(queue.enqueue({"t", number}, {{}, "id" + std::to_string(number)}));
            }
            std::multiset<std::int32_t> done;
            for (int round = 0; round < 12 && done.size() < 3; ++round) {
                auto next = queue.claim();
                if (!next) {
                    wrong += told(next);
                } else if (*next) {
                    done.insert((*next)->message().number);
                    wrong += told((*next)->complete());
                } else {
                    time.wait_until(time.steady() +
                        std::chrono::minutes{1}); // a claim whose answer did not count is held until then
                }
            }
            auto const size = queue.approximate_size();
            wrong += size && size->ready + size->held + size->dead_letters == 0 ? "" : " something is left";
            return wrong + (done == std::multiset<std::int32_t>{0, 1, 2} ? "" : " not each message was delivered once");
        }});
}

TEST_CASE("shards: a saga moves while it runs") {
    auto const queue_of = [](any_store const& cloud, entitable::clock& time) {
        queue_options how;
        how.time = &time;
        how.lanes = 1;
        return table_queue<deletion>{cloud, "deletions", how};
    };
    with_moves({[&](auto const& cloud, auto& time) {
                    microblog const blog{cloud, {}};
                    blog.channels.create().value();
                    blog.posts.create().value();
                    queue_of(cloud, time).create().value();
                    blog.create("cats", "old").value();
                    blog.write("cats", "1").value();
                    queue_of(cloud, time).enqueue({"cats", "old"}, {.id = "x"}).value();
                },
        [&](auto const& cloud, auto& time) {
            microblog const blog{cloud, {}};
            auto const queue = queue_of(cloud, time);
            std::string wrong;
            for (int round = 0; round < 6; ++round) {
                auto item = queue.claim();
                if (item && *item) {
                    auto const ran = remove_channel(blog).resume(**item);
                    bool const again = !ran && ran.error().code == error_code::update_condition_not_satisfied;
                    wrong += ran ? told((*item)->complete()) : again ? std::string{} : told(ran);
                } else {
                    time.wait_until(time.steady() + std::chrono::minutes{1});
                }
            }
            auto const size = queue.approximate_size();
            auto const posts =
                blog.posts.where(fields<post>::channel_id == "old" && fields<post>::number >= "").count();
            auto const head = blog.heads.find("old");
            auto const at = blog.channels.find("cats");
            wrong +=
                size && size->ready + size->held + size->dead_letters == 0 ? "" : " something is left in the queue";
            return wrong + (posts && *posts == 0 && head && !*head && at && !*at ? "" : " something is left");
        }});
}
