// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// What stands above tables in the tests of shards: runners with an index and sums, and the work of a queue.

#include <entitable/entitable.hpp>
#include <entitable/tables.hpp>

namespace sharding {

struct runner {
    std::string race;
    std::int32_t bib{};
    std::string club;
    std::int32_t age{};
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), width(bib, 5)), properties(club, age))
struct by_club : runner {};
ENTITABLE(by_club, partition_key(club), row_key(race, width(bib, 5)), properties())

struct club_size {
    std::string race;
    std::string club;
    std::int64_t runners{};
    std::int64_t years{};

    static club_size key(runner const& of) { return {of.race, of.club}; }
    void add(runner const& one) { years += one.age, ++runners; }
    void subtract(runner const& one) { years -= one.age, --runners; }
};
ENTITABLE(club_size, partition_key(race), row_key(literal("CLUB:"), club), properties(runners, years))

struct task {
    std::string of;
    std::int32_t number{};
};
ENTITABLE(task, partition_key(of), row_key(number), properties())

} // namespace sharding
