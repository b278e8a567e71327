// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/memory.hpp>

#include <support/catch.hpp>
#include <support/runners.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

template <class Predicate>
std::string explained(Predicate const& predicate) {
    memory_backend store;
    table<typename Predicate::entity_type> any{store, "runners"};
    return any.scan_table(predicate).explain().value().to_string();
}

auto const in_boston = r::event == "Boston" && r::distance == "Full";
template <class Predicate>
constexpr access_path path = path_of(Predicate::shapes, mapping<typename Predicate::entity_type>::partition_layout,
    mapping<typename Predicate::entity_type>::row_layout);

std::vector<std::int32_t> numbers(std::int32_t first, std::int32_t count) {
    std::vector<std::int32_t> all;
    for (std::int32_t next = first; next < first + count; ++next) { all.push_back(next); }
    return all;
}

} // namespace

TEST_CASE("between() includes both ends and is a range of keys") {
    auto const query = in_boston && between(r::bib, 5, 7);
    static_assert(path<decltype(query)> == access_path::row_range);
    CHECK(explained(query) ==
        "access         row_range, begins with 1 request\n"
        "key range      PartitionKey == \"Boston__Full\" && RowKey >= \"0000000005\" && RowKey <= \"0000000007\"\n"
        "server filter  none\n"
        "client filter  none\n");
    CHECK_THAT(explained(between(r::pace, 1.5, 2)), ContainsSubstring("pace >= 1.5 && pace <= 2"));

    memory_backend store;
    auto const all = runners(store, 9);
    CHECK(bibs(all.where(query)) == numbers(5, 3));
    CHECK(bibs(all.where(in_boston && !between(r::bib, 3, 8))) == std::vector<std::int32_t>{1, 2, 9});
    CHECK(bibs(all.where(in_boston && between(r::bib, 7, 5))).empty());
    CHECK(bibs(all.where(in_boston && between(r::age, 21, 25))) == std::vector<std::int32_t>{1, 2, 3, 5});
    CHECK(bibs(all.where(in_boston && !between(r::age, 21, 25))) == std::vector<std::int32_t>{4, 6, 7, 8, 9});
}

TEST_CASE("in() matches any value of a list") {
    auto const both = r::event == "Boston" && in(r::distance, {"Full", "Half"});
    static_assert(path<decltype(both)> == access_path::partition);
    auto const points = in_boston && in(r::bib, {3, 1, 2, 3});
    static_assert(path<decltype(points)> == access_path::point);
    static_assert(std::same_as<decltype(in(r::bib, {1})), decltype(in(r::bib, {1, 2, 3}))>);
    static_assert(std::same_as<decltype(in(r::bib, {1})), decltype(in(r::bib, numbers(1, 2)))>);
    static_assert(std::same_as<decltype(in(r::bib, {1})), decltype(r::bib == 1)>);

    memory_backend store;
    auto const all = runners(store, 9);
    CHECK(all.where(points).explain().value().requests == 3);
    CHECK(bibs(all.where(points)) == numbers(1, 3));
    CHECK(bibs(all.where(both && r::bib == 4)) == std::vector<std::int32_t>{4, 4});
    CHECK(bibs(all.where(in_boston && !in(r::bib, {2, 4, 6, 8}))) == std::vector<std::int32_t>{1, 3, 5, 7, 9});
    CHECK(bibs(all.where(in_boston && in(r::age, numbers(21, 3)))) == numbers(1, 3));
    CHECK(bibs(all.where(in_boston && in(r::name, std::vector<std::string>{"runner 5"}))) == numbers(5, 1));
    std::int32_t const array[] = {8, 9};
    CHECK(bibs(all.where(in_boston && in(r::bib, array))) == numbers(8, 2));
}

TEST_CASE("in() without values accepts nothing, and its negation accepts everything") {
    memory_backend store;
    auto const all = runners(store, 3);
    std::vector<std::int32_t> const none;
    CHECK(bibs(all.where(in_boston && in(r::bib, none))).empty());
    CHECK(all.where(in_boston && in(r::bib, none)).explain().value().requests == 0);
    CHECK(bibs(all.where(in_boston && in(r::age, none))).empty());
    CHECK(bibs(all.where(in_boston && !in(r::age, none))) == numbers(1, 3));
    CHECK(bibs(all.where(in_boston && !in(r::bib, none))) == numbers(1, 3));
    CHECK(bibs(all.where(in_boston && (in(r::bib, none) || r::age == 22))) == numbers(2, 1));
    CHECK(bibs(all.where(in_boston && (r::age == 22 || in(r::bib, none)))) == numbers(2, 1));
    CHECK(all.scan_table(in(r::age, none) || in(r::bib, none)).count().value() == 0);
    CHECK(explained(!(in(r::bib, none) && r::bib != 4)) ==
        "access         table, begins with 1 request\n"
        "key range      RowKey < \"~!\"\n"
        "server filter  none\n"
        "client filter  none\n");
}

