// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// Tables without a key in the program: the identity of the machine gets a token, which a store adds to its requests. On Azure, only the two
/// lines that create `who` and `store` remain. Here, an address on 127.0.0.1 takes the place of App Service, and a server in this program
/// that of the table service; it accepts this token only.

#include "support/token_endpoint.hpp"
#include <entitable/azure.hpp>
#include <entitable/entitable.hpp>
#include <entitable/identity.hpp>
#include <entitable/memory.hpp>
#include <entitable/server.hpp>

#include <cstdio>
#include <cstdlib>

struct parcel {
    std::string depot;
    std::int64_t number{};
    double kilograms{};
};

ENTITABLE(parcel, partition_key(depot), row_key(number), properties(kilograms))

int main() {
    token_endpoint const app_service;
    ::setenv("IDENTITY_ENDPOINT", app_service.address().c_str(), 1);
    ::setenv("IDENTITY_HEADER", "known only to this application", 1);
    ::setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential", 1);
    entitable::table_server const service{entitable::memory_backend{},
        {.accounts = {{.name = "shop", .key = "bm90IHVzZWQ="}},
            .bearer = [](std::string_view, std::string_view token) { return token == "a.token.of-entra"; }}};

    entitable::identity const who = entitable::default_identity();
    entitable::rest const store{
        service, "https://shop.table.core.windows.net", who}; // azure_backend: without `service`

    entitable::table<parcel> const parcels{store, "parcels"};
    if (auto made = parcels.create_if_absent(); !made) {
        std::printf("%s\n", made.error().to_string().c_str());
        return 1;
    }
    for (std::int64_t number = 1; number <= 100; ++number) {
        if (!parcels.insert({"Oslo", number, 0.5 * static_cast<double>(number)})) { return 1; }
    }
    using p = entitable::fields<parcel>;
    auto const heavy = parcels.where(p::depot == "Oslo" && p::kilograms > 40.0).count();
    std::printf("%zu heavy parcels, after %d request for a token\n", heavy.value(), app_service.requests());
    std::printf("%s\n", app_service.last().c_str());

    // What an identity that is refused says.
    ::setenv("IDENTITY_ENDPOINT", "http://tokens.example.com/", 1);
    auto const refused = entitable::managed_identity().request_token("https://storage.azure.com/.default");
    std::printf("%s\n", refused.error().to_string().c_str());
    return 0;
}
