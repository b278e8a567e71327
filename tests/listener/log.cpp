// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The suite of logged tables behind this library's server: the client of the service, over sockets.

#include "listening.hpp"
#include <entitable/azure.hpp>
#include <entitable/memory.hpp>

#include <server/served.hpp>
#include <support/logged_stores.hpp>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("logged: the suite behind a server") {
    listening const server{table_server{memory_backend{}, with_account()}};
    rest_options options;
    options.limits = storage_profile();
    azure_backend const store{text::joined({"DefaultEndpointsProtocol=http;AccountName=acct;AccountKey=", planted_key,
                                  ";TableEndpoint=http://127.0.0.1:", std::to_string(server.port()), "/acct"}),
        options};
    check_log_on(any_store{store}, "Log", 3);
}
