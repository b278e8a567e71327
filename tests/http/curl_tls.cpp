// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/http/curl_client.hpp>

#include <http/certificates.hpp>
#include <http/requests.hpp>
#include <http/server.hpp>
#include <support/catch.hpp>

using namespace entitable;
using namespace entitable_test;
using std::chrono::milliseconds;

namespace {

authority const& trusted() {
    static authority const instance;
    return instance;
}

curl_client client_of(authority const& trusts, http_version version = http_version::http_1_1) {
    curl_options options;
    options.ca_file = trusts.file();
    options.version = version;
    return curl_client{options};
}

/// The error message for a server with this TLS configuration. No request may reach it.
std::string refusal(SSL_CTX* tls, curl_client const& client, std::string const& host = "127.0.0.1") {
    std::atomic<int> requests{0};
    server const local{each_request([&](peer& answering, std::string const&) {
                           ++requests;
                           answering.answer("believed");
                       }),
        tls};
    auto const response =
        client.send(a_request(local.origin(host) + "/?hunter2", http_method::post, "hunter2"), a_call());
    REQUIRE_FALSE(response);
    CHECK(response.error().code == error_code::transport_failed);
    CHECK(response.error().effect == effect::none);
    CHECK(response.error().to_string().find("hunter2") == std::string::npos);
    CHECK(requests == 0);
    return response.error().message;
}

} // namespace

