// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "books.hpp"
#include <entitable/advice.hpp>
#include <entitable/core/random.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;

namespace advise_test {

struct item_data {
    std::string owner;
    std::int32_t number{};
    std::string kind;
    std::string note;
};
struct item_by_owner : item_data {};
ENTITABLE(item_by_owner, partition_key(owner), row_key(number), properties(kind, note))
struct item_by_number : item_data {};
ENTITABLE(item_by_number, partition_key(number), row_key(owner), properties(kind, note))
struct item_by_number_down : item_data {};
ENTITABLE(item_by_number_down, partition_key(descending(number)), row_key(owner), properties(kind, note))
struct item_by_kind : item_data {};
ENTITABLE(item_by_kind, partition_key(kind), row_key(number), properties(owner, note))
struct item_in_one : item_data {};
ENTITABLE(item_in_one, partition_key(literal("all")), row_key(number), properties(owner, kind, note))

/// Items in the order they are written.
template <class Item, class Owner, class Kind>
std::vector<Item> items(int count, Owner owner, Kind kind) {
    random_source random{1};
    std::vector<Item> all;
    for (int number = 0; number < count; ++number) {
        Item one;
        one.number = number;
        one.owner = owner(random.unit(), number);
        one.kind = kind(random.unit(), number);
        one.note = "note " + std::to_string(number);
        all.push_back(std::move(one));
    }
    return all;
}
std::string spread(double drawn, int) { return "owner " + std::to_string(static_cast<int>(drawn * 500)); }
std::string forty(double drawn, int) {
    return drawn < 0.4 ? "the big one" : "owner " + std::to_string(static_cast<int>(drawn * 500));
}
std::string two(double drawn, int) { return drawn < 0.5 ? "left" : "right"; }

std::set<finding_kind> kinds(advice const& of) {
    std::set<finding_kind> all;
    for (finding const& each : of.findings) { all.insert(each.kind); }
    return all;
}
using only = std::set<finding_kind>;

template <class Items>
table_sample drawn(Items const& all) {
    return sample_of(all, {.arrival_order = true}).value();
}

} // namespace advise_test

using namespace advise_test;

