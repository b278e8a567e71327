// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The suite of synchronisation with the cloud on PostgreSQL, and devices in memory.

#include <entitable/memory.hpp>
#include <entitable/postgres.hpp>

#include <support/postgres_server.hpp>
#include <support/synced_clouds.hpp>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("synchronize: the suite with the cloud on PostgreSQL") {
    char const* const server = postgres_server();
    if (server == nullptr) { return; }
    auto const device = [] { return any_store{memory_backend{}}; };
    postgres_backend const cloud = postgres_backend::connect(server, own_schema()).value();
    postgres_backend const other = postgres_backend::connect(server, own_schema()).value();
    check_synchronisation_on({any_store{cloud}, any_store{other}, device});
    // Rows that move to another kind of store.
    check_synchronisation_on({any_store{cloud}, any_store{memory_backend{}}, device, "Moved", 1});
}
