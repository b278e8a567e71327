// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Identities through libcurl and a server on 127.0.0.1: the address of a machine, an authority with TLS, proxies, servers that misbehave, and a
// store that uses the tokens.

#include <entitable/azure.hpp>
#include <entitable/identity.hpp>

#include <http/certificates.hpp>
#include <http/server.hpp>
#include <identity/machine.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Sets variables of the environment while it exists.
class environment {
public:
    environment(std::initializer_list<std::pair<char const*, std::string>> variables) {
        for (auto const& [name, value] : variables) {
            ::setenv(name, value.c_str(), 1);
            names_.push_back(name);
        }
    }
    environment(environment const&) = delete;
    environment& operator=(environment const&) = delete;
    ~environment() {
        for (char const* const each : names_) { ::unsetenv(each); }
    }

private:
    std::vector<char const*> names_;
};

/// The token address of App Service, on this computer.
std::function<void(peer&)> token_server(std::atomic<int>& asked, std::string body = a_token_body) {
    return each_request([&asked, body](peer& client, std::string const&) {
        ++asked;
        client.answer(body);
    });
}

identity_options quick() {
    identity_options options;
    options.request_timeout = std::chrono::milliseconds{300};
    return options;
}

} // namespace

TEST_CASE("the request that reaches a machine's address, byte by byte") {
    std::string seen;
    server const machine_address{each_request([&](peer& client, std::string const& request) {
        seen = request;
        client.answer(a_token_body);
    })};
    environment const set{
        {"IDENTITY_ENDPOINT", machine_address.origin() + "/msi/token"}, {"IDENTITY_HEADER", "header"}};
    auto const token = managed_identity().request_token(storage_scope).value();
    CHECK(token.text == "tok.en-1");
    CHECK(seen ==
        "GET /msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fstorage.azure.com HTTP/1.1\r\nHost: 127.0.0.1:" +
            std::to_string(machine_address.port()) + "\r\nX-IDENTITY-HEADER: header\r\n\r\n");
}

TEST_CASE("the authority is asked over TLS, and only if its certificate verifies") {
    authority const trusted;
    auto const tls = trusted.server_side();
    std::string seen;
    server const of_authority{each_request([&](peer& client, std::string const& request) {
                                  seen = request;
                                  client.answer(a_token_body);
                              }),
        tls.get()};
    identity_options options;
    options.authority_host = of_authority.origin();
    options.network.ca_file = trusted.file();
    CHECK(client_secret(a_tenant, a_client, "s", options).request_token(storage_scope).value().text == "tok.en-1");
    CHECK_THAT(seen, StartsWith("POST /72f988bf-86f1-41af-91ab-2d7cd011db47/oauth2/v2.0/token HTTP/1.1\r\n"));
    CHECK_THAT(seen,
        EndsWith("\r\n\r\ngrant_type=client_credentials&client_id=6731de76-14a6-49ae-97bc-6eba6914391e"
                 "&scope=https%3A%2F%2Fstorage.azure.com%2F.default&client_secret=s"));
    seen.clear();
    options.network.ca_file.clear();
    testing::manual_clock time; // waits for nothing
    options.time = &time;
    auto const refused = client_secret(a_tenant, a_client, "s", options).request_token(storage_scope);
    CHECK(refused.error().code == error_code::transport_failed);
    CHECK(seen.empty());
}

TEST_CASE("a proxy is used for the authority, and never for an address of the machine") {
    std::atomic<int> proxied{0};
    std::string line;
    server const proxy{each_request([&](peer& client, std::string const& request) {
        ++proxied;
        line = request.substr(0, request.find('\r'));
        client.answer(a_token_body);
    })};
    std::atomic<int> asked{0};
    server const machine_address{token_server(asked)};
    identity_options options;
    options.network.proxy = proxy.origin();
    options.authority_host = "http://127.0.0.1:9";
    {
        environment const set{{"IDENTITY_ENDPOINT", machine_address.origin() + "/token"}, {"IDENTITY_HEADER", "h"},
            {"http_proxy", proxy.origin()}, {"ALL_PROXY", proxy.origin()}};
        CHECK(managed_identity(options).request_token(storage_scope));
    }
    CHECK(asked == 1);
    CHECK(proxied == 0);
    CHECK(client_secret(a_tenant, a_client, "s", options).request_token(storage_scope));
    CHECK(proxied == 1);
    CHECK_THAT(line, StartsWith("POST http://127.0.0.1:9/72f988bf"));
}

TEST_CASE("a redirect is not followed, not even by the machine's address") {
    std::atomic<int> elsewhere{0};
    server const other{token_server(elsewhere)};
    server const machine_address{each_request([&](peer& client, std::string const&) {
        client.answer("", "307 Temporary Redirect", "Location: " + other.origin() + "/\r\n");
    })};
    environment const set{{"IDENTITY_ENDPOINT", machine_address.origin() + "/token"}, {"IDENTITY_HEADER", "h"}};
    auto const refused = managed_identity().request_token(storage_scope);
    CHECK(refused.error().code == error_code::authentication_failed);
    CHECK_THAT(refused.error().message, ContainsSubstring("307, a redirect"));
    CHECK(elsewhere == 0);
}

