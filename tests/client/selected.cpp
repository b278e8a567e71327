// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <support/catch.hpp>
#include <support/runners.hpp>
#include <support/wide.hpp>

#include <type_traits>

using namespace entitable;
using namespace entitable_test;

namespace {

auto const in_boston = r::event == "Boston" && r::distance == "Full";

/// An earlier and the current version of an entity.
struct member_before {
    std::string club;
    std::int32_t number{};
};
ENTITABLE(member_before, partition_key(club), row_key(number), properties())

struct member {
    std::string club;
    std::int32_t number{};
    std::int32_t fee{18};
    std::string role{"guest"};
    std::optional<std::int32_t> age{30};
    std::int32_t visits{};
};
ENTITABLE(member, partition_key(club), row_key(number), properties(fee, role, age, visits))

} // namespace

TEST_CASE("select() returns the named members, the keys and the ETag") {
    wide_transport store;
    auto const all = runners(store, 5);
    auto const query = all.where(in_boston && r::bib >= 3).select(r::name, r::age);
    static_assert(std::remove_cvref_t<decltype(query)>::access == access_path::row_range);

    auto const row = query.first().value().value();
    CHECK(row[r::name] == "runner 3");
    CHECK(row[r::age] == 23);
    CHECK(row[r::event] == "Boston");
    CHECK(row[r::distance] == "Full");
    CHECK(row[r::bib] == 3);
    auto const whole = all.get_stored("Boston", "Full", 3).value();
    CHECK(row.etag() == whole.etag);
    CHECK(row.timestamp() == whole.timestamp);
    CHECK(row.get<0>() == "runner 3");
    auto const& [name, age] = row;
    CHECK(name == "runner 3");
    CHECK(age == std::optional{23});
    static_assert(std::is_same_v<decltype(row[r::age]), std::optional<std::int32_t> const&>);
    static_assert(std::tuple_size_v<std::remove_const_t<decltype(row)>> == 2);

    CHECK(store.log->queries.back().select == projection{"name", "age"});
    CHECK(query.count().value() == 3);
    CHECK(query.to().value()[1][r::age] == std::nullopt); // absent, and not the value of the previous row
}

TEST_CASE("lenient: a missing property leaves the default value in its member, with every kind of read") {
    memory_backend const store;
    call_options how;
    how.reading = reading::lenient;
    table<member> const members{store, "Members", how};
    members.create().value();
    table<member_before>{store, "Members"}.insert({"chess", 1}).value();
    members.insert({"chess", 2, 5, "head", 40, 7}).value();
    table<member_before>{store, "Members"}.insert({"chess", 3}).value();
    using m = fields<member>;
    std::string whole;
    std::string some;
    auto const all = members.where(m::club == "chess");
    auto const tell = [](auto fee, std::string const& role, std::optional<std::int32_t> age) {
        return std::to_string(fee) + role + std::to_string(age.value_or(-1)) + " ";
    };
    REQUIRE(all.for_each([&](member const& each) { whole += tell(each.fee, each.role, each.age); }));
    for (auto const& each : all.select(m::age, m::fee, m::number, m::role).to().value()) {
        some += tell(each[m::fee], each[m::role], each[m::age]);
    }
    CHECK(whole == "18guest-1 5head40 18guest-1 "); // an optional one is absent
    CHECK(some == whole);
    CHECK(all.sum(m::fee).value() == 18 + 5 + 18);
    CHECK(all.max(m::role).value() == "head");
    CHECK(all.sum(m::visits).value() == 7);
    CHECK(all.group_by(m::role, count(), sum(m::fee)).value()[0].first == "guest");
    CHECK(all.count().value() == 3);
    // Pages that are requested in advance are read by other code.
    auto const paged = all.page_size(1).in_flight(2);
    CHECK(paged.sum(m::fee).value() == 18 + 5 + 18);
    CHECK(paged.max(m::role).value() == "head");
    CHECK(paged.group_by(m::role, sum(m::fee), sum(m::visits)).value().size() == 2);
    CHECK(paged.group_by(m::role, sum(m::fee)).value()[0].second == std::tuple{std::int64_t{36}});
    CHECK(paged.order_by(m::fee).to().value()[0].number == 2);
}

