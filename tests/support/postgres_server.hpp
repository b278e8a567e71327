// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The server that tests/tools/postgres starts, a schema for each test in it, and a proxy that cuts connections.

#include <entitable/postgres.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace entitable_test {

/// The connection string of the server; null if there is none, which is printed.
inline char const* postgres_server() {
    char const* const said = std::getenv("ENTITABLE_POSTGRES");
    if (said == nullptr) { std::puts("skipped: there is no PostgreSQL server (tests/tools/postgres run starts one)"); }
    return said;
}

/// Options with a schema of its own.
inline entitable::postgres_options own_schema() {
    static int made = 0;
    entitable::postgres_options options;
    options.schema = "test_" + std::to_string(::getpid()) + "_" + std::to_string(made++);
    return options;
}

/// Lets tests/tools/postgres control the server: kill, start, standby, promote.
inline bool control_postgres(char const* what) {
    char const* const control = std::getenv("ENTITABLE_POSTGRES_CONTROL");
    return control != nullptr && std::system((std::string{control} + " " + what).c_str()) == 0;
}

} // namespace entitable_test
