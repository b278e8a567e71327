// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A figure shown for a query is what the query returns, or says which members it is a mean over.

#include <entitable/advice.hpp>
#include <entitable/entitable.hpp>
#include <entitable/local/memory/memory_backend.hpp>

#include <support/catch.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

using namespace entitable;

namespace constants_test {

struct registration {
    std::string event, distance;
    std::int32_t bib{};
    std::int32_t age{};
};
ENTITABLE(registration, partition_key(event, distance), row_key(bib), properties(age))

std::vector<registration> registrations() {
    std::vector<registration> all;
    for (std::int32_t bib = 0; bib < 9'000; ++bib) {
        all.push_back({"NYC",
            bib % 6 < 3       ? "Full"
                : bib % 6 < 5 ? "Half"
                              : "10 Km",
            bib * 7919 % 9'000, 18 + bib % 60});
    }
    return all;
}

} // namespace constants_test

using namespace constants_test;
using r = fields<registration>;

TEST_CASE("the rows of each query as written are what the table returns") {
    std::vector<registration> const all = registrations();
    table<registration> runners{memory_backend{}, "runners"};
    runners.create().value();
    for (registration const& each : all) { runners.insert(each).value(); }
    auto const sample = sample_of(all).value();
    auto const agrees = [&](auto const& condition, std::string const& figures) {
        workload load;
        load.scans("q", condition, {});
        query_score const score = score_keys(sample, load, sample.declared()).queries.at(0);
        INFO(load.queries()[0].to_string());
        CHECK(score.figures_of() == figures);
        CHECK(std::fabs(score.returned - static_cast<double>(runners.scan_table(condition).count().value())) < 1e-9);
    };
    auto const full = r::event == "NYC" && r::distance == "Full";
    agrees(full && r::bib >= 1'000 && r::bib < 2'000, "as written");
    agrees(r::event == "NYC" && r::bib < 1'000, "as written");
    agrees(r::age >= 50, "as written");
    agrees(r::age != 18, "as written");
    agrees(full && r::age != 18, "as written");
    agrees(starts_with(r::distance, "1") && r::event == "NYC", "as written");
    agrees((full && r::bib < 100) || r::age >= 70, "as written"); // alternatives that overlap
    agrees(r::age >= 20 || r::age >= 40, "as written");
    agrees(!(r::distance == "Full"), "as written");
    agrees(full && r::bib == 1'234, "mean over event, distance, bib"); // one row, whatever the values
}

TEST_CASE("equalities alone are placeholders, and say so") {
    auto const sample = sample_of(registrations()).value();
    workload load;
    load.reads("of a distance", r::event == "NYC" && r::distance == "Full", {})
        .reads("the same, given", r::event == "NYC" && r::distance == "Full", {.values = asked_values::given})
        .reads("placeholders", r::event == "?" && r::distance == "?" && r::bib >= 1'000 && r::bib < 2'000, {})
        .reads("written, as stored", r::event == "NYC" && r::distance == "Full" && r::bib >= 1'000 && r::bib < 2'000,
            {.values = asked_values::as_stored})
        .reads("zipf", r::event == "NYC" && r::distance == "Full" && r::bib < 2'000, {.zipf = 1});
    key_score const score = score_keys(sample, load, sample.declared());
    // 4,500, 3,000 and 1,500 rows: each is queried as often as it has rows
    CHECK(score.queries[0].returned == (4'500.0 * 4'500 + 3'000.0 * 3'000 + 1'500.0 * 1'500) / 9'000);
    CHECK(score.queries[0].figures_of() == "mean over event, distance");
    CHECK(score.queries[1].returned == 4'500);
    CHECK(score.queries[1].figures_of() == "as written");
    std::map<std::string, double> inside;
    for (registration const& each : registrations()) {
        inside[each.distance] += each.bib >= 1'000 && each.bib < 2'000 ? 1 : 0;
    }
    double const mean = (4'500 * inside["Full"] + 3'000 * inside["Half"] + 1'500 * inside["10 Km"]) / 9'000;
    CHECK(std::fabs(score.queries[2].returned - mean) < 1e-9);
    CHECK(score.queries[2].figures_of() == "mean over event, distance");
    CHECK(std::fabs(score.queries[3].returned - mean) < 1e-9);
    CHECK(score.queries[4].figures_of() == "mean over event, distance");
    CHECK(score.to_string().find("mean over event, distance") != std::string::npos);
}

TEST_CASE("a query that must be one page is reported before growth breaks it") {
    std::vector<registration> const all = registrations();
    auto const sample = sample_of(all).value();
    auto const found = [&](auto const& condition, double writes, query_rate rate) {
        workload load;
        rate.one_page = true;
        load.scans("q", condition, rate).writes("new", {.per_second = writes});
        advice const given = advise(sample, load).value();
        finding const* const one = given.find(finding_kind::several_pages);
        return one == nullptr ? std::string{"none"} : std::string{to_string(one->how)} + ": " + one->evidence;
    };
    auto const full = r::event == "NYC" && r::distance == "Full";
    // 501 rows of 9,000: a page of 1,000 is full at 9,000 x 1,000 / 501 rows.
    double const seconds = 9'000 * (1'000.0 / 501 - 1) / 0.01;
    CHECK(std::fabs(seconds - 896'407.2) < 0.1);
    CHECK(found(full && r::bib >= 1'000 && r::bib < 2'000, 0.01, {}) ==
        "warning: its largest result has 501 of at most 1,000 entities in a page; at 0.01 new entities/s it has a "
        "second "
        "page in 249 h");
    CHECK(found(full && r::bib >= 1'000 && r::bib < 2'000, 0.0001, {}) == "none"); // in three years
    CHECK(found(full && r::bib >= 1'000 && r::bib < 2'000, 0, {}) == "none");
    // Not the mean decides, but the distance with the most rows.
    CHECK(found(r::event == "NYC" && r::distance == "10 Km", 1, {}) ==
        "problem: its largest result has 4,500 of at most 1,000 entities in a page");
    CHECK(found(full && r::bib == 7, 1'000, {}) == "none"); // a single row never continues
    CHECK(found(r::event == "NYC" && r::distance == "10 Km" && r::bib < 600, 0, {}) == "none");

    table<registration> runners{memory_backend{}, "runners"};
    CHECK(runners.where(full && r::bib == 7).explain().value().never_continues);
    CHECK(runners.where(full && (r::bib == 7 || r::bib == 9)).explain().value().never_continues);
    CHECK(runners.where(full && (r::bib == 7 || r::bib == 9)).explain().value().requests == 2);
    CHECK_FALSE(runners.where(full).explain().value().never_continues);
    CHECK_FALSE(runners.where(full && r::bib >= 7 && r::bib < 9).explain().value().never_continues);
    CHECK(runners.where(full && r::bib == 7).explain().value().to_string().find("point, exactly 1 request") !=
        std::string::npos);
}

TEST_CASE("constants of an empty sample and of members that no row has") {
    std::vector<registration> const none;
    workload load;
    load.reads("q", r::event == "NYC" && r::distance == "Full" && r::bib < 3, {});
    asked_query unknown;
    unknown.name = "unknown";
    unknown.nodes.push_back({filter_operator::equal, asked_node::test::value, "nothing", value{std::int32_t{1}}});
    unknown.scan_allowed = true;
    load.add(unknown);
    auto const empty = sample_of(none).value();
    key_score const score = score_keys(empty, load, empty.declared());
    CHECK(score.queries[0].returned == 0);
    auto const sample = sample_of(registrations()).value();
    CHECK(score_keys(sample, load, sample.declared()).queries[1].returned == 0);
}

TEST_CASE("a range over large partitions costs more than a scan of a table with few and small ones") {
    workload load;
    load.reads("range", r::event == "NYC" && r::bib < 1'000, {}).scans("scan", r::age >= 50, {});
    std::vector<registration> few;
    for (std::int32_t bib = 0; bib < 200; ++bib) {
        few.push_back({"Village", bib % 2 == 0 ? "Full" : "Half", bib, 18 + bib % 60});
    }
    auto const large = sample_of(registrations()).value();
    auto const small_table = sample_of(few).value();
    query_score const range = score_keys(large, load, large.declared()).queries.at(0);
    query_score const scan = score_keys(small_table, load, small_table.declared()).queries.at(1);
    CHECK(range.access == access_path::partition_range);
    CHECK(scan.access == access_path::table);
    // By hand: a request takes 5 ms, a row that is examined 20 us.
    CHECK(std::abs(range.seconds - (0.005 + 9'000 * 20e-6)) < 1e-9);
    CHECK(std::abs(scan.seconds - (0.005 + 200 * 20e-6)) < 1e-9);
    CHECK(range.seconds > 20 * scan.seconds);
}