TEST_CASE("a server with a valid certificate is used, and its connection is reused") {
    auto const tls = trusted().server_side();
    server const local{
        each_request([](peer& client, std::string const& request) { client.answer(request); }), tls.get()};
    auto const client = client_of(trusted());
    for (int count = 0; count < 3; ++count) {
        auto const response =
            client.send(a_request(local.origin() + "/", http_method::post, std::string(100'000, 'x')), a_call());
        REQUIRE(response);
        CHECK(response->body.size() > 100'000);
    }
    CHECK(local.connections() == 1);
    CHECK(client.send(a_request(local.origin("localhost") + "/"), a_call()));
}

TEST_CASE("invalid certificates are refused before anything is sent") {
    auto const client = client_of(trusted());
    certificate_terms terms;
    SECTION("the certificate is for another host") {
        terms.names = "DNS:example.com,IP:127.0.0.2";
        auto const tls = trusted().server_side(terms);
        CHECK_THAT(refusal(tls.get(), client), ContainsSubstring("127.0.0.1"));
        CHECK_THAT(refusal(tls.get(), client, "localhost"), ContainsSubstring("localhost"));
    }
    SECTION("the certificate contains the address only as a name") {
        terms.names = "DNS:127.0.0.1";
        auto const tls = trusted().server_side(terms);
        static_cast<void>(refusal(tls.get(), client));
    }
    SECTION("the certificate has expired") {
        terms.begins = -7200;
        terms.ends = -3600;
        auto const tls = trusted().server_side(terms);
        CHECK_THAT(refusal(tls.get(), client), ContainsSubstring("expired"));
    }
    SECTION("the certificate is not valid yet") {
        terms.begins = 3600;
        terms.ends = 7200;
        auto const tls = trusted().server_side(terms);
        CHECK_THAT(refusal(tls.get(), client), ContainsSubstring("not yet valid"));
    }
    SECTION("the certificate authority is unknown") {
        authority const stranger;
        auto const tls = stranger.server_side();
        CHECK_THAT(refusal(tls.get(), client), ContainsSubstring("certificate"));
    }
    SECTION("the certificate is self-signed") {
        auto const tls = trusted().server_side(terms, true);
        CHECK_THAT(refusal(tls.get(), client), ContainsSubstring("self"));
    }
    SECTION("the system does not know the certificate authority") {
        auto const tls = trusted().server_side();
        static_cast<void>(refusal(tls.get(), curl_client{}));
    }
    SECTION("the file of certificate authorities is missing") {
        curl_options options;
        options.ca_file = "/nonexistent/authorities.pem";
        auto const tls = trusted().server_side();
        static_cast<void>(refusal(tls.get(), curl_client{options}));
    }
}

TEST_CASE("old versions of TLS are refused, and 1.2 and 1.3 are accepted") {
    auto const client = client_of(trusted());
    for (int const version : {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION}) {
        auto const tls = trusted().server_side();
        SSL_CTX_set_security_level(tls.get(), 0);
        SSL_CTX_set_min_proto_version(tls.get(), version);
        SSL_CTX_set_max_proto_version(tls.get(), version);
        if (version < TLS1_2_VERSION) {
            static_cast<void>(refusal(tls.get(), client));
        } else {
            server const local{
                each_request([](peer& answering, std::string const&) { answering.answer("x"); }), tls.get()};
            CHECK(client.send(a_request(local.origin() + "/"), a_call()));
        }
    }
}

TEST_CASE("a server that does not speak TLS is refused") {
    server const plain{[](peer& client) { client.answer("believed"); }};
    auto const response =
        client_of(trusted()).send(a_request("https://127.0.0.1:" + std::to_string(plain.port()) + "/"), a_call());
    REQUIRE_FALSE(response);
    CHECK(response.error().code == error_code::transport_failed);
    CHECK(response.error().effect == effect::none);
}

TEST_CASE("a silent server does not block a request indefinitely during the handshake") {
    server const silent{[](peer& client) { client.hang(); }};
    curl_options options;
    options.connect_timeout = milliseconds{60};
    auto const took = time_of_work([&] {
        auto const response =
            curl_client{options}.send(a_request("https://127.0.0.1:" + std::to_string(silent.port()) + "/"), a_call());
        REQUIRE_FALSE(response);
        CHECK(response.error().code == error_code::transport_failed);
        CHECK(response.error().effect == effect::none);
    });
    CHECK(took < soon);
}

TEST_CASE("a stream that ends without a TLS close is not a complete response") {
    std::string text;
    auto const tls = trusted().server_side();
    server const local{each_request([&](peer& client, std::string const&) {
                           client.write(text);
                           client.cut();
                       }),
        tls.get()};
    auto const client = client_of(trusted());
    for (std::string const cut : {"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n0123456789",
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n",
             "HTTP/1.1 200 OK\r\n\r\n0123456789", "HTTP/1.1 201 Created\r\n\r\n0123456789",
             "HTTP/1.1 200 OK\r\nContent-Le", ""}) {
        text = cut;
        INFO(cut);
        auto const response = client.send(a_request(local.origin() + "/", http_method::post), a_call());
        REQUIRE_FALSE(response);
        CHECK(response.error().code == error_code::transport_failed);
        CHECK(response.error().effect == effect::unknown);
    }
}

// ---- HTTP/2 --------------------------------------------------------------------------------------------------

namespace {

int choose_two(
    SSL*, unsigned char const** out, unsigned char* size, unsigned char const* in, unsigned int in_size, void*) {
    static constexpr unsigned char two[] = {2, 'h', '2'};
    return SSL_select_next_proto(const_cast<unsigned char**>(out), size, two, sizeof two, in, in_size) ==
            OPENSSL_NPN_NEGOTIATED
        ? SSL_TLSEXT_ERR_OK
        : SSL_TLSEXT_ERR_NOACK;
}

std::string frame(char type, char flags, int stream, std::string_view payload) {
    std::string out;
    for (int const shift : {16, 8, 0}) {
        out += static_cast<char>(payload.size() >> static_cast<unsigned>(shift) & 0xFFU);
    }
    out += {type, flags, 0, 0, 0, static_cast<char>(stream)};
    return out.append(payload);
}

} // namespace

TEST_CASE("HTTP/2 is used on request") {
    auto const tls = trusted().server_side();
    SSL_CTX_set_alpn_select_cb(tls.get(), &choose_two, nullptr);
    // A minimal HTTP/2 server: each request of up to one frame is answered with the status 200 and a body.
    std::atomic<int> two{0};
    server const local{
        [&](peer& client) {
            auto const preface = client.bytes(24);
            if (!preface || !preface->starts_with("PRI * HTTP/2.0")) { return; }
            ++two;
            client.write(frame(4, 0, 0, "")); // settings
            while (auto const head = client.bytes(9)) {
                auto const byte = [&](std::size_t at) { return static_cast<unsigned char>((*head)[at]); };
                auto const payload = client.bytes(
                    static_cast<std::size_t>(byte(0)) << 16U | static_cast<std::size_t>(byte(1)) << 8U | byte(2));
                if (byte(3) == 4 && (byte(4) & 1U) == 0) {
                    client.write(frame(4, 1, 0, ""));             // their settings, acknowledged
                } else if (byte(3) <= 1 && (byte(4) & 1U) != 0) { // the end of a request
                    client.write(frame(1, 4, byte(8), "\x88") + frame(0, 1, byte(8), "two"));
                }
                if (!payload) { return; }
            }
        },
        tls.get()};
    auto const client = client_of(trusted(), http_version::http_2);
    for (auto const method : {http_method::get, http_method::post}) {
        auto const response =
            client.send(a_request(local.origin() + "/", method, method == http_method::post ? "body" : ""), a_call());
        REQUIRE(response);
        CHECK(response->status == 200);
        CHECK(response->body == "two");
    }
    listed_requests feed{std::vector<http_request>(20, a_request(local.origin() + "/"))};
    feed.send(client, 20, a_call());
    for (auto const& [slot, answer] : feed.answers()) { CHECK(answer); }
    CHECK(two == local.connections());
    CHECK(local.connections() <= 2);
    // a server that only knows 1.1 gets requests in 1.1
    auto const old_tls = trusted().server_side();
    server const old{each_request([](peer& answering, std::string const&) { answering.answer("one"); }), old_tls.get()};
    CHECK(client.send(a_request(old.origin() + "/"), a_call()).value().body == "one");
}