TEST_CASE("an answer of 10 MB, one byte a second, silence and rubbish end in time") {
    struct row {
        char const* name;
        std::function<void(peer&)> serve;
    };
    for (row const &each : {row{"10 MB", each_request([](peer& client, std::string const&) {
                                    client.answer(std::string(10'000'000, ' '));
                                })},
             row{"10 MB in chunks", each_request([](peer& client, std::string const&) {
                     client.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                     for (int times = 0; times < 1000 && client.write("2710\r\n" + std::string(10'000, ' ') + "\r\n");
                         ++times) {}
                 })},
             row{"one byte a second", each_request([](peer& client, std::string const&) {
                     client.write("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n");
                     for (char const byte : a_token_body) {
                         if (!client.write({&byte, 1}) || !client.pause(std::chrono::seconds{1})) { break; }
                     }
                 })},
             row{"silence", each_request([](peer& client, std::string const&) { client.hang(); })},
             row{"rubbish", each_request([](peer& client, std::string const&) {
                     client.write("rubbish\r\n\r\n");
                     client.cut();
                 })}}) {
        server const machine_address{each.serve};
        environment const set{{"IDENTITY_ENDPOINT", machine_address.origin() + "/token"}, {"IDENTITY_HEADER", "h"}};
        testing::manual_clock time; // waits for nothing between requests
        identity_options options = quick();
        options.time = &time;
        auto const begun = std::chrono::steady_clock::now();
        auto const failed = managed_identity(options).request_token(storage_scope);
        INFO(each.name);
        CHECK(failed.error().code == error_code::transport_failed);
        CHECK(failed.error().effect == effect::none);
        CHECK_THAT(failed.error().message, StartsWith("managed identity (App Service): "));
        CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{8});
        CHECK(machine_address.connections() <= 4);
    }
}

TEST_CASE("waiting for a token ends at the deadline of the call, and when the call is cancelled") {
    server const machine_address{each_request([](peer& client, std::string const&) { client.hang(); })};
    environment const set{{"IDENTITY_ENDPOINT", machine_address.origin() + "/token"}, {"IDENTITY_HEADER", "h"}};
    azure_backend const store{"https://127.0.0.1:9/acct", managed_identity()};
    call context;
    context.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds{200};
    auto const begun = std::chrono::steady_clock::now();
    auto const late = store.execute(list_tables{}, context);
    CHECK(late.error().code == error_code::deadline_exceeded);
    CHECK(late.error().effect == effect::none);
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{5});

    // A second thread waits for the first one's request, within its own limits.
    cancellation_source stop;
    azure_backend const another{"https://127.0.0.1:9/acct", managed_identity()};
    std::thread first{[&] {
        call patient;
        patient.cancellation = stop.token();
        CHECK(another.execute(list_tables{}, patient).error().code == error_code::cancelled);
    }};
    while (machine_address.connections() < 2) { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }
    call second;
    second.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds{100};
    CHECK(another.execute(list_tables{}, second).error().code == error_code::deadline_exceeded);
    stop.cancel();
    first.join();
    CHECK(machine_address.connections() == 2);
}

TEST_CASE("stores and threads that share an identity share its token") {
    authority const trusted;
    auto const tls = trusted.server_side();
    std::atomic<int> good{0};
    server const service{each_request([&](peer& client, std::string const& request) {
                             good +=
                                 request.find("\r\nAuthorization: Bearer tok.en-1\r\n") != std::string::npos ? 1 : 0;
                             client.answer(R"({"value":[{"TableName":"Orders"}]})");
                         }),
        tls.get()};
    std::atomic<int> asked{0};
    server const machine_address{each_request([&](peer& client, std::string const&) {
        ++asked;
        client.pause(std::chrono::milliseconds{50}); // meanwhile the other threads arrive
        client.answer(a_token_body);
    })};
    environment const set{{"IDENTITY_ENDPOINT", machine_address.origin() + "/token"}, {"IDENTITY_HEADER", "h"}};
    curl_options network;
    network.ca_file = trusted.file();
    identity const who = managed_identity();
    azure_backend const stores[] = {{service.origin() + "/one", who, rest_options{}, curl_client{network}},
        {service.origin() + "/two", who, rest_options{}, curl_client{network}}};
    std::vector<std::thread> threads;
    std::atomic<int> answered{0};
    for (int index = 0; index < 8; ++index) {
        threads.emplace_back([&, index] {
            for (int times = 0; times < 5; ++times) {
                call context;
                answered += stores[index % 2].execute(list_tables{}, context) ? 1 : 0;
            }
        });
    }
    for (std::thread& each : threads) { each.join(); }
    CHECK(answered == 40);
    CHECK(good == 40);
    CHECK(asked == 1);
}

TEST_CASE("a store whose address or identity is wrong returns the error for each request") {
    call context;
    azure_backend const wrong_address{"shop.table.core.windows.net", managed_identity()};
    CHECK(wrong_address.execute(list_tables{}, context).error().code == error_code::invalid_input);
    CHECK_FALSE(azure_backend::connect("", credential{}));
    CHECK(azure_backend::connect("https://shop.table.core.windows.net", credential{}));
    azure_backend const wrong_identity{"https://shop.table.core.windows.net", client_secret("a/b", "c", "hunter2")};
    auto const refused = wrong_identity.execute(list_tables{}, context);
    CHECK(refused.error().code == error_code::invalid_input);
    CHECK(refused.error().to_string().find("hunter2") == std::string::npos);
    // A token is never sent without TLS.
    azure_backend const plain{"http://127.0.0.1:9/acct", client_secret("a", "c", "s")};
    CHECK_THAT(plain.execute(list_tables{}, context).error().message, ContainsSubstring("only be sent over https"));
}
