// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "client/entities.hpp"
#include "support/catch.hpp"
#include <entitable/bulk.hpp>
#include <entitable/expiry.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

using namespace entitable;
using client_tests::address;
using client_tests::order;
using any_entity = table<order, address>::any_entity;

namespace {

struct shop {
    memory_backend store;
    table<order, address> customers{store, "customers"};
    row_table raw{store, "customers"};

    shop() { customers.create().value(); }
};

} // namespace

TEST_CASE("entities of two types share a batch and are read back with their types") {
    shop in;
    auto batch = in.customers.batch();
    batch.insert(order{"ann", 1, 2.5}).insert(address{"ann", "home", "Main Street"}).insert(order{"ann", 2, 4});
    REQUIRE(batch.submit().value().size() == 3);

    std::vector<std::size_t> kinds;
    double total = 0;
    in.customers
        .for_each_in_partition("ann",
            [&](any_entity const& any) {
                kinds.push_back(any.index());
                if (auto const* found = std::get_if<order>(&any)) { total += found->total; }
            })
        .value();
    CHECK(kinds == std::vector<std::size_t>{1, 0, 0}); // "address:" sorts before "order:"
    CHECK(total == 6.5);
}

TEST_CASE("a row of an unknown type is read as an entity with all its properties") {
    shop in;
    entity note{"ann", "note:1"};
    note.set("text", "call back").set("urgent", true);
    in.raw.insert(note).value();
    in.customers
        .for_each_in_partition("ann",
            [](any_entity const& any) {
                auto const& kept = std::get<entity>(any);
                CHECK(kept.get<std::string>("text").value() == "call back");
                CHECK(kept.get<bool>("urgent").value());
            })
        .value();
}

TEST_CASE("a row that has the keys of a type but does not fit it is an error and not an unknown row") {
    shop in;
    entity broken{"ann", "order:0000000001"};
    broken.set("total", "much");
    in.raw.insert(broken).value();
    CHECK(in.customers.for_each_in_partition("ann", [](auto const&) {}).error().code == error_code::row_mismatch);
}

TEST_CASE("the entities of one type can be queried as if they were alone in the table") {
    shop in;
    in.customers.insert(order{"ann", 1, 2.5}).value();
    in.customers.insert(address{"ann", "home", "Main Street"}).value();
    using o = fields<order>;
    CHECK(in.customers.where(o::customer == "ann" && o::id >= 0).count().value() == 1);
    CHECK(in.customers.get<address>("ann", "home").value().street == "Main Street");
}

TEST_CASE("an entity without a schema keeps the property types it was given") {
    shop in;
    entity mixed{"p", "r"};
    mixed.set("flag", false).set("count", std::int64_t{0}).set("text", "").set("ratio", 3.0);
    in.raw.insert(mixed).value();
    entity other{"p", "s"};
    other.set("count", "many"); // the same name, another type
    in.raw.insert(other).value();

    entity const read = in.raw.get("p", "r").value();
    CHECK(read.properties() == mixed.properties());
    CHECK(read.get<std::int64_t>("count").value() == 0);
    CHECK(read.get<std::optional<std::int64_t>>("count").value() == 0);
    CHECK_FALSE(read.get<std::optional<std::int64_t>>("none").value());
    CHECK(read.get<std::optional<double>>("count").error().code == error_code::row_mismatch);
    CHECK(read.get<std::int32_t>("count").error().code == error_code::row_mismatch);
    CHECK(read.get<double>("absent").error().code == error_code::resource_not_found);
    CHECK_FALSE(read.etag().empty());
    CHECK(in.raw.get("p", "s").value().get<std::string>("count").value() == "many");

    entity changed = read;
    CHECK(changed.erase("flag"));
    CHECK_FALSE(changed.erase("flag"));
    in.raw.replace(changed, read.etag()).value();
    CHECK(in.raw.get("p", "r").value().find("flag") == nullptr);
    CHECK(in.raw.replace(changed, read.etag()).error().code == error_code::update_condition_not_satisfied);
    CHECK(in.raw.remove("p", "r", any_etag));
    CHECK(in.raw.get("p", "r").error().code == error_code::resource_not_found);
}

// ---- rows of other types in the partitions of a type without a literal -------------------------------

