// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/memory.hpp>

#include <support/catch.hpp>
#include <support/runners.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

template <class Predicate>
query_plan planned(Predicate const& predicate, profile const& limits = local_profile()) {
    using of = mapping<typename Predicate::entity_type>;
    return make_plan(predicate.nodes(), access_path::table, of::partition_layout, of::row_layout, limits).value();
}

auto const in_2011 = l::series == "A" && l::year == 2011;

} // namespace

TEST_CASE("a range that was extended by merging is also merged with the ranges before it") {
    // Two rows of a partition, then neighbouring partitions whose rows come before both.
    auto const rows = r::event == "A" && r::distance == "B" && (r::bib == 3 || r::bib == 7);
    auto const more = r::event == "A" && r::distance >= "B" && r::bib == 1;
    for (query_plan const& plan : {planned(rows || more), planned(more || rows)}) {
        REQUIRE(plan.ranges.size() == 1);
        CHECK(plan.ranges[0].contains("A__B", "0000000003"));
        CHECK(plan.ranges[0].contains("A__B", "0000000007"));
        CHECK(plan.ranges[0].contains("A__C", "0000000001"));
        CHECK_FALSE(plan.client.empty());
    }
    memory_backend store;
    auto const all = runners(store, 2);
    for (std::int32_t const bib : {1, 3, 5, 7}) {
        all.insert({"A", "B", bib, "", {}, 0}).value();
        all.insert({"A", "C", bib, "", {}, 0}).value();
    }
    CHECK(bibs(all.where(rows || more)) == std::vector<std::int32_t>{1, 3, 7, 1});
}

TEST_CASE("adjacent ranges stay separate, and overlapping ranges are merged") {
    auto const partition = r::event == "A" && r::distance == "B";
    CHECK(planned(partition && (r::bib < 5 || r::bib >= 5)).ranges.size() == 2);
    CHECK(planned(partition && (r::bib <= 5 || r::bib >= 5)).ranges.size() == 1);
    CHECK(planned(partition && (between(r::bib, 1, 5) || between(r::bib, 3, 9) || r::bib == 4)).ranges.size() == 1);
    CHECK(planned(partition && (between(r::bib, 1, 5) || between(r::bib, 3, 9) || r::bib == 4)).client.empty());
    CHECK(planned(partition && in(r::bib, {9, 3, 9, 1})).ranges.size() == 3);
    CHECK(planned(partition && r::bib > 5 && r::bib < 5).ranges.empty());
}

TEST_CASE("an absent component sorts after every other component and is in no range") {
    CHECK(planned(l::series == "A" && l::year >= 2011).ranges[0].to_string() ==
        "PartitionKey == \"A\" && RowKey >= \"0000002011\" && RowKey < \"~\"");
    CHECK(planned(l::series == "A" && l::year == std::nullopt).ranges[0].to_string() ==
        "PartitionKey == \"A\" && RowKey >= \"~__\" && RowKey < \"~_`\"");
    CHECK_FALSE(planned(l::series == "A" && !(l::year >= 2011)).client.empty()); // including absent ones
}

TEST_CASE("the client checks the components after a range") {
    auto const plan = planned(in_2011 && l::place > 3 && l::note == "x");
    CHECK(plan.ranges[0].to_string() ==
        "PartitionKey == \"A\" && RowKey >= \"0000002011__0000000003_`\" && RowKey < \"0000002011_`\"");
    CHECK_FALSE(plan.client.empty());
    CHECK(planned(in_2011 && l::place == 3 && l::note >= "x").client.empty());
}

TEST_CASE("the service gets at most as many comparisons as it allows, and the client evaluates the rest") {
    std::vector<std::int32_t> ages;
    for (std::int32_t age = 1; age <= 20; ++age) {
        ages.push_back(age);
        auto const plan = planned(r::event == "A" && r::distance == "B" && in(r::age, ages), storage_profile());
        CHECK(plan.server.comparisons() + plan.ranges[0].comparisons() <= 15);
        CHECK(plan.client.empty() == (plan.server.comparisons() == ages.size()));
    }
    CHECK(planned(r::event == "A" && r::distance == "B" && in(r::age, ages)).server.comparisons() == 20);
}

