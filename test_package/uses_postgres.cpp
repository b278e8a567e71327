// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

struct city {
    std::string country;
    std::string name;
    std::int64_t people{};
};

ENTITABLE(city, partition_key(country), row_key(name), properties(people))

int main() {
    char const* const server = std::getenv("ENTITABLE_POSTGRES");
    auto const store = entitable::postgres_backend::connect(server != nullptr ? server : "host=/nowhere");
    if (server == nullptr) {
        std::puts("there is no server, says the client");
        return !store && store.error().code == entitable::error_code::transport_failed ? 0 : 1;
    }
    entitable::table<city> const cities{*store, "cities"};
    static_cast<void>(cities.create());
    cities.insert_or_replace({"Italy", "Trieste", 199'000}).value();
    auto const found = cities.get("Italy", "Trieste").value();
    std::printf("%s has %lld people, says the database\n", found.name.c_str(), static_cast<long long>(found.people));
    return found.people == 199'000 ? 0 : 1;
}
