// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Entities that several tests declare in the same way. A test names those that it uses: `using entitable_test::job;`.

#include <entitable/client/mapping/macro.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace entitable_test {

/// A message of a queue.
struct job {
    std::string kind;
    std::int32_t number{};
};
ENTITABLE(job, partition_key(kind), row_key(number), properties())

/// A message without a number.
struct chore {
    std::string what;
};
ENTITABLE(chore, partition_key(what), row_key(literal("C")), properties())

/// An account of a bank; its bookings are in the same partition.
struct account {
    std::string bank;
    std::int32_t number{};
    std::int64_t cents{};
    std::optional<std::string> note;
};
ENTITABLE(account, partition_key(bank), row_key(literal("account:"), number), properties(cents, note))

struct booking {
    std::string bank;
    std::int32_t id{};
    std::int64_t cents{};
};
ENTITABLE(booking, partition_key(bank), row_key(literal("booking:"), id), properties(cents))

/// A numbered text.
struct note {
    std::string topic;
    std::int32_t number{};
    std::string text;
};
ENTITABLE(note, partition_key(topic), row_key(number), properties(text))

/// A member of a team, who lives in a city.
struct person {
    std::string team;
    std::int32_t id{};
    std::string city;
};
ENTITABLE(person, partition_key(team), row_key(literal("P:"), id), properties(city))

/// A sale of a shop.
struct sale {
    std::string shop;
    std::int32_t number{};
    std::string day;
    std::int64_t cents{};
};
ENTITABLE(sale, partition_key(shop), row_key(literal("SALE:"), number), properties(day, cents))

} // namespace entitable_test
