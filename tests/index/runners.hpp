// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The runners of a marathon, found by bib, by age, by club and by their mail address.

#include <entitable/entitable.hpp>
#include <entitable/tables.hpp>

namespace marathon {

struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
    std::int32_t age{};
    std::string club;
    std::string mail;
    std::optional<std::int32_t> team;
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), width(bib, 5)), properties(name, age, club, mail, team))

/// In the same partition.
struct by_age : runner {};
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), width(bib, 5)), properties(name))

/// In the same partition, for those who have a team.
struct by_team : runner {};
ENTITABLE(by_team, partition_key(race), row_key(literal("TEAM:"), team, width(bib, 5)), properties())

/// In the same partition, each key once.
struct by_mail : runner {};
ENTITABLE(by_mail, partition_key(race), row_key(literal("MAIL:"), mail), properties(bib))

/// In other partitions.
struct by_club : runner {};
ENTITABLE(by_club, partition_key(club), row_key(race, width(bib, 5)), properties(name))

/// In other partitions, each key once.
struct by_name : runner {};
ENTITABLE(by_name, partition_key(name), row_key(literal("NAME:")), properties(race, bib))

} // namespace marathon
