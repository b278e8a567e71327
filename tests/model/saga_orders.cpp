// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A channel of a microblog is deleted by a saga, while others post and make the channel again, in every order of all requests, with lost and late
// requests, programs that end at each point and a second worker; and the same with defects, each of which is found.

#include "support/catch.hpp"
#include "support/defects.hpp"
#include "support/long.hpp"
#include "support/microblog.hpp"
#include <entitable/entitable.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/crash_points.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

#include <functional>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

/// What an actor tells at its end.
struct told {
    bool created{}; ///< the channel was made again
    bool posted{};  ///< and a post to it was acknowledged
    std::string problem;
};

struct cast {
    std::string name;
    std::function<told(microblog const&, entitable::clock&)> does;
    through_defect defect{};
};

table_queue<deletion> queue_on(any_store through, entitable::clock& time, std::uint64_t seed) {
    queue_options how;
    how.lanes = 1;
    how.time = &time;
    how.seed = seed;
    how.max_attempts = 4;
    how.max_deliveries = 100;
    how.polling = {.base = 40s, .least = 40s, .most = 40s, .jitter = 0};
    how.delays = {};
    return table_queue<deletion>{std::move(through), "deletions", how};
}
/// Takes one deletion and brings it to its end.
told work(microblog const& blog, entitable::clock& time, std::uint64_t seed, std::chrono::nanoseconds wait) {
    told made;
    auto item = queue_on(blog.store, time, seed).claim({.wait = wait});
    if (item && *item) {
        auto const ended = remove_channel(blog).resume(**item);
        if (ended) {
            static_cast<void>((*item)->complete());
        } else if (ended.error().code == error_code::saga_differs || ended.error().code == error_code::invalid_input) {
            made.problem = ended.error().to_string();
        }
    }
    return made;
}
cast worker(std::string name, std::uint64_t seed, std::chrono::nanoseconds wait = {}) {
    return {std::move(name),
        [seed, wait](microblog const& blog, entitable::clock& time) { return work(blog, time, seed, wait); }};
}
cast poster() {
    return {"poster", [](microblog const& blog, entitable::clock&) {
                static_cast<void>(blog.write("cats", "2"));
                return told{};
            }};
}
/// Reads the channel, which had one post when this began.
cast look_at_store() {
    return {"reader", [](microblog const& blog, entitable::clock&) {
                told made;
                auto const seen = blog.read("cats", "old");
                made.problem = seen && *seen == 0 ? "a marked channel was read" : "";
                return made;
            }};
}
/// Makes the channel again as soon as its name is free, and posts.
cast user() {
    return {"user", [](microblog const& blog, entitable::clock&) {
                told made;
                auto const there = blog.channels.find("cats");
                if (there && !*there) {
                    made.created = blog.create("cats", "new").has_value();
                    made.posted = made.created && blog.write("cats", "3").has_value();
                }
                return made;
            }};
}

