// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The mean of 64-bit integers is the double nearest to the exact mean.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <support/catch.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace entitable;

namespace {

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto greatest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t two_53 = std::int64_t{1} << 53;

double mean_of(std::vector<std::int64_t> const& values) {
    detail::exact_sum sum;
    for (std::int64_t const each : values) { sum.add(each); }
    return sum.mean_of(values.size());
}

#if defined(__SIZEOF_INT128__)
__extension__ using integer128 = __int128;

/// Whether no other double is nearer to sum / count, and a tie was rounded to even.
bool is_nearest(double mean, integer128 sum, integer128 count) {
    if (sum == 0) { return mean == 0; }
    int exponent = 0;
    auto const digits =
        static_cast<integer128>(std::ldexp(std::frexp(mean, &exponent), 53)); // mean == digits * 2^(exponent - 53)
    // In units of half of the last digit; the neighbours below a power of two are at this distance.
    int const shift = exponent - 54;
    auto const scaled = [&](integer128 number, bool by_shift) {
        return by_shift ? number * (integer128{1} << (shift < 0 ? -shift : shift)) : number;
    };
    integer128 const exact = scaled(sum, shift < 0);
    auto const far = [&](integer128 half_digits) {
        integer128 const difference = exact - scaled(half_digits * count, shift > 0);
        return difference < 0 ? -difference : difference;
    };
    bool const power = digits == integer128{1} << 52 || digits == -(integer128{1} << 52);
    integer128 const outward = digits < 0 ? -2 : 2;
    integer128 const inward = power ? -outward / 2 : -outward;
    integer128 const own = far(2 * digits);
    bool const even = digits % 2 == 0;
    return (own < far(2 * digits + outward) || (own == far(2 * digits + outward) && even)) &&
        (own < far(2 * digits + inward) || (own == far(2 * digits + inward) && even));
}
#endif

struct visited {
    std::string site;
    std::int32_t day{};
    std::int64_t bytes{};
    std::optional<std::int32_t> small;
};
ENTITABLE(visited, partition_key(site), row_key(day), properties(bytes, small))
using v = fields<visited>;

} // namespace

TEST_CASE("a mean of integers is rounded only once") {
    CHECK(mean_of({two_53 + 1, two_53 + 1}) == 0x1p53);             // a tie, to even
    CHECK(mean_of({two_53 + 1, two_53 + 2}) == 9007199254740994.0); // 2^53 + 1.5
    CHECK(mean_of({two_53 + 3, two_53 + 3}) == 9007199254740996.0); // a tie, to even
    CHECK(mean_of({two_53 + 1, -two_53}) == 0.5);                   // rounded before, it was 0
    CHECK(mean_of({greatest, greatest, greatest}) == 0x1p63);
    CHECK(mean_of({least, least}) == -0x1p63);
    CHECK(mean_of({least, greatest}) == -0.5);
    CHECK(mean_of({greatest, -greatest, 1}) == 1.0 / 3);
    CHECK(mean_of({0, 0, 0}) == 0);
    CHECK_FALSE(std::signbit(mean_of({1, -1})));
    CHECK(mean_of({-1}) == -1);
    CHECK(mean_of({1, 0, 0}) == 1.0 / 3);
    CHECK(mean_of({2, 0, 0}) == 2.0 / 3);
    CHECK(mean_of({-7, -7, -8}) == -22.0 / 3);
    CHECK(mean_of(std::vector<std::int64_t>(100'000, greatest)) == 0x1p63);
    CHECK(mean_of(std::vector<std::int64_t>(99'999, 5)) == 5);
}

#if defined(__SIZEOF_INT128__)
TEST_CASE("a mean of random integers is the nearest double") {
    std::mt19937_64 draw{1};
    CHECK_FALSE(is_nearest(std::nextafter(0.1, 1), 1, 10)); // the precondition
    CHECK(is_nearest(0.1, 1, 10));
    CHECK_FALSE(is_nearest(0x1p53 + 2, two_53 + 1, 1));
    for (int round = 0; round < 20'000; ++round) {
        std::vector<std::int64_t> values;
        integer128 sum = 0;
        std::uint64_t const width = draw() % 64;
        for (std::size_t left = 1 + draw() % 40; left > 0; --left) {
            std::int64_t value = static_cast<std::int64_t>(draw() >> width);
            switch (draw() % 8) {
                case 0: value = greatest - static_cast<std::int64_t>(draw() % 3); break;
                case 1: value = least + static_cast<std::int64_t>(draw() % 3); break;
                case 2: value = two_53 + static_cast<std::int64_t>(draw() % 5); break;
                case 3: value = value == least ? value : -value; break;
                default: break;
            }
            values.push_back(value);
            sum += value;
        }
        CAPTURE(round);
        REQUIRE(is_nearest(mean_of(values), sum, static_cast<integer128>(values.size())));
    }
}
#endif

TEST_CASE("the average of a query is exact, in folds and in groups") {
    table<visited> const visits{memory_backend{}, "visits"};
    visits.create().value();
    for (visited const& each : {visited{"a", 1, two_53 + 1, {}}, visited{"a", 2, two_53 + 2, 2'147'483'647},
             visited{"b", 1, greatest, 2'147'483'646}, visited{"b", 2, greatest - 1024, {}}}) {
        visits.insert(each).value();
    }
    double const of_a = 9007199254740994.0;
    double const of_b = 9223372036854774784.0; // (2^64 - 1026) / 2, to the nearest multiple of 1024
    CHECK(std::get<0>(visits.where(v::site == "a").fold(average(v::bytes)).value()) == of_a);
    CHECK(std::get<0>(visits.where(v::site == "b").fold(average(v::bytes)).value()) == of_b);
    CHECK(std::get<0>(visits.scan_table().fold(average(v::small)).value()) == 2'147'483'646.5);
    auto const groups = visits.scan_table().group_by(v::site, average(v::bytes), count()).value();
    REQUIRE(groups.size() == 2);
    CHECK(std::get<0>(groups[0].second) == of_a);
    CHECK(std::get<0>(groups[1].second) == of_b);
    // If the sum does not fit, the mean does.
    auto const both = visits.where(v::site == "b").fold(average(v::bytes), sum(v::bytes));
    CHECK(both.error().code == error_code::out_of_range_input);
}
