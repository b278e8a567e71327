// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// A bank: accounts and the entries of its ledger in one partition, so that one transaction moves money and books it. Four tellers work at
/// once, one of them on an account with too little money; the answers to some requests are lost on purpose.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>

#include <cstdio>
#include <thread>
#include <vector>

using entitable::result;

struct account {
    std::string bank;
    std::int32_t number{};
    std::int64_t cents{};
    std::int32_t entries{}; // the number of the last entry, in the account of the bank itself
};
ENTITABLE(account, partition_key(bank), row_key(literal("account:"), number), properties(cents, entries))

struct entry {
    std::string bank;
    std::int32_t number{}; // without gaps, as the law requires
    std::int32_t from{};
    std::int32_t to{};
    std::int64_t cents{};
};
ENTITABLE(entry, partition_key(bank), row_key(literal("entry:"), width(number, 6)), properties(from, to, cents))

using books = entitable::table<account, entry>;

constexpr std::int32_t of_the_bank = 0; // the account of the bank

/// Moves money from one account to another and adds an entry: everything or nothing.
result<entitable::transacted> transfer(books const& bank, std::int32_t from, std::int32_t to, std::int64_t cents) {
    return bank.transact("First", [&](entitable::transaction<account, entry>& all) -> result<void> {
        ENTITABLE_TRY(auto payer, all.get(from));
        if (payer.cents < cents) {
            return entitable::failure{entitable::error_code::out_of_range_input, "there is not enough money"};
        }
        ENTITABLE_CHECK(all.update(from, [&](account& found) { found.cents -= cents; }));
        ENTITABLE_CHECK(all.update(to, [&](account& found) { found.cents += cents; }));
        ENTITABLE_TRY(auto counted, all.update(of_the_bank, [](account& found) { ++found.entries; }));
        all.insert(entry{"First", counted.entries, from, to, cents});
        return {};
    });
}

int main() {
    // A service that loses some answers. Operation rows show whether each request was applied.
    entitable::testing::faulty service{entitable::memory_backend{}};
    entitable::retrying const store{
        service, {.policy = entitable::retry_policy::fixed(20, std::chrono::milliseconds{1}), .operation_rows = true}};
    books const bank{store, "books"};
    bank.create().value();
    for (account const& each :
        {account{"First", of_the_bank}, {"First", 1, 10'000}, {"First", 2, 10'000}, {"First", 3, 25}}) {
        bank.insert(each).value();
    }
    service.plan_random(
        1, 40, 400, {entitable::testing::fault::lost_after(), entitable::testing::fault::lost_before()});

    std::vector<std::thread> tellers;
    for (std::int32_t teller = 0; teller < 4; ++teller) {
        tellers.emplace_back([&bank, teller] {
            for (int count = 0; count < 20; ++count) {
                auto const done =
                    teller < 3 ? transfer(bank, 1 + teller % 2, 2 - teller % 2, 100) : transfer(bank, 3, 1, 10);
                if (!done && done.error().message != "there is not enough money") {
                    std::printf("%s\n", done.error().what());
                }
            }
        });
    }
    for (std::thread& teller : tellers) { teller.join(); }

    using e = entitable::fields<entry>;
    std::int32_t entries = 0;
    bool gapless = true;
    for (entry const& each : bank.where(e::bank == "First")) { gapless = gapless && each.number == ++entries; }
    std::printf("%d entries, %s\n", entries, gapless ? "no gap" : "a gap");
    std::int64_t sum = 0;
    for (std::int32_t number = 1; number <= 3; ++number) {
        auto const found = bank.get<account>("First", number).value();
        std::printf("account %d: %lld cents\n", number, static_cast<long long>(found.cents));
        sum += found.cents;
    }
    std::printf("%lld cents in all\n", static_cast<long long>(sum));
}
