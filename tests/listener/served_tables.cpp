// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tables over libcurl and a socket: the conformance suite.

#include "client_of.hpp"
#include "listening.hpp"
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/conformance.hpp>

#include <server/served.hpp>
#include <support/long.hpp>
#include <support/temporary_folder.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

void conforms(any_store const& store) {
    listening const local{table_server{store, with_account()}};
    auto const client = client_of(local.port());
    for (std::string const& failure : testing::conformance::run([&]() -> any_store { return client; })) {
        FAIL_CHECK(failure.substr(0, 2000));
    }
}

} // namespace

TEST_CASE("conformance: a memory_backend served over a socket") { conforms(memory_backend{}); }

TEST_CASE("conformance: a file_backend served over a socket") {
    if (rounds(0, 1) == 0) { // the short form tests the file behind the protocol without a socket
        return;
    }
    temporary_folder const folder;
    file_options options;
    options.durability = durability::relaxed;
    conforms(file_backend{folder / "served.db", options});
}