TEST_CASE("an empty in() is planned as a condition that is never true") {
    std::vector<std::int32_t> const none;
    CHECK(planned(in(r::age, none)).ranges.empty());
    CHECK(planned(in(r::age, none) || r::age == 5).server.comparisons() == 1);
    CHECK(planned(in(r::age, none) || r::age == 5).client.empty());
    CHECK(planned(in(r::age, none) && r::age == 5).ranges.empty());
    CHECK(planned(!in(r::age, none) && r::age == 5).client.empty());
}

TEST_CASE("the client checks conditions that do not fit into a URL, with the same result") {
    local_options how;
    how.limits = storage_profile();
    memory_backend limited{how};
    memory_backend store;
    std::string const long_text(16'000, 'x');
    std::string wide;
    for (int count = 0; count < 480; ++count) {
        wide += "\u4E16"; // 9 bytes in a URL
    }
    using of = mapping<result_line>;
    for (memory_backend const& where : {store, limited}) {
        table<result_line> const all{where, "lines"};
        all.create().value();
        all.insert({"A", 1, 1, "a", long_text}).value();
        all.insert({"A", 1, 1, "b", "y"}).value();
        all.insert({"A", 1, 1, wide, "z"}).value();
        all.insert({wide, 1, 1, wide, "z"}).value();
        all.insert({wide, 1, 1, wide + "x", "z"}).value();
        auto const series = l::series == "A";
        CHECK(all.where(series && l::remark == long_text).count().value() == 1);
        CHECK(all.where(series && l::remark == long_text + "x").count().value() == 0);
        CHECK(all.where(series && !(l::remark == long_text)).count().value() == 2);
        CHECK(all.where(series && (l::remark == long_text || l::remark == "y")).count().value() == 2);
        CHECK(all.where(series && in(l::remark, {long_text, long_text + "x", std::string{"z"}})).count().value() == 2);
        CHECK(all.where(series && starts_with(l::remark, long_text)).count().value() == 1);
        CHECK(all.where(l::series == wide && l::year == 1 && l::place == 1 && l::note == wide).count().value() == 1);
        CHECK(all.where(l::series == wide && l::year == 1 && l::place == 1 && l::note > wide).count().value() == 1);
        CHECK(all.where(l::series == wide && l::year == 1 && l::place == 1 && in(l::note, {wide, wide + "x"}))
                  .count()
                  .value() == 2);
        CHECK(all.where(series && l::year == 1 && l::place == 1 && l::note < long_text).count().value() == 2);
    }

    auto const explained = table<result_line>{limited, "lines"}
                               .where(l::series == "A" && l::remark == long_text && l::remark != "y")
                               .explain()
                               .value();
    CHECK(explained.server_filter == "remark != \"y\"");
    CHECK(explained.shortened_to == 8192);
    CHECK_THAT(explained.to_string(), ContainsSubstring("does not fit into 8192 bytes"));
    auto const short_one = make_plan((l::series == "A" && l::remark == "y").nodes(), access_path::partition,
        of::partition_layout, of::row_layout, storage_profile())
                               .value();
    CHECK(short_one.shortened_to == 0);
    CHECK(short_one.client.empty());
    // Many medium-sized ones: as many as fit are sent.
    std::vector<std::string> const texts(3, std::string(500, ' '));
    auto const some = make_plan(
        (l::series == "A" && l::remark != texts[0] && l::remark != texts[1] + "a" && l::remark != texts[2] + "b")
            .nodes(),
        access_path::partition, of::partition_layout, of::row_layout, storage_profile())
                          .value();
    CHECK(some.server.comparisons() == 2);
    CHECK_FALSE(some.client.empty());
}
