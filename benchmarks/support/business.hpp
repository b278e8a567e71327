// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The entity of the benchmarks: keys of 13 and 18 characters, 12 properties of 8 types, generated from a number.

#include <entitable/entitable.hpp>

#include <cstdio>
#include <random>
#include <vector>

namespace measure {

struct business {
    std::string region;
    std::string id;
    std::string name;
    std::string description;
    std::string city;
    std::string category;
    std::int32_t employees{};
    std::int32_t founded{};
    double rating{};
    double turnover{};
    bool open{};
    std::int64_t visits{};
    entitable::date_time changed;
    entitable::guid owner;
};

ENTITABLE(business,
    partition_key(region),
    row_key(id),
    properties(name, description, city, category, employees, founded, rating, turnover, open, visits, changed, owner))

/// The keys of entity `index`; each partition has `rows_each` entities.
inline std::string region_of(std::size_t index, std::size_t rows_each) {
    char text[32];
    std::snprintf(text, sizeof text, "region-%06zu", index / rows_each);
    return text;
}
inline std::string id_of(std::size_t index, std::size_t rows_each) {
    char text[32];
    std::snprintf(text, sizeof text, "business%010zu", index % rows_each * 7);
    return text;
}

inline business make_business(std::size_t index, std::size_t rows_each) {
    static constexpr char const* cities[] = {
        "Springfield", "Z\xC3\xBCrich", "San Jos\xC3\xA9", "\xE6\x9D\xB1\xE4\xBA\xAC", "Reykjav\xC3\xADk", "Oslo"};
    static constexpr char const* categories[] = {"Books", "Bakery", "Bicycle repair", "Pharmacy"};
    std::mt19937_64 random{index};
    business made;
    made.region = region_of(index, rows_each);
    made.id = id_of(index, rows_each);
    made.name = "The house of business " + std::to_string(random() % 100'000);
    made.description =
        index % 8 == 0 ? "Says \"welcome\"\tand\nmeans it, since 1971" : "A shop that is where it always was, and open";
    made.city = cities[random() % 6];
    made.category = categories[random() % 4];
    made.employees = static_cast<std::int32_t>(random() % 5'000);
    made.founded = 1900 + static_cast<std::int32_t>(random() % 125);
    made.rating = static_cast<double>(random() % 500) / 100.0;
    made.turnover = static_cast<double>(random() >> 11U) * 1e-7;
    made.open = random() % 2 == 0;
    made.visits = static_cast<std::int64_t>(random() >> 4U);
    made.changed =
        entitable::date_time{131'000'000'000'000'000 + static_cast<std::int64_t>(random() % 5'000'000'000'000'000)};
    for (auto& byte : made.owner.bytes) { byte = static_cast<std::remove_reference_t<decltype(byte)>>(random()); }
    return made;
}

/// Entities `from` to before `to`.
inline std::vector<business> make_businesses(std::size_t from, std::size_t to, std::size_t rows_each) {
    std::vector<business> all;
    for (std::size_t index = from; index < to; ++index) { all.push_back(make_business(index, rows_each)); }
    return all;
}

} // namespace measure
