// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/ranges.hpp>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

struct city {
    std::string country;
    std::string name;
    std::int64_t people{};
};

ENTITABLE(city, partition_key(country), row_key(name), properties(people))

int main() {
    entitable::memory_backend store;
    entitable::table<city> cities{store, "cities"};
    cities.create().value();
    cities.insert({"Italy", "Trieste", 199'000}).value();
    auto const names =
        cities.scan_table() | ranges::views::transform(&city::name) | ranges::to<std::vector<std::string>>();
    std::printf("%s, says range-v3\n", names.front().c_str());
    return names.size() == 1 ? 0 : 1;
}
