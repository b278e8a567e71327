// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Servers of the tests, and requests to them.

#include <entitable/backends/memory/memory_backend.hpp>
#include <entitable/rest/rest_backend.hpp>
#include <entitable/server.hpp>

#include <support/catch.hpp>

#include <string>
#include <vector>

namespace entitable_test {

/// The bytes 0, 1, 2 ... 63: a key of nobody.
inline constexpr std::string_view planted_key =
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw==";
inline constexpr std::string_view other_key = "b3RoZXI=";

inline entitable::server_options with_account(std::string name = "acct") {
    entitable::server_options options;
    options.accounts.push_back({std::move(name), std::string{planted_key}, {}, {}});
    return options;
}

/// The address by name, so that the client takes it for the service itself.
inline std::string connection(std::string_view account = "acct", std::string_view key = planted_key) {
    return entitable::text::joined({"DefaultEndpointsProtocol=http;AccountName=", account, ";AccountKey=", key});
}

/// A transport behind a server behind a client.
inline entitable::rest<entitable::table_server> served(entitable::any_transport const& store) {
    return entitable::rest{entitable::table_server{store, with_account()}, connection()};
}

} // namespace entitable_test
