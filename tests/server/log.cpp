// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The suite of logged tables through the server and the client of the service.

#include "served.hpp"
#include <entitable/memory.hpp>

#include <support/logged_stores.hpp>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("logged: the suite through the server and the client of the service") {
    check_log_on(any_store{served(memory_backend{})}, "Log", 10);
}
