// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The deletion of a channel in a file: a worker is killed before and after each of its requests, and another process continues. Then workers,
// posters, readers and users who create the channel again run in processes that are killed now and then.

#include <entitable/file.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/deadly.hpp>
#include <support/long.hpp>
#include <support/microblog.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <optional>
#include <thread>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

file_backend open(std::string const& path, entitable::clock& time) {
    file_options options;
    options.local.time = &time;
    options.durability = durability::relaxed; // the commits of a killed process are there
    return file_backend{path, options};
}
table_queue<deletion> queue_on(any_store through, entitable::clock& time) {
    queue_options how;
    how.lanes = 1;
    how.time = &time;
    how.max_deliveries = 10'000;
    return table_queue<deletion>{std::move(through), "deletions", how};
}
/// A channel with a post, and its deletion in the queue.
void begin(any_store const& store, entitable::clock& time) {
    microblog const blog{store, {}};
    blog.channels.create().value();
    blog.posts.create().value();
    queue_on(store, time).create().value();
    blog.create("cats", "old").value();
    blog.write("cats", "1").value();
    queue_on(store, time).enqueue({"cats", "old"}, {.id = "x"}).value();
}
bool work(any_store const& store, entitable::clock& time, std::chrono::nanoseconds wait = {}) {
    auto item = queue_on(store, time).claim({.wait = wait});
    if (item && *item && remove_channel(microblog{store, {}}).resume(**item)) {
        static_cast<void>((*item)->complete());
    }
    return item && *item;
}
/// The problems at the end, after all workers had time to finish.
std::string left_behind(any_store const& store, entitable::clock& time) {
    microblog const blog{store, {}};
    auto const size = queue_on(store, time).approximate_size().value();
    if (size.ready + size.held + size.dead_letters != 0) { return "something is left in the queue"; }
    if (blog.posts.where(fields<post>::channel_id == "old" && fields<post>::number >= "").count().value() != 0) {
        return "an orphan";
    }
    if (blog.heads.find("old").value()) { return "the head is there"; }
    auto const at = blog.channels.find("cats").value();
    return at && (at->id == "old" || at->deleted) ? "the channel is there" : "";
}

} // namespace

TEST_CASE("saga: a process is killed before and after each request, and another worker continues") {
    temporary_folder const folder{temporary_folder::memory()};
    int file = 0;
    auto const after_kill = [&](std::size_t number, bool behind) -> std::string {
        testing::manual_clock time;
        std::string const path = folder / ("saga" + std::to_string(++file) + ".db");
        begin(open(path, time), time);
        child_process first{[&] {
            std::size_t seen = 0;
            return work(deadly{open(path, time), &seen, number, behind}, time);
        }};
        bool const whole = first.succeeds();
        auto const store = open(path, time);
        microblog const blog{store, {}};
        auto const read = blog.read("cats", "old"); // with the post, or not at all
        bool const partial = read && *read == 0;
        static_cast<void>(blog.write("cats", "2"));
        static_cast<void>(blog.write_to("old", "3")); // by a program that has read before
        time.advance(1min);
        static_cast<void>(work(store, time));
        bool const again = blog.create("cats", "new").has_value() && blog.write("cats", "4").has_value();
        auto const problem = left_behind(store, time);
        return whole ? "ended" : partial ? "a marked channel was read" : again ? problem : "the name is not free";
    };
    std::size_t number = 1;
    for (;; ++number) {
        CAPTURE(number);
        auto const before = after_kill(number, false);
        if (before == "ended") {
            break; // the worker makes fewer requests
        }
        CHECK(before == "");
        CHECK(after_kill(number, true) == "");
    }
    CHECK(number > 12); // it was killed at that number of requests
}

namespace {

struct seen_by_all {
    std::atomic<bool> over;
    std::atomic<int> posted;  ///< acknowledged in a new channel
    std::atomic<int> created; ///< new channels
    std::atomic<int> partial; ///< reads of only a part
};

/// A hundred times as fast as the system clock.
struct fast_clock final : entitable::clock {
    date_time now() noexcept override {
        std::int64_t const begun = date_time::from_date(2026, 1, 1).ticks;
        return {begun + (date_time::now().ticks - begun) * 100};
    }
    steady_time steady() noexcept override {
        return steady_time{std::chrono::steady_clock::now().time_since_epoch() * 100};
    }
    void wait_until(steady_time time) noexcept override {
        std::this_thread::sleep_until(std::chrono::steady_clock::time_point{time.time_since_epoch() / 100});
    }
};

} // namespace

TEST_CASE("saga: workers, posters, readers and user programs run in processes that are killed at random times") {
    std::size_t const rounds = entitable_test::rounds(1, 40, 3);
    for (std::size_t round = 0; round < rounds; ++round) {
        temporary_folder const folder{temporary_folder::memory()};
        std::string const path = folder / "saga.db";
        shared_memory<seen_by_all> const all;
        {
            fast_clock time;
            begin(open(path, time), time);
        }
        auto const loop = [&](auto const& once) {
            return [&, once] {
                fast_clock time;
                auto const store = open(path, time);
                for (int turn = 0; !all->over; ++turn) { once(microblog{store, {}}, time, turn); }
                return true;
            };
        };
        auto const works = loop([&](microblog const& blog, entitable::clock& time, int) {
            static_cast<void>(work(blog.store, time, 10s));
        });
        auto const posts = loop([&](microblog const& blog, entitable::clock&, int turn) {
            static_cast<void>(blog.write("cats", std::to_string(::getpid()) + "-" + std::to_string(turn)));
            static_cast<void>(blog.write_to("old", std::to_string(::getpid()) + "-" + std::to_string(turn)));
            std::this_thread::sleep_for(1ms);
        });
        auto const reads = loop([&](microblog const& blog, entitable::clock&, int) {
            auto const seen = blog.read("cats", "old");
            all->partial += seen && *seen == 0 ? 1 : 0;
            std::this_thread::sleep_for(1ms);
        });
        auto const creates = loop([&](microblog const& blog, entitable::clock&, int) {
            auto const at = blog.channels.find("cats");
            if (at && !*at && blog.create("cats", "new")) { ++all->created; }
            if (all->created > 0 && blog.write("cats", "kept")) { ++all->posted; }
            std::this_thread::sleep_for(1ms);
        });
        std::optional<child_process> workers[2];
        child_process poster{posts};
        child_process reader{reads};
        child_process user{creates};
        for (int kill = 0; kill < 10; ++kill) {
            auto& one = workers[kill % 2];
            one.reset(); // killed
            one.emplace(works);
            std::this_thread::sleep_for(std::chrono::milliseconds{5 + kill});
        }
        auto const end = std::chrono::steady_clock::now() + 30s;
        while ((all->created == 0 || all->posted == 0) && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(5ms);
        }
        std::this_thread::sleep_for(50ms); // for late requests
        all->over = true;
        CAPTURE(round);
        for (auto& each : workers) { CHECK(each->succeeds()); }
        CHECK(poster.succeeds());
        CHECK(reader.succeeds());
        CHECK(user.succeeds());
        fast_clock time;
        auto const store = open(path, time);
        for (int later = 0; later < 3 && left_behind(store, time) == "something is left in the queue"; ++later) {
            static_cast<void>(work(store, time, 60s));
        }
        CHECK(left_behind(store, time) == "");
        CHECK(all->created == 1);
        CHECK(all->partial == 0);
        CHECK(all->posted == 1); // the others are refused because it exists
        CHECK(microblog{store, {}}.posts.find("new", "kept").value().has_value());
    }
}
