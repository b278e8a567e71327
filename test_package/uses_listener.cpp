// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/entitable.hpp>
#include <entitable/listener.hpp>
#include <entitable/rest/azure_backend.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

struct city {
    std::string country;
    std::string name;
    std::int64_t people{};
};

ENTITABLE(city, partition_key(country), row_key(name), properties(people))

int main() {
    // Tables in memory, served on a free port, and a client of them.
    entitable::http_listener listener{entitable::table_server{entitable::memory_backend{}}, {.port = 0}};
    listener.listen().value();
    std::thread serving{[&] { listener.run().value(); }};
    auto const at =
        entitable::endpoint::parse("http://127.0.0.1:" + std::to_string(listener.port()) + "/devstoreaccount1");
    auto const who =
        entitable::credential::account_key("devstoreaccount1", entitable::served_account::development().key);
    entitable::table<city> cities{
        entitable::azure_backend{entitable::curl_client{}, at.value(), who.value()}, "cities"};
    cities.create().value();
    cities.insert({"Italy", "Trieste", 204'000}).value();
    auto const found = cities.get("Italy", "Trieste");
    listener.stop();
    serving.join();
    std::printf("%s\n", found ? found->name.c_str() : found.error().to_string().c_str());
    return found ? 0 : 1;
}
