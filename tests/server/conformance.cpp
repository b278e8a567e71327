// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The conformance suite through the protocol, without a socket: requests become HTTP, a server answers them, and answers become
// responses again.

#include "served.hpp"
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/conformance.hpp>

#include <support/long.hpp>
#include <support/temporary_folder.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

void conforms(function_ref<any_store()> make) {
    for (std::string const& failure : testing::conformance::run(make)) { FAIL_CHECK(failure.substr(0, 2000)); }
}

} // namespace

TEST_CASE("conformance: a served memory_backend") {
    conforms([]() -> any_store { return served(memory_backend{}); });
}

TEST_CASE("conformance: a served memory_backend in nasty mode with small pages") {
    for (std::uint64_t seed = 1; seed <= rounds(0, 50); ++seed) { // in the short form the model has small pages
        local_options options;
        options.page_bytes = 1;
        options.page_examined = 3;
        options.nasty.emplace().seed = seed;
        conforms([&]() -> any_store { return served(memory_backend{options}); });
    }
}

TEST_CASE("conformance: a served file_backend") {
    temporary_folder const folder;
    std::size_t files = 0;
    conforms([&]() -> any_store { return served(file_backend{folder / (std::to_string(files++) + ".db")}); });
}
