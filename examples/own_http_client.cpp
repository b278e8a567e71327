// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// An HTTP client of your own (support/plain_http_client.hpp): Azure's whole protocol runs over it, and the conformance suite gets the
/// same results from the emulator as through libcurl. ENTITABLE_AZURITE is a connection string; by default it is the emulator at its
/// usual address.

#include "support/plain_http_client.hpp"
#include <entitable/azure.hpp>
#include <entitable/entitable.hpp>
#include <entitable/testing/conformance.hpp>

#include <cstdio>
#include <cstdlib>

/// The behaviours in which the emulator differs from the service's documentation.
std::vector<std::string_view> failed_behaviours(entitable::any_store const& store, std::string const& prefix) {
    std::vector<std::string_view> failed;
    std::size_t number = 0;
    for (auto const& each : entitable::testing::conformance::behaviours()) {
        if (!entitable::testing::conformance::try_behaviour(each, store, prefix + std::to_string(++number)).empty()) {
            failed.push_back(each.name);
        }
    }
    return failed;
}

int main() {
    char const* const given = std::getenv("ENTITABLE_AZURITE");
    std::string const connection_string = given != nullptr ? given : "UseDevelopmentStorage=true";

    auto const own = failed_behaviours(entitable::rest<plain_http_client>{connection_string}, "own");
    auto const curl = failed_behaviours(entitable::azure_backend{connection_string}, "curl");
    std::size_t const all = entitable::testing::conformance::behaviours().size();
    if (curl.size() == all) {
        std::printf("nobody answers there: tests/tools/azurite starts the emulator\n");
        return 1;
    }
    std::printf("%zu behaviours tried, %s\n", all,
        own == curl ? "the same outcomes as through libcurl" : "other outcomes than through libcurl");
    return own == curl ? 0 : 1;
}
