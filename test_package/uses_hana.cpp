// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/entitable.hpp>
#include <entitable/hana.hpp>
#include <entitable/memory.hpp>

#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/equal.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

struct city {
    std::string country;
    std::string name;
    std::int64_t people{};
};

BOOST_HANA_ADAPT_STRUCT(city, country, name, people);
ENTITABLE_HANA(city, partition_key(country), row_key(name))

int main() {
    entitable::memory_backend store;
    entitable::table<city> cities{store, "cities"};
    cities.create().value();
    city const trieste{"Italy", "Trieste", 199'000};
    cities.insert(trieste).value();
    auto const found = cities.get("Italy", "Trieste").value();
    std::printf("%s has %lld people, says Hana\n", found.name.c_str(), static_cast<long long>(found.people));
    return boost::hana::equal(found, trieste) ? 0 : 1;
}
