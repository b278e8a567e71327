// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What is written together: in how many groups of entities all are in one partition. The figures are recomputed here, group by group.

#include <entitable/advice.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace entitable;
using entitable_test::ContainsSubstring;

namespace together_test {

struct cash {
    std::string account, tx;
    std::int32_t side{};
    std::int64_t cents{};
};
ENTITABLE(cash, partition_key(account), row_key(tx, side), properties(cents))

struct line {
    std::string customer;
    std::int32_t day{};
    std::string order;
    std::int32_t number{};
    std::optional<std::int32_t> parcel;
};
ENTITABLE(line, partition_key(customer), row_key(day, order, number), properties(parcel))

struct base_of_entity {
    std::string name;
};
struct derived_entity : base_of_entity {
    std::string other;
    std::int32_t unlisted{};
};
ENTITABLE(derived_entity, partition_key(name), row_key(other))

/// A debit and a credit for each transfer between 97 accounts.
std::vector<cash> transfers(int count) {
    std::vector<cash> all;
    for (int i = 0; i < count; ++i) {
        std::string const tx = "tx" + std::to_string(i);
        all.push_back({"acc" + std::to_string(i % 97), tx, 0, -100});
        all.push_back({"acc" + std::to_string((i * 31 + 7) % 97), tx, 1, 100});
    }
    return all;
}

workload bank(double per_second, double statements = 20) {
    workload load;
    load.writes("transfer", {.per_second = per_second, .together = &cash::tx})
        .reads("statement", fields<cash>::account == "acc7", {.per_second = statements});
    return load;
}

bool nearly(double one, double other) { return std::fabs(one - other) <= 1e-9 * std::fabs(other); }

key_candidate const* with_keys(advice const& of, std::string_view begin) {
    for (key_candidate const& each : of.candidates) {
        if (each.score.declared.to_string().starts_with(begin)) { return &each; }
    }
    return nullptr;
}

} // namespace together_test

using namespace together_test;

