// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Servers of the tests, and requests to them.

#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/core/text.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/server.hpp>

#include <support/catch.hpp>

#include <string>
#include <vector>

namespace entitable_test {

/// The bytes 0, 1, 2 ... 63: a test key.
inline constexpr std::string_view planted_key =
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw==";
inline constexpr std::string_view other_key = "b3RoZXI=";

inline entitable::server_options with_account(std::string name = "acct") {
    entitable::server_options options;
    options.accounts.push_back({std::move(name), std::string{planted_key}, {}, {}});
    return options;
}

/// The address by name, so that the client treats it as the service itself.
inline std::string connection(std::string_view account = "acct", std::string_view key = planted_key) {
    return entitable::text::joined({"DefaultEndpointsProtocol=http;AccountName=", account, ";AccountKey=", key});
}

/// A transport behind a server and a client.
inline entitable::rest<entitable::table_server> served(entitable::any_store const& store) {
    return entitable::rest{entitable::table_server{store, with_account()}, connection()};
}

/// A client of a server, with an account key unless the path contains a signature.
struct asker {
    entitable::table_server server;
    std::string account{"acct"};
    std::string key{planted_key};
    std::string origin{"http://127.0.0.1:10002"};

    using fields = std::vector<std::pair<std::string_view, std::string_view>>;

    /// `path` is the part after the account, with its slash.
    entitable::http_request request(
        entitable::http_method method, std::string_view path, std::string body = {}, fields const& extra = {}) const {
        entitable::http_request made;
        made.method = method;
        made.url = entitable::text::joined({origin, "/", account, path});
        made.body = std::move(body);
        for (auto const& [name, value] : extra) { REQUIRE(made.headers.add(name, value)); }
        return made;
    }
    entitable::http_response ask(
        entitable::http_method method, std::string_view path, std::string body = {}, fields const& extra = {}) const {
        auto made = request(method, path, std::move(body), extra);
        if (made.url.find("sig=") == std::string::npos) { sign(made); }
        return server.answer(made);
    }
    void sign(entitable::http_request& made, entitable::key_scheme scheme = entitable::key_scheme::shared_key,
        entitable::date_time now = entitable::system_clock().now()) const {
        auto const at = entitable::endpoint::parse(entitable::text::joined({origin, "/", account}), {}, account);
        REQUIRE(at);
        REQUIRE(entitable::credential::account_key(account, key, scheme).value().authorize(made, *at, now));
    }
    entitable::http_response get(std::string_view path, fields const& extra = {}) const {
        return ask(entitable::http_method::get, path, {}, extra);
    }
    entitable::http_response post(std::string_view path, std::string body, fields const& extra = {}) const {
        return ask(entitable::http_method::post, path, std::move(body), extra);
    }
};

/// The error code of a refusal.
inline std::string word_of(entitable::http_response const& response) {
    return std::string{response.headers.find("x-ms-error-code").value_or("")};
}

/// "404 TableNotFound", or "204".
inline std::string said(entitable::http_response const& response) {
    std::string const word = word_of(response);
    return std::to_string(response.status) + (word.empty() ? "" : " " + word);
}

inline std::string field(entitable::http_response const& response, std::string_view name) {
    return std::string{response.headers.find(name).value_or("")};
}

} // namespace entitable_test