TEST_CASE("in() counts a value once, however often it is listed") {
    memory_backend store;
    auto const all = runners(store, 9);
    std::vector<std::int32_t> many = numbers(1, 500);
    std::vector<std::int32_t> const again = numbers(0, 501);
    many.insert(many.end(), again.begin(), again.end());
    CHECK(many.size() == 1001);
    auto const rows = all.where(in_boston && in(r::bib, many));
    CHECK(rows.explain().value().key_ranges.size() == 501);
    CHECK(bibs(rows) == numbers(1, 9));
    CHECK(all.where(in_boston && !in(r::bib, many)).count().value() == 0);

    // With a property: the service allows 15 comparisons, and gets each value once.
    std::vector<std::int32_t> ages;
    for (int round = 0; round < 100; ++round) { ages.insert(ages.end(), {21, 22, 23}); }
    using of = mapping<runner>;
    auto const plan = make_plan((in_boston && in(r::age, ages)).nodes(), access_path::partition, of::partition_layout,
        of::row_layout, storage_profile())
                          .value();
    CHECK(plan.server.to_string() == "age == 21 || age == 22 || age == 23");
    CHECK(plan.client.empty());
    CHECK(bibs(all.where(in_boston && in(r::age, ages))) == numbers(1, 3));

    // The cost of many values is linear in their number.
    std::vector<std::string> names;
    for (int number = 0; number < 50'000; ++number) { names.push_back("runner " + std::to_string(number % 25'000)); }
    CHECK(all.where(in_boston && in(r::name, names)).count().value() == 9);
}

TEST_CASE("more than 1000 values of a key are refused when the query is run") {
    memory_backend store;
    auto const all = runners(store, 3);
    CHECK(all.where(in_boston && in(r::bib, numbers(1, 1000))).count().value() == 3);
    auto const many = all.where(in_boston && in(r::bib, numbers(1, 1001)));
    CHECK(many.count().error().code == error_code::query_too_complex);
    CHECK(many.explain().error().code == error_code::query_too_complex);
    CHECK(many.first().error().code == error_code::query_too_complex);
    CHECK(many.pages().next().error().code == error_code::query_too_complex);
    // Values of a property are not key ranges: the client checks conditions that do not fit into the service's filter.
    CHECK(all.where(in_boston && in(r::age, numbers(1, 3000))).count().value() == 3);
}

TEST_CASE("starts_with() on a key component is a range, and exact if the separator is unambiguous") {
    auto const year = starts_with(r::event, "2011");
    static_assert(path<decltype(year)> == access_path::partition_range);
    CHECK(explained(year) ==
        "access         partition_range, begins with 1 request\n"
        "key range      PartitionKey >= \"2011\" && PartitionKey < \"2012\" && RowKey < \"~!\"\n"
        "server filter  none\n"
        "client filter  none\n");
    CHECK_THAT(
        explained(starts_with(r::event, "New_")), ContainsSubstring("client filter  event starts with \"New_\""));
    CHECK_THAT(explained(!year), ContainsSubstring("client filter  !(event starts with \"2011\")"));

    memory_backend store;
    table<runner> all{store, "runners"};
    all.create().value();
    std::int32_t bib = 0;
    for (std::string const event :
        {"2010", "201", "2011", "2011 New York", "2012", "20", "20_x", "2\U0001F600", "2\uFF5E"}) {
        all.insert({event, "11", ++bib, "", {}, 0}).value();
        all.insert({event, "_11", ++bib, "", {}, 0}).value();
    }
    auto const events = [&](auto const& predicate) {
        std::string found;
        all.where(predicate)
            .for_each([&](runner const& one) { found += one.distance == "11" ? one.event + ";" : ""; })
            .value();
        return found;
    };
    CHECK(events(starts_with(r::event, "2011")) == "2011 New York;2011;");
    CHECK(events(starts_with(r::event, "20_")) == "20_x;"); // not "20" before its separator
    CHECK(events(starts_with(r::event, "20__")) == "");     // nor texts after it
    CHECK(events(starts_with(r::event, "2\U0001F600")) == "2\U0001F600;");
    CHECK(events(starts_with(r::event, "2\uFF5E")) == "2\uFF5E;");
    CHECK(all.scan_table(starts_with(r::event, "")).count().value() == 18);
    CHECK(all.scan_table(!starts_with(r::event, "20")).count().value() == 4);
    CHECK(events(starts_with(r::event, "20") && r::event == "2011") == "2011;");
    CHECK(all.where(r::event == "20" && starts_with(r::distance, "_1")).count().value() == 1);
}