/// The deletion, interrupted at each point; others post, and make the channel again when its name is free.
testing::manual_clock manual;
testing::crash_point_report at_each_point(flaws wrong) {
    testing::crash_point_world world;
    world.begin = [wrong](any_store const& store, entitable::clock& time) {
        microblog const blog{store, wrong};
        blog.channels.create().value();
        blog.posts.create().value();
        auto const queue = queue_on(store, time, 97);
        queue.create().value();
        blog.create("cats", "old").value();
        blog.write("cats", "1").value();
        queue.enqueue({"cats", "old"}, {.id = "x"}).value();
    };
    world.meanwhile = [wrong](any_store const& store, entitable::clock&) {
        microblog const blog{store, wrong};
        auto const at = blog.channels.find("cats").value();
        if (!at) { blog.create("cats", "new").value(); }
        static_cast<void>(blog.write("cats", "3"));
        // Somebody who has looked at the channel before it was marked.
        static_cast<void>(wrong.by_name ? result<void>{} : microblog{store, wrong}.write_to("old", "2"));
    };
    world.shows = [wrong](any_store const& store) {
        microblog const blog{store, wrong};
        auto const at = blog.channels.find("cats").value();
        std::string all = at && at->id == "new" && !at->deleted ? "a new channel" : "not the new channel";
        all += blog.posts.find(blog.place_of("cats", "new"), "3").value() ? "" : ", without its post";
        if (!wrong.by_name) {
            all +=
                blog.posts.where(fields<post>::channel_id == "old" && fields<post>::number >= "").count().value() != 0
                ? ", an orphan"
                : "";
            all += blog.heads.find("old").value() ? ", an old head" : "";
        }
        manual.set(date_time::from_date(2026, 2, 1));
        auto const size = queue_on(store, manual, 96).approximate_size().value();
        return size.ready + size.held + size.dead_letters == 0 ? all : all + ", something in the queue";
    };
    return testing::every_crash_point(
        [wrong, turn = std::uint64_t{0}](any_store through, entitable::clock& time) mutable {
            static_cast<void>(work(microblog{std::move(through), wrong}, time, ++turn, {}));
        },
        world);
}

testing::interleaving_report walk(
    std::vector<cast> const& actors, testing::interleaving_limits limits, flaws wrong = {}, std::size_t most = 0) {
    limits.most_states = most != 0 ? most : entitable_test::rounds(120, 300'000, 4'000);
    return testing::interleavings(
        [&](testing::stage& on) {
            microblog const blog{on.store(), wrong};
            blog.channels.create().value();
            blog.posts.create().value();
            auto const queue = queue_on(on.store(), on.time(), 97);
            queue.create().value();
            blog.create("cats", "old").value();
            blog.write("cats", "1").value();
            queue.enqueue({"cats", "old"}, {.id = "x"}).value();
            auto& seen = on.keep<told>();
            for (cast const& each : actors) {
                on.add(
                    each.name,
                    [&on, each, wrong] {
                        auto const runs = [each, wrong](any_store way, entitable::clock& time) {
                            return each.does(microblog{each.defect ? each.defect(way) : way, wrong}, time);
                        };
                        return testing::program<told>{runs, on.time().steady()};
                    },
                    [&seen](told const& done) {
                        seen.created = seen.created || done.created;
                        seen.posted = seen.posted || done.posted;
                        seen.problem += done.problem;
                    });
            }
            on.remember(
                [&seen] { return std::string{seen.created ? "c" : ""} + (seen.posted ? "p" : "") + seen.problem; });
            on.always([blog, &seen]() -> std::string {
                auto const at = blog.channels.find("cats").value();
                if (seen.created && (!at || at->id != "new" || at->deleted)) { return "the new channel is gone"; }
                if (seen.posted && !blog.posts.find(blog.place_of("cats", "new"), "3").value()) {
                    return "a post in the new channel is gone";
                }
                return seen.problem;
            });
            on.at_end([blog, &on, &seen]() -> std::string {
                for (int round = 0; round < 3; ++round) { // whoever arrives later
                    on.time().advance(1min);
                    static_cast<void>(work(blog, on.time(), 90 + static_cast<std::uint64_t>(round), {}));
                }
                auto const size = queue_on(on.store(), on.time(), 96).approximate_size().value();
                if (size.ready + size.held + size.dead_letters != 0) { return "something is left in the queue"; }
                auto const at = blog.channels.find("cats").value();
                if (at && at->id == "old") { return "the channel is there"; }
                if (!blog.wrong.by_name) {
                    if (blog.posts.where(fields<post>::channel_id == "old" && fields<post>::number >= "")
                            .count()
                            .value() != 0) {
                        return "an orphan";
                    }
                    if (blog.heads.find("old").value()) { return "the head is there"; }
                }
                return at && !seen.created && at->deleted ? "a new channel is marked" : "";
            });
        },
        limits);
}

