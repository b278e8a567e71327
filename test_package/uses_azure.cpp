// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/azure.hpp>
#include <entitable/entitable.hpp>

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
    // A port of this machine where nobody listens: everything is linked and runs, and no network is needed.
    auto const store =
        entitable::azure_backend::connect("AccountName=nobody;AccountKey=a2V5;TableEndpoint=http://127.0.0.1:9/nobody")
            .value();
    entitable::table<city> cities{store, "cities"};
    auto const found = cities.get("Italy", "Trieste");
    if (found) { return 1; }
    std::printf("%s\n", found.error().to_string().c_str());
    return found.error().code == entitable::error_code::transport_failed ? 0 : 1;
}
