// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Entities for the tests of queries, and a table of them.

#include <entitable/entitable.hpp>

namespace entitable_test {

struct runner {
    std::string event;
    std::string distance;
    std::int32_t bib{};
    std::string name;
    std::optional<std::int32_t> age;
    double pace{};
};

ENTITABLE(runner,
    partition_key(event, distance),
    row_key(bib),
    properties(name, age, pace))

/// A key with a component that may be absent, and a text as the last component.
struct result_line {
    std::string series;
    std::optional<std::int32_t> year;
    std::int32_t place{};
    std::string note;
    std::optional<std::string> remark;
};

ENTITABLE(result_line,
    partition_key(series),
    row_key(year, place, note),
    properties(remark))

struct counter {
    std::string name;
    std::int32_t part{};
    std::int64_t value{};
};

ENTITABLE(counter,
    partition_key(name),
    row_key(part),
    properties(value))

using r = entitable::fields<runner>;
using l = entitable::fields<result_line>;

/// `count` runners with bibs from 1 in each of two distances of two events.
inline entitable::table<runner> runners(entitable::any_store store, std::int32_t count) {
    entitable::table<runner> all{std::move(store), "runners"};
    all.create().value();
    for (std::string const event : {"Berlin", "Boston"}) {
        for (std::string const distance : {"Full", "Half"}) {
            for (std::int32_t bib = 1; bib <= count; ++bib) {
                auto const age = bib % 4 == 0 ? std::nullopt : std::optional{20 + bib % 50};
                all.insert({event, distance, bib, "runner " + std::to_string(bib), age, 4.0 + bib}).value();
            }
        }
    }
    return all;
}

/// The bibs in the result of a query.
template <class Query>
std::vector<std::int32_t> bibs(Query const& query) {
    std::vector<std::int32_t> found;
    query.for_each([&](runner const& one) { found.push_back(one.bib); }).value();
    return found;
}

} // namespace entitable_test