namespace {

struct entrant {
    std::string race;
    std::int32_t bib{};
    std::int32_t age{};
};
ENTITABLE(entrant, partition_key(race), row_key(bib), properties(age))

struct aged {
    std::string race;
    std::int32_t age{};
    std::int32_t bib{};
};
ENTITABLE(aged, partition_key(race), row_key(width(age, 3), width(bib, 5)))

struct sponsor {
    std::string race;
    std::string name;
};
ENTITABLE(sponsor, partition_key(race), row_key(literal("SPONSOR:"), name))

using e = fields<entrant>;
using a = fields<aged>;

/// Six entrants and three times as many other rows, some of no type of the list, some of them the library's own.
struct race_day {
    memory_backend store;
    table<entrant, aged, sponsor> rows{store, "races"};

    race_day() {
        rows.create().value();
        row_table const raw{store, "races"};
        for (std::string const race : {"Berlin", "Boston"}) {
            for (std::int32_t bib = 1; bib <= 3; ++bib) {
                rows.insert(entrant{race, bib, 20 * bib}).value();
                rows.insert(aged{race, 20 * bib, bib}).value();
                rows.insert(sponsor{race, "s" + std::to_string(bib)}).value();
            }
            raw.insert(entity{race, "000000000x"}).value();
            raw.insert(entity{race, "020_"}).value();
            table<entrant> const plain{store, "races"};
            plain.transact(race, [](transaction<entrant>& all) { return all.exclusive(); }).value();
            plain
                .transact(race,
                    [&](transaction<entrant>& all) -> result<void> {
                        ENTITABLE_CHECK(all.exclusive());
                        all.merge(entrant{race, 1, 20}, any_etag);
                        return {};
                    })
                .value(); // writes the row of exclusive transactions
        }
    }
};

std::vector<std::int32_t> bibs_of(auto&& query) {
    std::vector<std::int32_t> found;
    query.for_each([&](auto const& each) { found.push_back(each.bib); }).value();
    return found;
}

} // namespace

TEST_CASE("several types: every kind of read skips rows of other types") {
    race_day const in;
    auto const in_boston = in.rows.where(e::race == "Boston");
    std::vector<std::int32_t> const all{1, 2, 3};
    for (std::uint32_t const rows : {1U, 2U, 3U, 1000U}) {
        INFO(rows << " rows a page");
        auto const asked = in_boston.page_size(rows);
        CHECK(bibs_of(asked) == all);
        CHECK(asked.count().value() == 3);
        CHECK(asked.to().value().size() == 3);
        CHECK(asked.take(2).count().value() == 2);
        CHECK(asked.first().value()->bib == 1);
        CHECK(asked.max(e::age).value() == 60);
        CHECK(asked.sum(e::age).value() == 120);
        CHECK(asked.select(e::age).to().value().size() == 3);
        std::size_t seen = 0;
        for (entrant const& each : asked) { seen += static_cast<std::size_t>(each.bib); }
        CHECK(seen == 6);
        CHECK(in.rows.where(e::race == "Boston" && e::bib >= 2).page_size(rows).count().value() == 2);
        CHECK(in.rows.where(e::race == "Boston" && e::age >= 40).page_size(rows).count().value() == 2);
        CHECK(in.rows.where(a::race == "Boston").page_size(rows).count().value() == 3);
        CHECK(in.rows.where(a::race == "Boston" && a::age >= 40).page_size(rows).count().value() == 2);
        CHECK(in.rows.scan_table<entrant>().page_size(rows).count().value() == 6);
        CHECK(in.rows.scan_table<sponsor>().page_size(rows).count().value() == 6);
        CHECK(in.rows.scan_table(e::age == 40).page_size(rows).count().value() == 2);
        CHECK(in.rows.scan_table(e::age == 40 || e::bib == 3).page_size(rows).in_flight(3).count().value() == 4);
    }
}

TEST_CASE("several types: pages resume where they stopped, and skip rows of other types") {
    race_day const in;
    std::vector<std::int32_t> found;
    std::optional<std::string> token;
    do {
        auto asked = in.rows.where(e::race == "Boston").page_size(2);
        if (token) { asked = asked.resume(*token); }
        auto pages = asked.pages();
        auto const page = pages.next().value();
        if (!page) { break; }
        for (entrant const& each : *page) { found.push_back(each.bib); }
        token = page->token;
    } while (token);
    CHECK(found == std::vector<std::int32_t>{1, 2, 3});
}

