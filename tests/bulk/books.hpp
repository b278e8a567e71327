// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The entity of the tests of bulk loads.

#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>

#include <vector>

namespace bulk_test {

struct book {
    std::int32_t year{};
    std::int32_t id{};
    std::string title;
    std::optional<double> rating;
};
ENTITABLE(book, partition_key(year), row_key(id), properties(title, rating))

inline std::vector<book> some_books(std::int32_t count, std::int32_t years = 7) {
    std::vector<book> made;
    for (std::int32_t id = 0; id < count; ++id) {
        made.push_back({2000 + id % years, id, "book " + std::to_string(id), {}});
    }
    return made;
}

/// A text that no transaction takes: more than 64 KiB.
inline std::string too_long() { return std::string(40'000, 'x'); }

} // namespace bulk_test