void check(testing::interleaving_report const& seen, bool complete = false) {
    CAPTURE(seen.schedule);
    CAPTURE(seen.states);
    CHECK(seen.problem == "");
    CHECK((seen.complete || (!complete && entitable_test::rounds(0, 1) == 0))); // all of them in the long run
}

testing::interleaving_limits const quiet{.faults = 0, .late = 0};

/// Each advance is an upsert, so that it makes a message of nothing.
through_defect upserts() {
    return with_writes([](std::string const&, mutation one) -> std::optional<mutation> {
        bool const advances = one.kind == mutation_kind::merge && one.entity.view().find("Queue_Step");
        if (advances) { one.kind = mutation_kind::insert_or_merge; }
        return one;
    });
}

} // namespace

TEST_CASE("saga: a channel is deleted while another program posts") {
    check(walk({worker("A", 1), poster()}, quiet, {}, 20'000), true);
}

TEST_CASE("saga: a channel is deleted, and re-created as soon as its name is free") {
    check(walk({worker("A", 1), user()}, quiet, {}, 20'000), true);
    check(walk({worker("A", 1), user(), poster()}, quiet));
}

TEST_CASE("saga: no reader reads from a marked channel") {
    check(walk({worker("A", 1), look_at_store()}, quiet, {}, 20'000), true);
    check(walk({worker("A", 1), look_at_store()}, {.faults = 0, .late = 0, .crashes = 1}));
    check(walk({worker("A", 1), user(), look_at_store()}, quiet));
}

TEST_CASE("saga: a worker stops before or after each request, and another worker continues") {
    // A worker that comes after the end of all schedules is a new worker.
    check(walk({worker("A", 1)}, {.faults = 0, .late = 0, .crashes = 1}, {}, 20'000), true);
    check(walk({worker("A", 1)}, {.faults = 1, .late = 0}, {}, 20'000), true);
    check(walk({worker("A", 1)}, {.faults = 0, .late = 1}));
    check(walk({worker("A", 1), worker("B", 2, 90s)}, {.faults = 0, .late = 0, .crashes = 1}));
    check(walk({worker("A", 1), poster()}, {.faults = 0, .late = 1}));
    check(walk({worker("A", 1), user()}, {.faults = 0, .late = 1}));
}

TEST_CASE("saga: a saga is completed even if it is interrupted in any way at any of its requests while others post and "
          "re-create the channel") {
    auto const seen = at_each_point({});
    CAPTURE(seen.point);
    CHECK(seen.problem == "");
    CHECK(seen.points > 100);
}

TEST_CASE("saga: planted defects are found") {
    auto const finds = [](std::vector<cast> const& actors, testing::interleaving_limits limits, flaws wrong = {}) {
        return walk(actors, limits, wrong, 20'000).problem;
    };
    cast const slow = worker("A", 1);
    SECTION("the channel has no head") { CHECK(finds({slow, poster()}, quiet, {.without_head = true}) == "an orphan"); }
    SECTION("a channel is removed in one pass") {
        CHECK(finds({slow, poster()}, quiet, {.one_pass = true}) == "an orphan");
    }
    SECTION("a removal accepts any ETag for a reused name") {
        CHECK(at_each_point({.any_version = true}).problem.find("the new channel") != std::string::npos);
    }
    SECTION("posts use the channel's name as their key") {
        CHECK(at_each_point({.by_name = true}).problem.find("without its post") != std::string::npos);
    }
    SECTION("a reader looks for the mark only before it reads") {
        CHECK(finds({slow, look_at_store()}, quiet, {.looks_once = true}) == "a marked channel was read");
    }
    SECTION("the progress row is written without a guard") {
        cast unguarded = slow;
        unguarded.defect = upserts();
        CHECK(finds({unguarded}, {.faults = 0, .late = 1}) == "something is left in the queue");
    }
}