TEST_CASE("starts_with() on a text component after other components is a range of row keys") {
    auto const first = l::series == "A" && l::year == 2011 && l::place == 1 && starts_with(l::note, "x_");
    static_assert(path<decltype(first)> == access_path::row_range);
    CHECK_THAT(explained(first), ContainsSubstring("RowKey >= \"0000002011__0000000001__x_\" && RowKey < "));
    CHECK_THAT(explained(first), ContainsSubstring("client filter  none")); // it is the last one
}

TEST_CASE("starts_with() on a property is two comparisons, false if it is absent") {
    CHECK_THAT(explained(starts_with(l::remark, "ab")), ContainsSubstring("remark >= \"ab\" && remark < \"ac\""));
    CHECK_THAT(explained(starts_with(l::remark, "")), ContainsSubstring("server filter  remark >= \"\""));
    memory_backend store;
    table<result_line> all{store, "lines"};
    all.create().value();
    std::int32_t place = 0;
    for (std::string const remark : {"a", "ab", "abc", "ac", "a\uFF5E", "a\U0001F600x"}) {
        all.insert({"A", 2011, ++place, "", remark}).value();
    }
    all.insert({"A", 2011, ++place, "", {}}).value();
    auto const places = [&](auto const& predicate) {
        std::string found;
        all.where(l::series == "A" && predicate)
            .for_each([&](result_line const& one) { found += std::to_string(one.place); })
            .value();
        return found;
    };
    CHECK(places(starts_with(l::remark, "ab")) == "23");
    CHECK(places(starts_with(l::remark, "a\uFF5E")) == "5");
    CHECK(places(starts_with(l::remark, "a\U0001F600")) == "6");
    CHECK(places(starts_with(l::remark, "")) == "123456");
    CHECK(places(!starts_with(l::remark, "ab")) == "14567");
}

TEST_CASE("when() adds at most one condition and does not change the access path") {
    memory_backend store;
    auto const all = runners(store, 9);
    for (bool const fast : {false, true}) {
        for (bool const old : {false, true}) {
            auto const query = in_boston && when(fast, r::pace <= 8.0) && when(old, r::age >= 22 || r::bib == 1);
            static_assert(path<decltype(query)> == access_path::partition);
            std::vector<std::int32_t> expected;
            all.where(in_boston)
                .for_each([&](runner const& one) {
                    if ((!fast || one.pace <= 8.0) && (!old || one.age >= 22 || one.bib == 1)) {
                        expected.push_back(one.bib);
                    }
                })
                .value();
            CHECK(bibs(all.where(query)) == expected);
            CHECK(bibs(all.where(when(fast, r::pace <= 8.0) && when(old, r::age >= 22 || r::bib == 1) && in_boston)) ==
                expected);
        }
    }
    // The remaining condition can be on either side, be negated as a part of the whole, and narrow the keys.
    CHECK(bibs(all.where(when(false, r::bib == 3) && in_boston)).size() == 9);
    CHECK(bibs(all.where(in_boston && !(r::bib >= 3 && when(true, r::age >= 26)))) ==
        std::vector<std::int32_t>{1, 2, 3, 4, 5, 8});
    CHECK_THAT(explained(in_boston && when(true, r::bib == 3)), ContainsSubstring("access         partition,"));
    CHECK_THAT(explained(in_boston && when(true, r::bib == 3)), ContainsSubstring("RowKey == \"0000000003\""));
    CHECK(all.scan_table(when(false, r::bib == 3)).count().value() == 36);
    CHECK(all.scan_table(when(true, r::bib == 3)).count().value() == 4);
}
