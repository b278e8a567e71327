// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The conformance suite on the in-memory backend in several modes, and on a backend of a user.

#include "../../examples/support/map_store.hpp"
#include <entitable/local/local.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/conformance.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

void conforms(function_ref<any_store()> make) {
    for (std::string const& failure : testing::conformance::run(make)) { FAIL_CHECK(failure.substr(0, 2000)); }
}

local_options with_limits(profile limits) {
    local_options options;
    options.limits = limits;
    return options;
}

} // namespace

TEST_CASE("conformance: memory_backend") {
    conforms([] { return memory_backend{}; });
}

TEST_CASE("conformance: one memory_backend passes all behaviours") {
    memory_backend const store;
    conforms([&] { return store; });
}

TEST_CASE("conformance: memory_backend with the limits of the storage service") {
    conforms([] { return memory_backend{with_limits(storage_profile())}; });
}

TEST_CASE("conformance: memory_backend with the limits of Cosmos DB") {
    conforms([] { return memory_backend{with_limits(cosmos_profile())}; });
}

TEST_CASE("conformance: memory_backend with lowered limits") {
    profile limits = local_profile();
    limits.max_properties = 20;
    limits.max_string_units = 1'000;
    limits.max_binary_size = 2'000;
    limits.max_entity_size = 30'000;
    limits.max_operations = 20;
    limits.max_transaction_size = 50'000;
    conforms([=] { return memory_backend{with_limits(limits)}; });
}

TEST_CASE("conformance: memory_backend in nasty mode") {
    for (std::uint64_t seed = 1; seed <= rounds(1, 200); ++seed) {
        CAPTURE(seed);
        local_options options = with_limits(seed % 2 == 0 ? local_profile() : cosmos_profile());
        options.nasty.emplace().seed = seed;
        conforms([&] { return memory_backend{options}; });
    }
}

TEST_CASE("conformance: memory_backend with small pages") {
    local_options options;
    options.page_bytes = 1;
    options.page_examined = 3;
    conforms([&] { return memory_backend{options}; });
}

TEST_CASE("conformance: a user-defined backend") {
    conforms([] { return local<map_store>{}; });
}
