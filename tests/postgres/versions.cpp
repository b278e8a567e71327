// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Versions never come back: not over a removal, a dropped table, a clock that is set back, or a restart. A write that begins after another
// one has returned gets the greater version, whatever the clocks of their programs.

#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/postgres_server.hpp>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

struct mark {
    std::string place;
    std::int32_t number{};
    std::int64_t value{};
};
ENTITABLE(mark, partition_key(place), row_key(number), properties(value))

/// The system's clock, with its date set back.
class late_clock final : public entitable::clock {
public:
    explicit late_clock(std::int64_t by) : by_(by) {}
    date_time now() noexcept override { return {system_clock().now().ticks - by_}; }
    steady_time steady() noexcept override { return system_clock().steady(); }
    void wait_until(steady_time time) noexcept override { system_clock().wait_until(time); }

private:
    std::int64_t by_;
};
constexpr std::int64_t hour = 3600LL * 10'000'000;

} // namespace

TEST_CASE("postgres: a version is never repeated after removals, dropped tables, clock changes and restarts") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto const ahead = postgres_backend::connect(postgres_server(), options).value();
    late_clock behind{hour};
    auto late_options = options;
    late_options.local.time = &behind;
    auto const late = postgres_backend::connect(postgres_server(), late_options).value();
    table<mark> const first{ahead, "marks"};
    table<mark> const second{late, "marks"};
    first.create().value();
    std::int64_t last = 0;
    auto const rises = [&](result<written> const& done) {
        std::int64_t const now = done.value().etag.timestamp().ticks;
        CHECK(now > last);
        last = now;
    };
    auto const before = system_clock().now().ticks;
    rises(first.insert({"p", 1, 1}));
    CHECK(last >= before - 20'000); // the Timestamp is the clock's, to a millisecond
    CHECK(last <= system_clock().now().ticks + 20'000);
    first.remove("p", 1, any_etag).value();
    rises(second.insert({"p", 1, 2}));
    rises(second.replace({"p", 1, 3}, any_etag));
    rises(second.insert_or_replace({"p", 1, 4}));
    rises(second.merge({"p", 1, 5}, any_etag));
    second.remove("p", 1, any_etag).value();
    rises(second.insert_or_replace({"p", 1, 5}));
    {
        auto batch = second.batch();
        batch.remove(at("p", 1), any_etag);
        batch.submit().value();
    }
    {
        auto batch = second.batch();
        batch.insert({"p", 1, 6}).insert({"p", 2, 6});
        for (written const& each : batch.submit().value()) { CHECK(each.etag.timestamp().ticks > last); }
    }
    last = second.get_stored("p", 1).value().etag.timestamp().ticks;
    second.drop().value();
    second.create().value();
    rises(second.insert({"p", 1, 7}));
    if (std::getenv("ENTITABLE_POSTGRES_CONTROL") != nullptr) {
        REQUIRE(control_postgres("kill"));
        REQUIRE(control_postgres("start"));
        REQUIRE(second.remove("p", 1, any_etag));
        rises(second.insert({"p", 1, 8}));
    }
}

TEST_CASE(
    "postgres: versions of programs with different clocks increase, while keys are inserted, changed and removed") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    late_clock clocks[] = {late_clock{0}, late_clock{hour}, late_clock{2 * hour}, late_clock{-1'000'000}};
    std::vector<postgres_backend> stores;
    for (late_clock& each : clocks) {
        auto own = options;
        own.local.time = &each;
        stores.push_back(postgres_backend::connect(postgres_server(), own).value());
    }
    table<mark>{stores[0], "marks"}.create().value();
    std::atomic<std::int64_t> greatest{0};
    std::atomic<std::size_t> wrong{0};
    std::atomic<std::size_t> written_rows{0};
    std::vector<std::thread> running;
    for (std::size_t thread = 0; thread < 8; ++thread) {
        running.emplace_back([&, thread] {
            table<mark> const marks{stores[thread % 4], "marks"};
            std::mt19937_64 random{thread};
            for (std::size_t turn = 0; turn < rounds(150, 3000); ++turn) {
                auto const number = static_cast<std::int32_t>(random() % 2);
                std::int64_t const before = greatest;
                auto const done = [&]() -> result<written> {
                    switch (random() % 6) {
                        case 0: return marks.remove("p", number, any_etag);
                        case 1: return marks.replace({"p", number, 1}, any_etag);
                        case 2: return marks.insert_or_replace({"p", number, 2});
                        case 3: {
                            auto batch = marks.batch();
                            if (random() % 2 == 0) {
                                batch.insert_or_replace({"p", number, 3});
                            } else {
                                batch.remove(at("p", number), any_etag);
                            }
                            auto all = batch.submit();
                            return all ? result<written>{all->front()} : std::move(all).as_failure();
                        }
                        default: return marks.insert({"p", number, 4});
                    }
                }();
                if (!done || done->etag.empty()) { continue; }
                std::int64_t const version = done->etag.timestamp().ticks;
                ++written_rows;
                wrong += version <= before ? 1U : 0U;
                for (std::int64_t known = greatest;
                    known < version && !greatest.compare_exchange_weak(known, version);) {}
            }
        });
    }
    for (std::thread& each : running) { each.join(); }
    CHECK(wrong == 0);
    CHECK(written_rows > 100);
}
