// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>

#include <algorithm>
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
    char const* const path = "uses_file.db"; // in the working directory
    for (char const* const rest : {"", "-wal", "-shm", "-lock"}) { std::remove((std::string{path} + rest).c_str()); }
    {
        entitable::table<city> cities{entitable::file_backend{path}, "cities"};
        cities.create().value();
        cities.insert({"Italy", "Trieste", 199'000}).value();
    }
    entitable::file_backend const store{path};
    entitable::table<city> cities{store, "cities"};
    auto const found = cities.get("Italy", "Trieste").value();
    std::printf("%s has %lld people, says the file\n", found.name.c_str(), static_cast<long long>(found.people));
    return found.people == 199'000 && store.verify().value().sound() ? 0 : 1;
}
