// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/advice.hpp>
#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/detail/ranking.hpp>
#include <entitable/core/random.hpp>

#include <support/catch.hpp>

#include <cmath>
#include <map>

using namespace entitable;
using entitable_test::ContainsSubstring;

namespace sample_test {

struct order {
    std::string customer;
    std::int32_t number{};
    std::optional<std::int32_t> year;
    std::string what;
    std::optional<double> price;
};
ENTITABLE(order, partition_key(customer, year), row_key(literal("order:"), number), properties(what, price))

std::vector<order> some_orders(int count) {
    random_source random{7};
    std::vector<order> all;
    for (int number = 0; number < count; ++number) {
        order one;
        one.customer = "customer " + std::to_string(random.bits() % 50);
        one.number = number;
        one.year = number % 10 == 0 ? std::nullopt : std::optional{2000 + number % 7};
        one.what = number % 5 == 0 ? "tea" : "coffee";
        one.price = number % 2 == 0 ? std::nullopt : std::optional{number * 0.25};
        all.push_back(one);
    }
    return all;
}

} // namespace sample_test

using namespace sample_test;

TEST_CASE("a complete sample finds the components of keys and the properties") {
    std::vector<order> const orders = some_orders(1'000);
    table_sample const sample = sample_of(orders).value();
    CHECK(sample.rows() == 1'000);
    CHECK(sample.size() == 1'000);
    CHECK(sample.whole());
    CHECK(sample.error_of(0.5) == 0);
    CHECK(sample.declared().to_string() == R"(partition_key(customer, year), row_key(literal("order:"), number))");
    REQUIRE(sample.find("customer") != nullptr);
    CHECK(sample.find("customer")->at == sample_column::place::partition);
    CHECK(sample.find("customer")->distinct() == 50);
    CHECK(sample.find("number")->distinct() == 1'000);
    CHECK(sample.find("year")->absent_rows() == 100);
    CHECK(sample.find("year")->distinct() == 7);
    CHECK(sample.find("price")->absent_rows() == 500);
    CHECK(sample.find("what")->value(sample.find("what")->codes[5]).as_string() == "tea");
    CHECK(sample.find("PartitionKey")->at == sample_column::place::key);
    CHECK(sample.find("nothing") == nullptr);

    std::map<std::string, std::uint64_t> partitions;
    std::uint64_t bytes = 0;
    for (order const& each : orders) {
        ++partitions[partition_key_of(each).value()];
        bytes += service_size(to_row(each).value());
    }
    CHECK(sample.bytes() == bytes);
    REQUIRE(sample.partitions().size() == partitions.size());
    for (std::uint32_t index = 0; index < sample.partitions().size(); ++index) {
        CHECK(sample.partitions()[index].rows == partitions[std::string{sample.partition_keys()[index]}]);
    }
}

TEST_CASE("in a random sample every row is equally likely") {
    // Which row is selected: 300 draws of 100 from 1,000 rows select each about 30 times, with a deviation of 5.2.
    std::vector<order> const orders = some_orders(1'000);
    std::vector<int> kept(1'000);
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        table_sample const sample = sample_of(orders, {.rows = 100, .seed = seed}).value();
        CHECK(sample.size() == 100);
        CHECK(sample.rows() == 1'000);
        sample_column const& number = *sample.find("number");
        CHECK(number.distinct() == 100);
        for (std::uint32_t const code : number.codes) {
            ++kept[static_cast<std::size_t>(std::stoi(std::string{number.value(code).as_string()}))];
        }
    }
    double squares = 0;
    for (int const count : kept) {
        CHECK(count > 5);
        CHECK(count < 60);
        squares += (count - 30.0) * (count - 30.0) / 30.0;
    }
    CHECK(squares / 1'000 > 0.75); // about 0.9: draws with one seed do not repeat rows
    CHECK(squares / 1'000 < 1.05);
}

TEST_CASE("the same seed draws the same rows, and a different seed draws different rows") {
    std::vector<order> const orders = some_orders(2'000);
    auto const numbers = [&](std::uint64_t seed) {
        return sample_of(orders, {.rows = 50, .seed = seed}).value().find("number")->codes;
    };
    CHECK(numbers(3) == numbers(3));
    CHECK_FALSE(numbers(3) == numbers(4));
}

TEST_CASE("a share estimated from a random sample is within its stated error in 95 of 100 samples") {
    std::vector<order> const orders = some_orders(5'000);
    int inside = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        table_sample const sample = sample_of(orders, {.rows = 500, .seed = seed}).value();
        sample_column const& what = *sample.find("what");
        std::uint32_t tea = 0;
        for (std::uint32_t code = 0; code < what.counts.size(); ++code) {
            tea += what.value(code).as_string() == "tea" ? what.counts[code] : 0;
        }
        double const share = tea / 500.0;
        inside += std::abs(share - 0.2) <= sample.error_of(share) ? 1 : 0;
    }
    CHECK(inside >= 34); // 38 expected, with a deviation of 1.4
}

TEST_CASE("rows without a type are analyzed by their whole keys") {
    sample_builder builder;
    for (int index = 0; index < 10; ++index) {
        row_builder row{"p" + std::to_string(index % 2), std::to_string(index)};
        if (index == 3) {
            row.add("age", value_view{"three"});
        } else {
            row.add("age", value_view{std::int32_t{index}});
        }
        if (index > 5) { row.add("late", value_view{true}); }
        builder.add(row.build());
    }
    census const there = take_census(std::move(builder).finish());
    CHECK(there.declared.to_string() == "partition_key(PartitionKey), row_key(RowKey)");
    CHECK(there.find("RowKey")->unique);
    CHECK(there.find("age")->types.size() == 2);
    CHECK(there.find("late")->present == 0.4);
    CHECK_THAT(there.to_string(), ContainsSubstring("Int32|String"));
}

TEST_CASE("a census counts partitions and measures how uneven they are") {
    partition_facts const even = detail::facts_of_sizes({10, 10, 10, 10});
    CHECK(even.count == 4);
    CHECK(even.gini == 0);
    CHECK(even.largest_share == 0.25);
    partition_facts const one = detail::facts_of_sizes({1, 1, 1, 97});
    CHECK(one.median == 1);
    CHECK(one.of_90_percent == 97);
    CHECK(std::abs(one.gini - 0.72) < 1e-12);
    CHECK(one.lorenz.front() == 0);
    CHECK(one.lorenz[16] == 0.97); // a quarter of the partitions: the largest one
    CHECK(one.lorenz.back() == 1);
    REQUIRE(one.classes.size() == 7);
    CHECK(one.classes[0].partitions == 3);
    CHECK(one.classes[6].partitions == 1); // 64 to 127
    CHECK(one.classes[6].least == 64);
    CHECK(detail::facts_of_sizes({}).count == 0);
}

TEST_CASE("runs of unique neighbouring keys form ranges, and ranges of increasing keys receive every new entity") {
    auto const runs = [](std::vector<std::string> const& keys) {
        sample_builder builder{{.arrival_order = true}};
        for (std::string const& each : keys) { builder.add(row_builder{each, "-"}.build()); }
        return take_census(std::move(builder).finish()).runs;
    };
    // The table of the provider's guide with increasing unique keys.
    auto const growing = runs({"0001", "0002", "0003", "0004", "0005", "0006"});
    REQUIRE(growing.size() == 1);
    CHECK(growing[0].first == "0001");
    CHECK(growing[0].last == "0006");
    CHECK(growing[0].keys == 6);
    CHECK(growing[0].takes_appends);
    CHECK_FALSE(growing[0].takes_prepends);
    auto const falling = runs({"0006", "0005", "0004", "0003", "0002", "0001"});
    REQUIRE(falling.size() == 1);
    CHECK(falling[0].takes_prepends);
    CHECK_FALSE(falling[0].takes_appends);
    auto const scattered = runs({"0003", "0001", "0006", "0002", "0005", "0004"});
    REQUIRE(scattered.size() == 1);
    CHECK_FALSE(scattered[0].takes_appends);
    CHECK(runs({"a", "a", "b", "c", "d", "d", "e", "f", "g"}).size() == 2); // b c, e f g
    CHECK(runs({"a", "a"}).empty());
}

TEST_CASE("values are ordered as the service orders them") {
    sample_builder builder;
    std::vector<std::string> const texts{"\xEF\xBC\xA1", "\xF0\x90\x80\x80", "b", "a", "ab", "\xEF\xBC\xA2"};
    for (std::string const& each : texts) { builder.add(row_builder{each, ""}.build()); }
    table_sample const sample = std::move(builder).finish();
    std::vector<std::uint32_t> order{0, 1, 2, 3, 4, 5};
    detail::sort_by_text(sample.partition_keys(), order);
    // U+10000 sorts before U+FF21 and U+FF22 in UTF-16.
    CHECK(order == std::vector<std::uint32_t>{3, 4, 2, 1, 0, 5});
    CHECK(detail::rank_correlation({1, 2, 3, 4}, {10, 20, 30, 40}).value() == 1);
    CHECK(detail::rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}).value() == -1);
    CHECK(std::abs(detail::rank_correlation({1, 2, 2, 3}, {1, 2, 3, 4}).value() - 0.9486833) < 1e-6); // with a tie
    CHECK_FALSE(detail::rank_correlation({1, 1, 1}, {1, 2, 3}));
}

TEST_CASE("an empty table has a census with zero counts") {
    census const none = take_census(sample_of(std::vector<order>{}).value());
    CHECK(none.rows == 0);
    CHECK_THAT(none.to_string(), ContainsSubstring("entities    0"));
}

TEST_CASE("figures are formatted as readable text") {
    using namespace entitable::detail;
    CHECK(figure(1234567.0) == "1,234,567");
    CHECK(figure(-0.001, 2) == "0.00");
    CHECK(figure(-1234.5, 1) == "-1,234.5");
    CHECK(figure(std::nan("")) == "-");
    CHECK(short_figure(7500) == "7,500");
    CHECK(short_figure(8.75) == "8.75");
    CHECK(short_figure(0.01234) == "0.0123");
    CHECK(short_figure(0) == "0");
    CHECK(percent(0.4) == "40.0 %");
    CHECK(bytes_text(1536) == "1.5 KiB");
    CHECK(seconds_text(0.0125) == "12.5 ms");
    CHECK(seconds_text(300) == "5 min");
    CHECK(clipped("Gr\xC3\xBC\xC3\x9F"
                  "e",
              5) ==
        "Gr\xC3\xBC\xC3\x9F"
        "e");
    CHECK(clipped("Gr\xC3\xBC\xC3\x9F"
                  "e an alle",
              6) == "Gr\xC3\xBC...");
    CHECK(clipped("a\nb", 10) == "a\\x0ab");
    text_table table{{"name", "n"}};
    table.add({"long name", "1"});
    table.add({"x", "1,000"});
    CHECK(table.to_string(1) == " name           n\n long name      1\n x          1,000\n");
}