TEST_CASE("a debit and its credit cannot be one transaction by account, but by transaction") {
    std::vector<cash> const all = transfers(2'000);
    // By hand: 30 i + 7 divisible by 97, so i = 16 modulo 97.
    std::uint64_t same = 0;
    for (std::uint64_t i = 0; i < 2'000; ++i) { same += i % 97 == 16 ? 1U : 0U; }
    REQUIRE(same == 21);

    advice const given = advise(sample_of(all, {.arrival_order = true}).value(), bank(100)).value();
    INFO(given.to_string());
    finding const* const found = given.find(finding_kind::split_transaction);
    REQUIRE(found != nullptr);
    CHECK(found->how == severity::problem);
    CHECK(found->title == "'transfer' cannot be one transaction under partition_key(account)");
    CHECK(found->evidence ==
        "all entities with the same tx can be one transaction in 1.1 of 100 groups (21 of 2,000); a group is in 1.99 "
        "partitions");
    CHECK(found->cure ==
        "partition_key(tx) can: all entities with the same tx are in one partition; 'statement' then needs index rows: "
        "it "
        "would examine 4,000 entities instead of 41.2");

    together_score const& now = given.candidates[given.present].score.together.at(0);
    CHECK(now.groups == 2'000);
    CHECK(now.whole == same);
    CHECK(now.entities == 2);
    CHECK(now.partitions_each == (2.0 * (2'000 - 21) + 21) / 2'000);
    CHECK(now.of_100() == 100 * 21.0 / 2'000);
    CHECK(nearly(now.requests(), 21.0 / 2'000 + 2 * (1 - 21.0 / 2'000)));
    CHECK_FALSE(given.candidates[given.present].score.transactions);

    key_candidate const* const by_tx = with_keys(given, "partition_key(tx)");
    REQUIRE(by_tx != nullptr);
    CHECK(by_tx->score.together.at(0).of_100() == 100);
    CHECK(by_tx->score.transactions);
    CHECK(by_tx->reason == "what the entities of one transaction of 'transfer' share");
    // Keys that keep them together rank above keys that do not.
    CHECK(given.candidates.front().score.transactions);
    CHECK_THAT(given.to_string(), ContainsSubstring("Transactions possible, of 100"));
}

TEST_CASE("above the rate of one partition the transaction's member is the best partition key") {
    advice const given = advise(sample_of(transfers(2'000)).value(), bank(5'000, 1)).value();
    INFO(given.to_string());
    CHECK(given.candidates.front().score.declared.to_string().starts_with("partition_key(tx)"));
    CHECK(given.candidates.front().score.fits);
    // The account's statement then needs index rows.
    CHECK(given.find(finding_kind::two_dominant_queries) != nullptr);
}

TEST_CASE("keys that keep what is written together get no finding") {
    workload load;
    using l = fields<line>;
    load.writes("order", {.per_second = 50, .together = {l::customer, l::order}})
        .reads("of a customer", l::customer == "c1", {.per_second = 50});
    std::vector<line> all;
    for (std::int32_t n = 0; n < 6'000; ++n) {
        all.push_back({"c" + std::to_string(n / 4 % 300), n / 4, "o" + std::to_string(n / 4), n % 4, std::nullopt});
    }
    advice const given = advise(sample_of(all).value(), load).value();
    INFO(given.to_string());
    CHECK(given.find(finding_kind::split_transaction) == nullptr);
    CHECK(given.candidates[given.present].score.together.at(0).groups == 1'500);
    CHECK(given.candidates[given.present].score.together.at(0).entities == 4);
    CHECK(given.candidates[given.present].score.transactions);
}

TEST_CASE("groups are recomputed by hand for several writes, absent values and groups that are too large") {
    std::vector<line> all;
    for (std::int32_t n = 0; n < 3'000; ++n) {
        std::optional<std::int32_t> parcel;
        if (n % 5 != 0) { parcel = n % 700; }
        all.push_back({"c" + std::to_string(n % 30), n % 7, "o" + std::to_string(n % 450), n, parcel});
    }
    workload load;
    using l = fields<line>;
    load.writes("orders", {.per_second = 10, .together = &line::order})
        .writes("parcels", {.per_second = 10, .together = l::parcel})
        .writes("days", {.per_second = 10, .together = {&line::customer, &line::day}})
        .writes("customers", {.per_second = 10, .together = &line::customer});
    auto const sample = sample_of(all).value();
    key_score const score = score_keys(sample, load, sample.declared());
    auto const by_hand = [&](auto group_of) {
        std::map<std::string, std::vector<line>> groups;
        for (line const& each : all) {
            if (std::string const group = group_of(each); !group.empty()) { groups[group].push_back(each); }
        }
        std::uint64_t counted = 0;
        std::uint64_t whole = 0;
        for (auto const& [name, rows] : groups) {
            std::set<std::string> partitions;
            for (line const& each : rows) { partitions.insert(each.customer); }
            counted += rows.size() >= 2 ? 1U : 0U;
            whole += rows.size() >= 2 && rows.size() <= 100 && partitions.size() == 1 ? 1U : 0U;
        }
        return std::pair{counted, whole};
    };
    auto const is = [](together_score const& of) { return std::pair{of.groups, of.whole}; };
    REQUIRE(score.together.size() == 4);
    CHECK(is(score.together[0]) == by_hand([](line const& each) { return each.order; }));
    CHECK(is(score.together[1]) ==
        by_hand([](line const& each) { return each.parcel ? std::to_string(*each.parcel) : std::string{}; }));
    CHECK(is(score.together[2]) ==
        by_hand([](line const& each) { return each.customer + "/" + std::to_string(each.day); }));
    CHECK(is(score.together[3]) == by_hand([](line const& each) { return each.customer; }));
    CHECK(is(score.together[3]) == std::pair{std::uint64_t{30}, std::uint64_t{30}}); // 100 rows each: just possible
    all.push_back({"c0", 1, "x", 9'999, std::nullopt});
    auto const one_more = sample_of(all).value();
    together_score const more = score_keys(one_more, load, one_more.declared()).together[3];
    CHECK(more.whole == 29);
    CHECK(more.largest == 101);
    CHECK(nearly(more.entities, 100));
    advice const given = advise(one_more, load).value();
    bool found = false;
    for (finding const& each : given.findings) {
        found = found || each.cure == "split the writes: a transaction has at most 100 entities";
    }
    INFO(given.to_string());
    CHECK(found);
}

TEST_CASE("a large sample counts groups over all of its rows") {
    std::vector<cash> const all = transfers(150'000); // scores use 100,000 of these 300,000 rows
    auto const sample = sample_of(all, {.rows = 1'000'000}).value();
    together_score const by_account = score_keys(sample, bank(100), sample.declared()).together.at(0);
    CHECK(by_account.groups == 150'000);
    std::uint64_t same = 0;
    for (std::int64_t i = 0; i < 150'000; ++i) { same += i % 97 == (i * 31 + 7) % 97 ? 1U : 0U; }
    CHECK(by_account.whole == same);
}

TEST_CASE("a sample of a larger table estimates the share") {
    auto const sample = sample_of(transfers(100'000), {.rows = 50'000}).value();
    together_score const some = score_keys(sample, bank(100), sample.declared()).together.at(0);
    CHECK(some.groups > 5'500); // a quarter of a quarter of the pairs: 6,250 expected
    CHECK(some.groups < 7'000);
    CHECK(std::fabs(some.of_100() - 100.0 / 97) < 0.5);
}

TEST_CASE("empty samples, single rows and missing members are no mistake of the figures") {
    std::vector<cash> const none;
    advice const empty = advise(sample_of(none).value(), bank(100)).value();
    CHECK(empty.find(finding_kind::split_transaction) == nullptr);
    CHECK(empty.candidates[empty.present].score.together.at(0).of_100() == 100);
    std::vector<cash> const one{{"a", "t", 0, 1}};
    advice const single = advise(sample_of(one).value(), bank(0)).value();
    CHECK(single.find(finding_kind::split_transaction) == nullptr);
    CHECK(single.candidates[single.present].score.together.at(0).groups == 0);
    CHECK(single.candidates[single.present].score.cost == single.candidates[single.present].score.cost);
    CHECK_FALSE(advise(sample_of(one).value(), bank(std::nan(""))).has_value());

    workload load;
    load.writes("w", {.together = shared_members::named({"nothing"})});
    result<advice> const missing = advise(sample_of(one).value(), load);
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().code == error_code::invalid_input);
    CHECK_THAT(missing.error().message, ContainsSubstring("'nothing', which no row of the sample has"));
    workload twice;
    twice.writes("w", {.together = {&cash::tx, &cash::tx}});
    CHECK_THAT(twice.validate().error().message, ContainsSubstring("the member 'tx' twice"));
}

TEST_CASE("members are named by pointers, fields and texts") {
    using c = fields<cash>;
    CHECK(shared_members{&cash::tx}.names() == std::vector<std::string>{"tx"});
    CHECK(shared_members{&cash::account}.names() == std::vector<std::string>{"account"});
    CHECK(shared_members{&cash::cents}.names() == std::vector<std::string>{"cents"});
    CHECK(shared_members{c::side}.names() == std::vector<std::string>{"side"});
    CHECK(shared_members{c::cents}.names() == std::vector<std::string>{"cents"});
    CHECK(shared_members{c::account, &cash::side}.names() == std::vector<std::string>{"account", "side"});
    CHECK(shared_members{fields<derived_entity>::name}.names() == std::vector<std::string>{"name"});
    CHECK(shared_members{}.empty());
    workload load;
    load.writes("w", {.together = &derived_entity::unlisted});
    CHECK_THAT(load.validate().error().message, ContainsSubstring("share a member that ENTITABLE does not list"));
}

TEST_CASE("the month of a bank has batches only under keys that allow them") {
    workload const load = bank(100);
    advice const given = advise(sample_of(transfers(2'000)).value(), load).value();
    double const month = 730 * 3'600;
    monthly_use const by_account = monthly_use_of(given, load);
    // 50 transfers a second: 21 of 2,000 as a batch, the others as two writes
    CHECK(nearly(by_account.batches, 50 * month * 21 / 2'000));
    CHECK(nearly(by_account.writes, 50 * month * 2 * 1'979 / 2'000));
    auto const by_tx = static_cast<std::size_t>(with_keys(given, "partition_key(tx)") - given.candidates.data());
    CHECK(nearly(monthly_use_of(given, load, by_tx).batches, 50 * month));
    CHECK(monthly_use_of(given, load, by_tx).writes == 0);
    // A score without entities, as a program may fill it: each write is a request of its own.
    advice changed = given;
    for (double const entities : {0.0, -1.0}) {
        changed.candidates[by_tx].score.together[0].entities = entities;
        monthly_use const use = monthly_use_of(changed, load, by_tx);
        CHECK(use.batches == 0);
        CHECK(nearly(use.writes, 100 * month));
    }
}
