// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The library's own client of a listener.

#include <entitable/cloud/rest/azure_backend.hpp>
#include <entitable/core/text.hpp>

#include <server/served.hpp>

#include <string>

namespace entitable_test {

/// A client of the server that listens on this port. Its limits are those of the service.
inline entitable::azure_backend client_of(std::uint16_t port) {
    entitable::rest_options options;
    options.limits = entitable::storage_profile();
    return entitable::azure_backend{
        entitable::text::joined({"DefaultEndpointsProtocol=http;AccountName=acct;AccountKey=", planted_key,
            ";TableEndpoint=http://127.0.0.1:", std::to_string(port), "/acct"}),
        options};
}

} // namespace entitable_test
