// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "support/catch.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <cmath>
#include <limits>

using namespace entitable;

namespace {

struct measured {
    std::string station;
    std::int32_t minute{};
    double celsius{};
    std::optional<std::int64_t> rain;
    std::optional<std::string> remark;
};
ENTITABLE(measured, partition_key(station), row_key(minute), properties(celsius, rain, remark))

using m = fields<measured>;

struct stations {
    stations() { readings.create().value(); }
    void add(std::initializer_list<measured> all) const {
        for (measured const& each : all) { readings.insert(each).value(); }
    }
    memory_backend store;
    testing::spy<memory_backend> watched{store};
    table<measured> readings{watched, "readings"};
};

/// Returns rows in random order, like the Table API of Cosmos DB.
struct unordered {
    using is_transport = void;
    memory_backend store;
    [[nodiscard]] entitable::profile profile() const {
        auto limits = store.profile();
        limits.ordered = false;
        return limits;
    }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        return store.execute(request, context);
    }
};

} // namespace

TEST_CASE("aggregates: several aggregates are computed in one pass, which fetches only the necessary properties") {
    stations in;
    in.add({{"a", 1, 2.5, 10, {}}, {"a", 2, -1.5, {}, "cold"}, {"b", 1, 8, 5, {}}});
    auto const [n, least, most, sum, mean] =
        in.readings.scan_table()
            .fold(count(), min(m::celsius), max(m::celsius), entitable::sum(m::rain), average(m::celsius))
            .value();
    CHECK(n == 3);
    CHECK(least == -1.5);
    CHECK(most == 8);
    CHECK(sum == 15);
    CHECK(mean == 3);
    auto const asked = in.watched.all<query_entities>();
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].select == projection{"celsius", "rain"});
    CHECK(std::get<0>(in.readings.scan_table().fold(count()).value()) == 3);
    CHECK(in.watched.all<query_entities>()[1].select == projection{"PartitionKey", "RowKey"});
    // A component of a key.
    CHECK(std::get<0>(in.readings.scan_table().fold(max(m::minute)).value()) == 2);
}

TEST_CASE("aggregates: no rows, absent values, NaN and infinity are handled") {
    stations in;
    auto const none = in.readings.scan_table().fold(
        count(), min(m::celsius), entitable::sum(m::rain), average(m::rain), max(m::remark));
    CHECK(none.value() == std::tuple{0U, std::nullopt, 0, std::nullopt, std::nullopt});
    double const nan = std::numeric_limits<double>::quiet_NaN();
    double const infinity = std::numeric_limits<double>::infinity();
    in.add(
        {{"a", 1, nan, {}, {}}, {"a", 2, 1, std::numeric_limits<std::int64_t>::max(), {}}, {"b", 3, infinity, 1, {}}});
    auto const some = in.readings.scan_table().fold(min(m::celsius), max(m::celsius), average(m::rain)).value();
    CHECK(std::get<0>(some) == 1);
    CHECK(std::get<1>(some) == infinity);
    CHECK(std::get<2>(some) == 0x1p62);
    CHECK(std::isnan(std::get<0>(in.readings.scan_table().fold(average(m::celsius)).value()).value()));
    CHECK(std::get<0>(in.readings.where(m::station == "b").fold(average(m::celsius)).value()) == infinity);
    auto const too_large = in.readings.scan_table().fold(count(), entitable::sum(m::rain));
    CHECK(too_large.error().code == error_code::out_of_range_input);
    CHECK(in.readings.scan_table().sum(m::rain).error().code == error_code::out_of_range_input);
}

TEST_CASE("aggregates: a mean does not lose small values next to large ones") {
    stations in;
    in.add({{"a", 1, 1e16, {}, {}}, {"a", 2, 1, {}, {}}, {"a", 3, -1e16, {}, {}}, {"a", 4, 1, {}, {}}});
    CHECK(std::get<0>(in.readings.scan_table().fold(average(m::celsius)).value()) == 0.5);
}

