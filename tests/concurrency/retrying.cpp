// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/sequence.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>

#include <set>
#include <thread>
#include <vector>

using namespace entitable;
using namespace std::chrono_literals;
using testing::fault;

namespace concurrency_tests {

struct account {
    std::string bank;
    std::int32_t number{};
    std::int64_t balance{};
};

ENTITABLE(account, partition_key(bank), row_key(number), properties(balance))

} // namespace concurrency_tests

namespace {

using concurrency_tests::account;

constexpr int threads = 4;
constexpr int each = 150;

template <class Work>
void in_threads(Work const& work) {
    std::vector<std::thread> running;
    for (int index = 0; index < threads; ++index) {
        running.emplace_back([&work, index] { work(index); });
    }
    for (std::thread& one : running) { one.join(); }
}

/// A service with faults on a manual clock, and a retrying transport that settles everything that is lost.
struct stage {
    explicit stage(std::size_t faults) {
        service.plan_random(7, faults, 2 * threads * each,
            {fault::lost_before(), fault::lost_after(), fault::busy(), fault::status(500, true)});
    }
    testing::manual_clock time;
    testing::faulty<memory_backend> service{memory_backend{}, {.time = &time}};
    retrying<testing::faulty<memory_backend>> through{
        service, {.policy = retry_policy::fixed(50, 1ms), .quota = 0, .operation_rows = true, .time = &time}};
};

} // namespace

TEST_CASE("retrying: many threads update one entity, and every update counts once") {
    stage on{200};
    table<account> const accounts{on.through, "accounts"};
    accounts.create().value();
    accounts.insert({"bank", 1, 0}).value();
    update_options how;
    how.time = &on.time;
    how.max_attempts = 10'000;
    in_threads([&](int) {
        for (int count = 0; count < each; ++count) {
            accounts.update("bank", 1, [](account& one) { ++one.balance; }, how).value();
        }
    });
    CHECK(accounts.get("bank", 1)->balance == threads * each);
    CHECK(on.service.all_fired());
}

TEST_CASE("sequence: many threads with lost answers never get the same number twice") {
    testing::manual_clock time;
    testing::faulty service{memory_backend{}, {.time = &time}};
    service.plan_random(8, 100, threads * each, {fault::lost_before(), fault::lost_after(), fault::late()});
    retrying through{service, {.policy = retry_policy::fixed(50, 1ms), .quota = 0, .time = &time}};
    sequence_options how;
    how.time = &time;
    how.max_attempts = 10'000;
    sequence const common{through, "Orders", how};
    std::vector<std::vector<std::int64_t>> got(threads);
    in_threads([&](int index) {
        sequence const own{through, "Orders", how};
        for (int count = 0; count < each; ++count) {
            got[static_cast<std::size_t>(index)].push_back((index % 2 == 0 ? common : own).next().value().value);
        }
    });
    std::set<std::int64_t> all;
    for (auto const& numbers : got) { all.insert(numbers.begin(), numbers.end()); }
    CHECK(all.size() == threads * each);
    CHECK(service.all_fired());
}
