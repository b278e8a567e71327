// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

struct city {
    std::string country;
    std::string name;
    std::int64_t people{};
};

ENTITABLE(city, partition_key(country), row_key(name), properties(people))

int main() {
    entitable::memory_backend store;
    entitable::table<city> cities{store, "cities"};
    cities.create_if_absent().value();
    cities.insert({"Italy", "Trieste", 199'000}).value();
    auto const found = cities.get("Italy", "Trieste").value();
    std::printf("%s has %lld people\n", found.name.c_str(), static_cast<long long>(found.people));
    return found.people == 199'000 ? 0 : 1;
}
