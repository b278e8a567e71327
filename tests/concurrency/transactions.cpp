// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Bodies of four threads with shared invariants and faults at every kind of request: the sum of money is constant, numbers have no
// gaps, and each outcome is true.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <thread>
#include <vector>

using namespace entitable;
using namespace std::chrono_literals;
using testing::fault;

namespace concurrency_tests {

struct purse {
    std::string bank;
    std::int32_t number{};
    std::int64_t cents{};
};
ENTITABLE(purse, partition_key(bank), row_key(literal("purse:"), number), properties(cents))

struct entry {
    std::string bank;
    std::int64_t number{};
    std::int32_t from{};
    std::int32_t to{};
    std::int64_t cents{};
};
ENTITABLE(entry, partition_key(bank), row_key(literal("entry:"), number), properties(from, to, cents))

} // namespace concurrency_tests

namespace {

using concurrency_tests::entry;
using concurrency_tests::purse;

constexpr int threads = 4;
constexpr int each = 60;
constexpr std::int32_t purses = 3; // and purse 0, the number of entries

template <class Store>
void moves_money(Store const& store, std::size_t faults) {
    testing::manual_clock time;
    testing::faulty<Store> service{store, {.time = &time}};
    retrying const through{
        service, {.policy = retry_policy::fixed(50, 1ms), .quota = 0, .operation_rows = true, .time = &time}};
    table<purse, entry> const books{through, "books"};
    books.create().value();
    for (std::int32_t number = 0; number <= purses; ++number) {
        books.insert(purse{"b", number, number == 0 ? 0 : 100}).value();
    }
    service.plan_random(7, faults, 6 * threads * each,
        {fault::lost_before(), fault::lost_after(), fault::busy(), fault::status(500, true)});
    transaction_options how;
    how.time = &time;
    how.max_attempts = 10'000;
    std::atomic<int> moved{0};
    std::atomic<int> short_of{0};
    std::atomic<bool> torn{false};
    std::vector<std::thread> running;
    for (int index = 0; index < threads; ++index) {
        running.emplace_back([&, index] {
            random_source random{static_cast<std::uint64_t>(index) + 1};
            auto const pick = [&](std::int32_t most) {
                return static_cast<std::int32_t>(random.unit() * static_cast<double>(most));
            };
            for (int count = 0; count < each; ++count) {
                std::int32_t const from = 1 + pick(purses);
                std::int32_t const to = 1 + (from + pick(purses - 1)) % purses;
                std::int64_t const cents = 1 + pick(80);
                auto const done = books.transact(
                    "b",
                    [&](transaction<purse, entry>& all) -> result<void> {
                        ENTITABLE_TRY(auto payer, all.get(from));
                        if (payer.cents < cents) { return failure{error_code::out_of_range_input, "not enough money"}; }
                        ENTITABLE_TRY(auto numbers, all.update(0, [](purse& counter) { counter.cents += 1; }));
                        payer.cents -= cents;
                        all.replace(payer).insert(entry{"b", numbers.cents, from, to, cents});
                        return all.update(to, [&](purse& payee) { payee.cents += cents; });
                    },
                    how);
                moved += done ? 1 : 0;
                short_of += !done && done.error().message == "not enough money" ? 1 : 0;
                CHECK((done || done.error().message == "not enough money"));
                auto const seen = books.transact(
                    "b",
                    [&](transaction<purse, entry>& all) -> result<void> {
                        std::int64_t sum = 0;
                        for (std::int32_t number = 1; number <= purses; ++number) {
                            ENTITABLE_TRY(auto one, all.get(number));
                            sum += one.cents;
                        }
                        return sum == 100 * purses ? result<void>{}
                                                   : result<void>{failure{error_code::out_of_range_input, "torn"}};
                    },
                    how);
                torn = torn || !seen;
            }
        });
    }
    for (std::thread& one : running) { one.join(); }
    using e = fields<entry>;
    CHECK_FALSE(torn);
    CHECK(moved + short_of == threads * each);
    std::int64_t sum = 0;
    std::int64_t balances[purses + 1] = {0, 100, 100, 100};
    std::int64_t next = 0;
    for (entry const& one : books.where(e::bank == "b")) {
        CHECK(one.number == ++next);
        balances[one.from] -= one.cents;
        balances[one.to] += one.cents;
        CHECK(balances[one.from] >= 0);
    }
    CHECK(next == moved);
    for (std::int32_t number = 1; number <= purses; ++number) {
        auto const now = books.get<purse>("b", number)->cents;
        CHECK(now == balances[number]);
        sum += now;
    }
    CHECK(sum == 100 * purses);
}

} // namespace

TEST_CASE("transaction: the books balance in memory after four threads and lost answers") {
    moves_money(memory_backend{}, 150);
}

TEST_CASE("transaction: the books balance in a file after four threads and lost answers") {
    entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
    moves_money(file_backend{folder / "books.db"}, 100);
}