TEST_CASE("aggregates: groups are returned in the order of their values") {
    stations in;
    in.add({{"a", 1, 1, {}, "x"}, {"a", 2, 2, {}, {}}, {"b", 1, 3, {}, "x"}, {"c", 9, 4, {}, "w"}});
    auto const by_station = in.readings.scan_table().group_by(m::station, count(), entitable::sum(m::celsius)).value();
    REQUIRE(by_station.size() == 3);
    CHECK(by_station[0] == std::pair{std::string{"a"}, std::tuple<std::uint64_t, double>{2, 3}});
    CHECK(by_station[2] == std::pair{std::string{"c"}, std::tuple<std::uint64_t, double>{1, 4}});
    auto const by_remark = in.readings.scan_table().page_size(1).group_by(m::remark, count()).value();
    REQUIRE(by_remark.size() == 3);
    CHECK_FALSE(by_remark[0].first);
    CHECK(by_remark[1].first == "w");
    CHECK(std::get<0>(by_remark[2].second) == 2);
    double const nan = std::numeric_limits<double>::quiet_NaN();
    in.add({{"d", 1, nan, {}, {}}, {"d", 2, 1, {}, {}}, {"d", 3, nan, {}, {}}});
    auto const by_number = in.readings.where(m::station == "d").group_by(m::celsius, count()).value();
    REQUIRE(by_number.size() == 2);
    CHECK(by_number[0].first == 1);
    CHECK(std::get<0>(by_number[1].second) == 2); // NaN is one group
    CHECK(in.readings.where(m::station == "none").group_by(m::minute, count()).value().empty());
    // The error of a page is not a smaller result.
    table<measured> const missing{in.store, "nowhere"};
    CHECK(missing.scan_table().group_by(m::station, count()).error().code == error_code::table_not_found);
    CHECK(missing.scan_table().fold(count()).error().code == error_code::table_not_found);
}

TEST_CASE("predicates: a predicate tests if a property is present or absent") {
    stations in;
    in.add({{"a", 1, 1, {}, "x"}, {"a", 2, std::numeric_limits<double>::quiet_NaN(), 0, {}}, {"b", 1, 3, {}, ""}});
    auto const found = [&](auto const& predicate) { return in.readings.scan_table(predicate).count().value(); };
    CHECK(found(present(m::remark)) == 2);
    CHECK(found(m::remark != std::nullopt) == 2);
    CHECK(found(m::remark == std::nullopt) == 1);
    CHECK(found(!present(m::remark)) == 1);
    CHECK(found(!(m::remark == std::nullopt)) == 2);
    CHECK(found(present(m::celsius)) == 3); // a NaN is present
    CHECK(found(present(m::rain) && m::minute >= 1) == 1);
    CHECK(in.readings.where(m::station == "a" && m::rain == std::nullopt).count().value() == 1);
}

TEST_CASE("partitions: finds each partition by skipping over the rows of the previous partition") {
    stations in;
    CHECK(in.readings.partitions().value().empty());
    for (std::int32_t minute = 0; minute < 50; ++minute) { in.add({{minute % 2 == 0 ? "a" : "b", minute, 0, {}, {}}}); }
    in.add({{"", 1, 0, {}, {}}, {"\xEF\xBC\xA1", 1, 0, {}, {}}, {"\xF0\x9F\x98\x80", 1, 0, {}, {}}});
    call own;
    for (std::string_view const partition : {"b", "bb", "z"}) {
        CHECK(in.store.execute(
            write_entity{"readings", mutation::insert(row_builder{partition, "~!op!1"}.build())}, own));
    }
    auto const before = in.watched.seen().size();
    // In UTF-16 order: the surrogates of the last one sort before U+FF21.
    CHECK(
        in.readings.partitions().value() == std::vector<std::string>{"", "a", "b", "\xF0\x9F\x98\x80", "\xEF\xBC\xA1"});
    CHECK(in.watched.seen().size() - before == 10); // 5, two for system rows with a second read, one at the end
    table<measured> const missing{in.store, "nowhere"};
    CHECK(missing.partitions().error().code == error_code::table_not_found);
    table<measured> const in_no_order{unordered{in.store}, "readings"};
    CHECK(in_no_order.partitions().error().code == error_code::not_supported);
}
