// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The suite of logged tables on PostgreSQL.

#include <entitable/postgres.hpp>

#include <support/logged_stores.hpp>
#include <support/postgres_server.hpp>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("logged: the suite on PostgreSQL") {
    char const* const server = postgres_server();
    if (server == nullptr) { return; }
    check_log_on(any_store{postgres_backend::connect(server, own_schema()).value()}, "Log", 10);
}
