// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A hundred clients, and a service that is unavailable for a minute of virtual time.

#include <entitable/core/decorators/detail/retry_operation.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>

#include <memory>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t clients = 100;
constexpr std::size_t seconds = 150;
constexpr std::size_t down_from = 20;
constexpr std::size_t down_until = 80;

struct client {
    client(retry_policy const& policy, std::uint32_t quota, std::uint64_t seed) : ledger(policy, quota, seed) {}
    detail::retry_ledger ledger;
    get_entity request{"Orders", "p", "r", {}};
    std::unique_ptr<detail::retry_operation<get_entity>> work;
    bool first{};
    steady_time calls_at{};
};

struct storm {
    std::vector<std::size_t> calls = std::vector<std::size_t>(seconds);    ///< first attempts, by second
    std::vector<std::size_t> requests = std::vector<std::size_t>(seconds); ///< all attempts
    std::vector<std::size_t> good = std::vector<std::size_t>(seconds);     ///< successes
};

/// Each client calls once a second unless its last call is still waiting.
storm simulate(retry_policy const& policy, std::uint32_t quota) {
    testing::manual_clock time;
    steady_time const begun = time.steady();
    random_source random{11};
    std::vector<std::unique_ptr<client>> all;
    for (std::size_t index = 0; index < clients; ++index) {
        all.push_back(std::make_unique<client>(policy, quota, index));
        all.back()->calls_at = begun + std::chrono::duration_cast<steady_time::duration>(random.unit() * 1000 * 1ms);
    }
    storm told;
    for (;;) {
        client* next = nullptr;
        steady_time at{};
        for (auto const& each : all) {
            steady_time const due = each->work ? each->work->next().not_before : each->calls_at;
            if (next == nullptr || due < at) {
                next = each.get();
                at = due;
            }
        }
        if (at - begun >= std::chrono::seconds{seconds}) { return told; }
        time.wait_until(at);
        auto const second =
            static_cast<std::size_t>(std::chrono::duration_cast<std::chrono::seconds>(time.steady() - begun).count());
        if (!next->work) {
            ++told.calls[second];
            next->work = std::make_unique<detail::retry_operation<get_entity>>(
                next->request, request_kind::read, next->ledger, no_deadline);
        }
        ++told.requests[second];
        if (second >= down_from && second < down_until) {
            next->work->answer(failure{error_code::server_busy, "down"}, time.steady());
        } else {
            next->work->answer(get_entity::response{}, time.steady());
            ++told.good[second];
        }
        if (next->work->next().done()) {
            (void)next->work->finish();
            next->work.reset();
            while (next->calls_at <= time.steady()) { next->calls_at += 1s; }
        }
    }
}

std::size_t sum(std::vector<std::size_t> const& of, std::size_t from, std::size_t until) {
    std::size_t all = 0;
    for (std::size_t second = from; second < until; ++second) { all += of[second]; }
    return all;
}

} // namespace

TEST_CASE(
    "storm: once the quota is spent, repetitions add at most a tenth to the load, and the service recovers soon") {
    auto const with = simulate(retry_policy::interactive(), 20);
    std::size_t const normal = sum(with.good, 0, down_from) / down_from;
    CHECK(normal == clients);
    // The quota of 20 is spent within 20 seconds.
    std::size_t const calls = sum(with.calls, down_from + 20, down_until);
    std::size_t const requests = sum(with.requests, down_from + 20, down_until);
    INFO("calls " << calls << ", requests " << requests);
    CHECK(calls > 30 * clients);
    CHECK(requests * 10 <= calls * 11);
    // 95 of 100 within 10 seconds.
    for (std::size_t second = down_until + 10; second < seconds; ++second) {
        CHECK(with.good[second] * 100 >= normal * 95);
    }
}

TEST_CASE("storm: without a quota repetitions increase the load") {
    auto const without = simulate(retry_policy::interactive(), 0);
    std::size_t const calls = sum(without.calls, down_from + 20, down_until);
    std::size_t const requests = sum(without.requests, down_from + 20, down_until);
    CHECK(requests > calls * 3);
}