TEST_CASE("good keys get no advice") {
    using i = fields<item_by_owner>;
    workload load;
    load.reads("one", i::owner == "x" && i::number == 1, {.per_second = 3'000})
        .reads("of an owner", i::owner == "x", {.per_second = 20})
        .writes("new", {.per_second = 3'000});
    advice const given = advise(drawn(items<item_by_owner>(6'000, spread, two)), load).value();
    INFO(given.to_string());
    CHECK(kinds(given) == only{});
    CHECK(given.present == 0);
    CHECK(given.candidates[0].score.fits);
}

TEST_CASE("an increasing key is reported, and so is a decreasing key") {
    workload load;
    using up = fields<item_by_number>;
    load.reads("one", up::number == 1 && up::owner == "x", {.per_second = 500}).writes("new", {.per_second = 3'000});
    advice const grows = advise(drawn(items<item_by_number>(6'000, spread, two)), load).value();
    INFO(grows.to_string());
    CHECK(kinds(grows) == only{finding_kind::append_only});
    CHECK(grows.findings[0].how == severity::problem);
    CHECK_THAT(grows.findings[0].evidence, ContainsSubstring("correlation 1.00"));
    CHECK_THAT(grows.findings[0].cure, ContainsSubstring("salted(number, n)"));
    CHECK_THAT(grows.findings[0].cure, ContainsSubstring("random id"));
    CHECK(grows.candidates[0].score.fits);

    advice const falls = advise(drawn(items<item_by_number_down>(6'000, spread, two)), load).value();
    INFO(falls.to_string());
    CHECK(kinds(falls) == only{finding_kind::prepend_only});

    // Without writes this is only a note.
    workload reading;
    reading.reads("one", up::number == 1 && up::owner == "x", {.per_second = 500});
    advice const still = advise(drawn(items<item_by_number>(6'000, spread, two)), reading).value();
    CHECK(still.find(finding_kind::append_only)->how == severity::note);
}

TEST_CASE("a salted form of an increasing key is among the candidates and is suitable") {
    workload load;
    using up = fields<item_by_number>;
    load.scans("latest", up::number >= 5'900, {.per_second = 5}).writes("new", {.per_second = 3'000});
    advice const given = advise(drawn(items<item_by_number>(6'000, spread, two)), load).value();
    INFO(given.to_string());
    auto const salted = std::find_if(given.candidates.begin(), given.candidates.end(), [](key_candidate const& each) {
        return !each.score.declared.partition.empty() && each.score.declared.partition[0].buckets > 0;
    });
    REQUIRE(salted != given.candidates.end());
    CHECK(salted->score.fits);
    CHECK(salted->score.queries[0].ranges == 4); // each bucket is queried
    CHECK(salted->score.queries[0].examined == 100);
    CHECK_FALSE(given.candidates[given.present].score.fits);
}

TEST_CASE("keys with times in large steps are recognized as log data") {
    workload load;
    using l = fields<item_by_owner>;
    load.reads("one hour", l::owner == "x", {.per_second = 0.1}).writes("new", {.per_second = 3'000});
    auto const hour = [](double, int number) { return "2026-01-01T" + std::to_string(100 + number / 60); };
    advice const given = advise(drawn(items<item_by_owner>(6'000, hour, two)), load).value();
    INFO(given.to_string());
    CHECK(kinds(given) == only{finding_kind::log_data});
}

TEST_CASE("a value that 40 percent of the entities share is reported") {
    workload load;
    using i = fields<item_by_owner>;
    load.reads("one", i::owner == "x" && i::number == 1, {.per_second = 4'000}).writes("new", {.per_second = 3'000});
    advice const given = advise(drawn(items<item_by_owner>(6'000, forty, two)), load).value();
    INFO(given.to_string());
    CHECK(kinds(given) == only{finding_kind::skewed});
    CHECK(given.findings[0].how == severity::problem);
    CHECK_THAT(given.findings[0].evidence, ContainsSubstring("the big one has 41.5 %"));
    CHECK_THAT(given.findings[0].cure, ContainsSubstring("append number to the partition key"));
    // 0.415 x 7,000 per second; writes go to the latest 300 entities
    CHECK(std::abs(given.candidates[given.present].score.hottest - 2'905) < 250);
    CHECK(given.candidates[given.present].score.hottest_key == "the big one");
}

TEST_CASE("a component with only two values is reported") {
    workload load;
    using i = fields<item_by_kind>;
    load.reads("one", i::kind == "left" && i::number == 1, {.per_second = 4'000}).writes("new", {.per_second = 3'000});
    advice const given = advise(drawn(items<item_by_kind>(6'000, spread, two)), load).value();
    INFO(given.to_string());
    CHECK(kinds(given) == only{finding_kind::few_partitions});
    CHECK(given.findings[0].how == severity::problem);
    // The same table with few queries.
    workload quiet;
    quiet.reads("one", i::kind == "left" && i::number == 1, {.per_second = 10});
    CHECK(
        advise(drawn(items<item_by_kind>(6'000, spread, two)), quiet).value().find(finding_kind::few_partitions)->how ==
        severity::note);
}

TEST_CASE("a single partition is suitable below its rate limit and too coarse above the limit") {
    using i = fields<item_in_one>;
    auto const sample = drawn(items<item_in_one>(2'000, spread, two));
    workload quiet;
    quiet.reads("one", i::number == 1, {.per_second = 100}).writes("new", {.per_second = 10});
    advice const fine = advise(sample, quiet).value();
    CHECK(kinds(fine) == only{finding_kind::one_partition_is_fine});
    CHECK(fine.findings[0].how == severity::fine);
    CHECK(fine.present == 0);
    workload busy;
    busy.reads("one", i::number == 1, {.per_second = 3'000}).writes("new", {.per_second = 10});
    advice const coarse = advise(sample, busy).value();
    INFO(coarse.to_string());
    CHECK(kinds(coarse) == only{finding_kind::too_coarse});
    CHECK(coarse.candidates[0].score.declared.to_string() == "partition_key(number), row_key(literal(\"all\"))");
}

TEST_CASE("partitions with one entity are too small for transactions and for range queries") {
    using i = fields<item_by_number>;
    // Numbers are written in random order.
    auto mixed = items<item_by_number>(6'000, spread, two);
    random_source random{5};
    for (std::size_t index = mixed.size(); index > 1; --index) {
        std::swap(mixed[index - 1], mixed[random.bits() % index]);
    }
    auto const sample = drawn(mixed);
    workload transactions;
    transactions.reads("one", i::number == 1 && i::owner == "x", {.per_second = 100})
        .writes("pairs", {.per_second = 100, .per_transaction = 2});
    advice const given = advise(sample, transactions).value();
    INFO(given.to_string());
    CHECK(kinds(given) == only{finding_kind::too_fine});
    CHECK(given.findings[0].how == severity::problem);
    CHECK(given.candidates[0].score.transactions);
    workload ranges;
    ranges.reads("neighbours", i::number >= 100 && i::number < 200, {.per_second = 10});
    CHECK(kinds(advise(sample, ranges).value()) == only{finding_kind::too_fine});
    workload points;
    points.reads("one", i::number == 1 && i::owner == "x", {.per_second = 3'000}).writes("new", {.per_second = 3'000});
    CHECK(kinds(advise(sample, points).value()) == only{});
}

TEST_CASE("a query that scans the whole table is reported, with keys that would serve it") {
    using i = fields<item_by_owner>;
    workload load;
    load.scans("of a kind", i::kind == "kind 17", {.per_second = 1, .latency = 50ms});
    auto const kind = [](double drawn, int) { return "kind " + std::to_string(static_cast<int>(drawn * 100)); };
    advice const given = advise(drawn(items<item_by_owner>(10'000, spread, kind)), load).value();
    INFO(given.to_string());
    CHECK(given.find(finding_kind::scans) != nullptr);
    CHECK(given.find(finding_kind::misses_latency) != nullptr);
    CHECK(given.candidates[0].score.declared.to_string() == "partition_key(kind), row_key(number)");
    CHECK(given.guide == std::vector<std::string>{"'of a kind': one key property: kind is the PartitionKey"});
    query_score const& now = given.candidates[given.present].score.queries[0];
    CHECK(now.access == access_path::table);
    CHECK(now.examined == 10'000);
    CHECK(std::abs(now.returned - 100) < 3);
    CHECK_THAT(given.candidates[0].declaration,
        ContainsSubstring("partition_key(kind),\n    row_key(number),\n    properties(owner, note)"));
}

TEST_CASE("new keys are suggested for a query only if they serve it better") {
    using i = fields<item_by_owner>;
    workload load;
    load.reads("of an owner", i::owner == "x", {.per_second = 40, .latency = 20ms})
        .reads("one", i::owner == "x" && i::number == 1, {.per_second = 900})
        .scans("of a kind", i::kind == "kind 17", {.per_second = 0.5, .latency = 50ms, .priority = 20})
        .writes("new", {.per_second = 30});
    auto const kind = [](double drawn, int) { return "kind " + std::to_string(static_cast<int>(drawn * 1'000)); };
    auto const owner = [](double drawn, int) {
        return "owner " + std::to_string(static_cast<int>(drawn * drawn * 100));
    };
    advice const given = advise(drawn(items<item_by_owner>(10'000, owner, kind)), load).value();
    INFO(given.to_string());
    REQUIRE(given.present != 0); // better keys exist, but not for this query
    REQUIRE(given.candidates[0].score.queries[2].examined == 10'000);
    for (finding_kind const which : {finding_kind::scans, finding_kind::misses_latency}) {
        REQUIRE(given.find(which) != nullptr);
        CHECK_THAT(given.find(which)->title, ContainsSubstring("'of a kind'"));
        CHECK_THAT(given.find(which)->cure, ContainsSubstring("index rows"));
        CHECK(given.find(which)->cure.find(given.candidates[0].score.declared.to_string()) == std::string::npos);
    }
}

TEST_CASE("two dominant queries that no single key serves get index rows") {
    using i = fields<item_by_owner>;
    workload load;
    load.reads("of an owner", i::owner == "x", {.per_second = 10})
        .scans("of a kind", i::kind == "kind 17", {.per_second = 9})
        .writes("new", {.per_second = 50});
    auto const kind = [](double drawn, int) { return "kind " + std::to_string(static_cast<int>(drawn * 500)); };
    advice const given = advise(drawn(items<item_by_owner>(6'000, spread, kind)), load).value();
    INFO(given.to_string());
    finding const* const found = given.find(finding_kind::two_dominant_queries);
    REQUIRE(found != nullptr);
    CHECK_THAT(found->cure, ContainsSubstring("100 instead of 50 entities/s"));
    CHECK(given.dominant.size() == 2);
}

TEST_CASE("a rare query with a tight latency target is dominant") {
    using i = fields<item_by_owner>;
    workload load;
    load.reads("one", i::owner == "x" && i::number == 1, {.per_second = 1'000})
        .scans("alarm", i::kind == "kind 3", {.per_second = 0.01, .latency = 30ms});
    auto const kind = [](double drawn, int) { return "kind " + std::to_string(static_cast<int>(drawn * 100)); };
    advice const given = advise(drawn(items<item_by_owner>(6'000, spread, kind)), load).value();
    CHECK(given.dominant == std::vector<std::string>{"one", "alarm"});
    CHECK(given.find(finding_kind::misses_latency) != nullptr);
}

TEST_CASE("a range over numbers without leading zeros is reported") {
    sample_builder builder;
    for (int number = 1; number <= 300; ++number) {
        builder.add(row_builder{"p" + std::to_string(number % 20), std::to_string(number)}.build());
    }
    workload load;
    load.add({"from to",
        {{filter_operator::equal, {}, "PartitionKey", value_view{"p1"}},
            {filter_operator::greater_equal, {}, "RowKey", value_view{"2"}}, {filter_operator::all_of, {}, {}, {}}},
        {.per_second = 1}, false});
    advice const given = advise(std::move(builder).finish(), load).value();
    CHECK(kinds(given) == only{finding_kind::unordered_range});
}

TEST_CASE("a property with two types is reported") {
    sample_builder builder;
    for (int number = 1; number <= 300; ++number) {
        row_builder row{"p" + std::to_string(number % 20), std::to_string(1'000 + number)};
        number == 7 ? row.add("age", value_view{"seven"}) : row.add("age", value_view{std::int32_t{number}});
        builder.add(row.build());
    }
    advice const given = advise(std::move(builder).finish(), {}).value();
    CHECK(kinds(given) == only{finding_kind::mixed_types});
    CHECK_THAT(given.findings[0].evidence, ContainsSubstring("Edm.Int32 in 299 rows, Edm.String in 1 rows"));
}

TEST_CASE("an impossible workload is refused, and the error names the field") {
    auto const sample = drawn(items<item_in_one>(10, spread, two));
    workload negative;
    negative.writes("import", {.per_second = -1});
    CHECK_THAT(advise(sample, negative).error().message, ContainsSubstring("'import'"));
    workload broken;
    broken.add({"half", {{filter_operator::all_of, {}, {}, {}}}, {}, true});
    CHECK_THAT(advise(sample, broken).error().message, ContainsSubstring("'half'"));
    workload many;
    many.writes("many", {.per_second = 1, .per_transaction = 101});
    CHECK(advise(sample, many).error().code == error_code::out_of_range_input);
    CHECK(advise(sample_of(std::vector<item_in_one>{}).value(), {}));
}

// ---- the books: figures confirmed by Python ---------------------------------------------------------------------
//
//     c = collections.Counter(row[name] for row in csv.DictReader(open("books.csv")))
//     len(c), max(c.values()), sum(n * n for n in c.values()) / 10000

TEST_CASE("advise() finds keys for a table of books with queries by year, id, author and language") {
    using namespace entitable_test;
    auto const books = read_books<book_by_year>();
    if (books.empty()) { return; }
    table_sample const sample = sample_of(books).value();
    using b = fields<book_by_year>;
    workload load;
    load.reads("by year", b::year == 1999, {.per_second = 1})
        .scans("by author", b::authors == "Stephen King", {.per_second = 1})
        .scans("by language", b::language == "eng", {.per_second = 1})
        .scans("by id", b::id == 1, {.per_second = 1});
    struct {
        key_declaration keys;
        std::uint64_t partitions, largest;
        double gini;
        std::size_t query;
        double examined;
    } const cases[] = {{declaration_of<book_by_year>(), 294, 568, 0.8335721088, 0, 275.5578},
        {declaration_of<book_by_author>(), 4'664, 60, 0.4622138079, 1, 7.5804},
        {declaration_of<book_by_language>(), 26, 6'341, 0.9092384615, 2, 4574.36},
        {declaration_of<book_by_id>(), 10'000, 1, 0, 3, 1}};
    for (auto const& each : cases) {
        key_score const score = score_keys(sample, load, each.keys);
        INFO(score.to_string());
        CHECK(score.unique);
        CHECK(score.partitions.count == each.partitions);
        CHECK(score.partitions.largest == each.largest);
        CHECK(std::abs(score.partitions.gini - each.gini) < 1e-9);
        CHECK(std::abs(score.queries[each.query].examined - each.examined) < 1e-6);
        for (std::size_t other = 0; other < 4; ++other) {
            if (other != each.query) { // all other queries scan the whole table and give the same result
                CHECK(score.queries[other].examined == 10'000);
                CHECK(score.queries[other].returned ==
                    score_keys(sample, load, cases[other].keys).queries[other].returned);
            }
        }
    }
    // For one value, exactly: 150 books of 1999, of 10,000.
    workload given;
    given.reads("of 1999", b::year == 1999, {.per_second = 1, .values = asked_values::given})
        .reads("nineties", b::year >= 1990 && b::year <= 1999 && b::rating >= 4.3, {.per_second = 1});
    key_score const years = score_keys(sample, given, declaration_of<book_by_year>());
    double of_1999 = 0;
    double nineties = 0;
    double good = 0;
    for (book_by_year const& each : books) {
        of_1999 += each.year == 1999 ? 1 : 0;
        bool const inside = each.year && *each.year >= 1990 && *each.year <= 1999;
        nineties += inside ? 1 : 0;
        good += inside && each.rating >= 4.3 ? 1 : 0;
    }
    CHECK(years.queries[0].examined == of_1999);
    CHECK(years.queries[1].examined == nineties);
    CHECK(years.queries[1].returned == good);
    CHECK(years.queries[1].access == access_path::partition_range);

    key_comparison const both = compare<book_by_author, book_by_year>(sample, load);
    CHECK(both.one.queries[1].examined < both.other.queries[1].examined);
    CHECK_THAT(both.to_string(), ContainsSubstring("partition_key(authors), row_key(id)"));
}

TEST_CASE("a sample and the whole table give the same advice, within the stated error") {
    using i = fields<item_by_owner>;
    workload load;
    load.reads("of an owner", i::owner == "x", {.per_second = 20})
        .scans("of a kind", i::kind == "kind 17", {.per_second = 1})
        .reads("one", i::owner == "x" && i::number == 1, {.per_second = 100})
        .writes("new", {.per_second = 300});
    auto const kind = [](double drawn, int) { return "kind " + std::to_string(static_cast<int>(drawn * 40)); };
    auto const all = items<item_by_owner>(60'000, forty, kind);
    advice const whole = advise(sample_of(all).value(), load).value();
    advice const part = advise(sample_of(all, {.rows = 6'000}).value(), load).value();
    INFO(whole.to_string() << part.to_string());
    CHECK(kinds(whole) == kinds(part));
    CHECK(whole.candidates[0].score.declared == part.candidates[0].score.declared);
    CHECK(part.there.partitions.largest == whole.there.partitions.largest); // sizes of partitions are exact
    for (std::size_t index = 0; index < 3; ++index) {
        query_score const& exact = whole.candidates[whole.present].score.queries[index];
        query_score const& drawn = part.candidates[part.present].score.queries[index];
        // Three times the error of a share of one half covers the mean of a product of two shares.
        CHECK(std::abs(exact.examined - drawn.examined) <= 3 * part.there.error_of_half * 60'000);
        CHECK(std::abs(exact.examined - drawn.examined) <= 0.05 * exact.examined);
        CHECK(std::abs(exact.returned - drawn.returned) <= 0.05 * exact.returned);
    }
    CHECK(std::abs(part.candidates[part.present].score.queries[2].examined - 1) <
        1e-9); // point queries are also recognized in a sample
}