TEST_CASE("several types: a transaction's query skips rows of other types") {
    race_day const in;
    auto const done = in.rows.transact("Boston", [](transaction<entrant, aged, sponsor>& all) -> result<void> {
        ENTITABLE_TRY(auto const entrants, all.where(e::bib >= -5));
        CHECK(entrants.size() == 3);
        ENTITABLE_TRY(auto const by_age, all.where(a::age >= 0));
        CHECK(by_age.size() == 3);
        ENTITABLE_TRY(auto const named, all.where(fields<sponsor>::name != ""));
        CHECK(named.size() == 3);
        return {};
    });
    CHECK(done.has_value());
}

TEST_CASE("several types: verbs with keys take the type's components") {
    race_day const in;
    CHECK(in.rows.get<entrant>("Boston", 2)->age == 40);
    CHECK(in.rows.get_stored<aged>("Boston", 40, 2)->entity.bib == 2);
    CHECK_FALSE(in.rows.find<sponsor>("Boston", "none").value());
    auto const named = in.rows.reference_to<entrant>("Boston", 2).value();
    CHECK(in.rows.get(named)->age == 40);
    CHECK(in.rows.find(named).value()->age == 40);
    CHECK(in.rows.update<entrant>("Boston", 2, [](entrant& each) { ++each.age; })->entity.age == 41);
    CHECK(in.rows.merge(at("Boston", 2), e::age = 50, any_etag));
    CHECK(in.rows.get<entrant>("Boston", 2)->age == 50);
    CHECK(in.rows.remove<entrant>("Boston", 2, any_etag));
    CHECK(in.rows.remove<aged>("Boston", 40, 2, any_etag));
    CHECK_FALSE(in.rows.remove_if_present<aged>("Boston", 40, 2, any_etag).value());
    CHECK(in.rows.remove(sponsor{"Boston", "s2"}, any_etag));
    CHECK_FALSE(in.rows.update_if_present<entrant>("Boston", 2, [](entrant&) {}).value());
    CHECK(in.rows.replace(entrant{"Boston", 2, 1}, any_etag).error().code == error_code::resource_not_found);
    CHECK(in.rows.insert_or_replace(entrant{"Boston", 2, 1}));
    CHECK(in.rows.insert_or_merge(entrant{"Boston", 2, 2}));
    CHECK(in.rows.merge(entrant{"Boston", 2, 3}, any_etag));
    reader<entrant, aged, sponsor> const only_reads = in.rows;
    CHECK(only_reads.get<entrant>("Boston", 2)->age == 3);
    CHECK(only_reads.where(e::race == "Boston").count().value() == 3);
}

TEST_CASE("several types: rows that belong to no type of the list are read as entities without a type") {
    race_day const in;
    std::size_t counts[4]{};
    in.rows.for_each_in_partition("Boston", [&](auto const& each) { ++counts[each.index()]; }).value();
    CHECK(counts[0] == 3);
    CHECK(counts[1] == 3);
    CHECK(counts[2] == 3);
    CHECK(counts[3] == 2);
}

TEST_CASE("several types: bulk changes and expiry of a query change no rows of other types") {
    race_day const in;
    auto const plain = in.rows.unmaintained<entrant>();
    CHECK(bulk_update(plain, in.rows.where(e::race == "Boston"), [](entrant& each) { ++each.age; })->written == 3);
    CHECK(bulk_remove(plain, in.rows.where(e::race == "Boston"))->written == 3);
    CHECK(in.rows.where(a::race == "Boston").count().value() == 3);
    CHECK(expire(plain, in.rows.scan_table<entrant>(), std::chrono::nanoseconds{1})->written == 3);
    CHECK(in.rows.scan_table<aged>().count().value() == 6);
    CHECK(in.rows.scan_table<sponsor>().count().value() == 6);
}

TEST_CASE("several types: a query reads only rows whose keys begin like those of its type") {
    race_day const in;
    auto const sponsors = in.rows.where(fields<sponsor>::race == "Boston");
    CHECK(sponsors.count().value() == 3);
    CHECK(sponsors.analyze().received == 3);
    auto const numbers = in.rows.where(e::race == "Boston");
    CHECK(numbers.count().value() == 3);
    CHECK(numbers.analyze().received == 8); // those of `aged` begin with a digit, too
    CHECK(numbers.analyze().accepted == 3);
}