TEST_CASE("the size of a selected row depends on its members") {
    using narrow = decltype(std::declval<table<runner>>().scan_table().select(r::pace))::value_type;
    static_assert(sizeof(narrow) < sizeof(runner) + sizeof(etag) + sizeof(date_time));
    static_assert(std::is_default_constructible_v<narrow> && std::is_copy_constructible_v<narrow>);
}

TEST_CASE("only keys are requested from the service if no property was selected") {
    wide_transport store;
    auto const all = runners(store, 3);
    auto const query = all.where(in_boston).select(r::bib);
    CHECK(query.first().value()->get<0>() == 1);
    CHECK(store.log->queries.back().select == projection{"PartitionKey", "RowKey"});
    CHECK(all.where(in_boston).count().value() == 3);
    CHECK(store.log->queries.back().select == projection{"PartitionKey", "RowKey"});
}

TEST_CASE("properties that the client filters by are also requested") {
    wide_transport store;
    auto const all = runners(store, 9);
    // Keys and properties in one disjunction: the client decides.
    auto const query = all.where(in_boston && (r::bib == 1 || r::age == 25 || r::pace == 10.0));
    REQUIRE(query.explain().value().client_filter != "");
    CHECK(query.explain().value().properties.empty());
    auto const explained = query.select(r::name, r::age).explain().value();
    CHECK(explained.properties == projection{"name", "age", "pace"});
    CHECK(explained.to_string().ends_with("\nproperties     name, age, pace\n"));
    std::vector<std::int32_t> seen;
    query.select(r::name, r::age).for_each([&](auto const& row) { seen.push_back(row[r::bib]); }).value();
    CHECK(seen == std::vector<std::int32_t>{1, 5, 6});
    CHECK(store.log->queries.back().select == projection{"name", "age", "pace"});
    CHECK(query.count().value() == 3);
    CHECK(store.log->queries.back().select == projection{"PartitionKey", "RowKey", "age", "pace"});
    CHECK(query.sum(r::bib).value() == 12);
}

TEST_CASE("a row without a selected member is refused, and the error names the member") {
    memory_backend store;
    auto const all = runners(store, 1);
    row_builder foreign{"Boston__Full", "0000000007"};
    foreign.add("name", value_view{"only a name"});
    call context;
    (void)store.execute(write_entity{"runners", mutation::insert(foreign.build())}, context).value();
    auto const failed = all.where(in_boston && r::bib == 7).select(r::pace).first();
    CHECK(failed.error().code == error_code::row_mismatch);
    CHECK_THAT(failed.error().message, ContainsSubstring("\"pace\" is absent"));
    CHECK(
        all.where(in_boston && r::bib == 7).select(r::name, r::age).first().value().value()[r::name] == "only a name");
}

TEST_CASE("a selected query supports everything that a query does") {
    memory_backend store;
    auto const all = runners(store, 9);
    auto const query = all.where(in_boston).page_size(4).select(r::age);
    std::int32_t sum = 0;
    for (auto const& row : query) { sum += row[r::age].value_or(0); }
    CHECK(sum == 21 + 22 + 23 + 25 + 26 + 27 + 29);
    CHECK(query.take(2).to().value().size() == 2);
    auto pages = query.pages();
    auto const first = pages.next().value().value();
    CHECK(first.size() == 4);
    auto rest = query.resume(*first.token).to().value();
    CHECK(rest.front()[r::bib] == 5);
    CHECK(rest.size() == 5);
    // The token contains the selection: otherwise it would return other rows.
    CHECK(all.where(in_boston).page_size(4).resume(*first.token).count().error().code ==
        error_code::continuation_invalid);
}
