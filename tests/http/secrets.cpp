// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A planted key, signature and token appear in no output, regardless of what fails.

#include <entitable/cloud/account/connection_string.hpp>
#include <entitable/cloud/account/sas.hpp>
#include <entitable/cloud/http/curl_client.hpp>

#include <http/certificates.hpp>
#include <http/requests.hpp>
#include <http/server.hpp>
#include <support/catch.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

// "planted key of the account" and so on, in base64 if the real ones are.
constexpr std::string_view planted_key = "cGxhbnRlZCBrZXkgb2YgdGhlIGFjY291bnQ=";
constexpr std::string_view planted_sas =
    "sv=2019-02-02&ss=t&srt=sco&sp=r&se=2036-01-01T00%3A00%3A00Z&sig=cGxhbnRlZCBzaWduYXR1cmU%2Bx%2F%3D";
constexpr std::string_view planted_token = "planted.token.of-entra";

/// No part of an error contains a secret, in any form.
void check_silent(entitable::error const& problem) {
    std::string all = text::joined({problem.message, "|", problem.detail, "|", problem.server_message, "|",
        problem.to_string(), "|", problem.request_id, "|", problem.what()});
    try {
        problem.raise();
    } catch (std::exception const& thrown) { all += thrown.what(); }
    INFO(all);
    for (std::string_view const secret : {"cGxhbnRlZCBr", "planted", "cGxhbnRlZCBzaWduYXR1cmU", "sig=", "Bearer",
             "SharedKey", "hunter2", "2036-01-01"}) {
        CHECK(all.find(secret) == std::string::npos);
    }
}

struct plan {
    std::string name;
    credential who;
};

std::vector<plan> every_credential() {
    date_time const later{date_time::from_date(2026, 11, 20).ticks + 3600 * date_time::ticks_per_second};
    return {{"key", credential::account_key("acct", planted_key).value()},
        {"key lite", credential::account_key("acct", planted_key, key_scheme::shared_key_lite).value()},
        {"signature", credential::shared_access_signature(planted_sas).value()},
        {"token", credential::bearer([later](std::string_view) -> result<access_token> {
             return access_token{std::string{planted_token}, later};
         })}};
}

/// Sends a signed request in every way to `at`, which fails.
void check_all(curl_client const& client, std::string const& origin, http_call const& call) {
    for (auto const& [name, who] : every_credential()) {
        INFO(name);
        auto const at = endpoint::parse(origin + "/acct").value();
        auto request = a_request(at.primary + "/T(PartitionKey='hunter2',RowKey='')", http_method::put, "hunter2");
        auto const signed_ = who.authorize(request, at, date_time::from_date(2026, 11, 20));
        if (!signed_) {
            check_silent(signed_.error());
            continue;
        }
        auto const response = client.send(request, call);
        if (response) {
            CHECK(response->status >= 400); // an answer of the server, with its text
            continue;
        }
        check_silent(response.error());
    }
}

} // namespace

TEST_CASE("errors from sending a request contain no secrets") {
    authority const trusted;
    auto const tls = trusted.server_side();
    certificate_terms expired_terms;
    expired_terms.ends = -1;
    auto const expired = trusted.server_side(expired_terms);
    // Echoes its request in a different part of the answer each time; each answer is invalid.
    std::atomic<std::size_t> times{0};
    constexpr std::string_view places[] = {"HTTP/1.1 ", "HTTP/1.1 200 OK\r\nContent-Length: ",
        "HTTP/1.1 200 OK\r\nContent-Encoding: ", "HTTP/1.1 200 OK\r\nTransfer-Encoding: ", "HTTP/1.1 200 OK\r\nX ",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 500 ", ""};
    server const parrot{each_request([&](peer& client, std::string const& request) {
                            std::size_t const field = request.find("Authorization: ");
                            std::size_t const begin = field == std::string::npos ? 0 : field + 15;
                            client.write(places[times++ % std::size(places)]);
                            client.write(
                                request.substr(begin, request.find('\r', begin) - begin) + "\r\n\r\n" + request);
                            client.cut();
                        }),
        tls.get()};
    server const silent{each_request([](peer& client, std::string const&) { client.hang(); }), tls.get()};
    server const stale{each_request([](peer& client, std::string const&) { client.answer("x"); }), expired.get()};
    curl_options options;
    options.ca_file = trusted.file();
    curl_client const client{options};
    for (std::size_t place = 0; place < std::size(places); ++place) {
        times = place;
        check_all(client, parrot.origin(), a_call());
    }
    check_all(client, silent.origin(), a_call(std::chrono::milliseconds{20}));
    check_all(client, stale.origin(), a_call());
    check_all(client, "https://127.0.0.1:1", a_call());
    check_all(client, "http://10.255.255.1", a_call());
    check_all(client, "http://127.0.0.1:" + std::to_string(parrot.port()), a_call());
    options.proxy = "http://planted:hunter2@127.0.0.1:1";
    check_all(curl_client{options}, parrot.origin(), a_call());
    options.proxy = "planted://hunter2";
    check_all(curl_client{options}, parrot.origin(), a_call());
}

TEST_CASE("an error for a connection string or a signature contains no secret") {
    std::string const good = text::joined({"AccountName=acct;AccountKey=", planted_key});
    for (std::string const& bad :
        {good + ";" + std::string{planted_sas}, good + ";SharedAccessSignature=" + std::string{planted_sas},
            good + ";EndpointSuffix=hunter2 x", good + ";TableEndpoint=https://u:hunter2@x", std::string{planted_key},
            "AccountName=" + std::string{planted_key} + ";AccountKey=" + std::string{planted_key},
            "AccountName=acct;AccountKey=" + std::string{planted_key} + "x", good + ";" + good,
            good + ";planted=hunter2",
            "AccountName=acct;SharedAccessSignature=" + std::string{planted_sas} + "&sig=x"}) {
        auto const parsed = parse_connection_string(bad);
        REQUIRE_FALSE(parsed);
        check_silent(parsed.error());
    }
    table_sas terms;
    terms.table = "hunter2";
    terms.permissions = "hunter2";
    terms.first_partition = "hunter2";
    terms.expiry = date_time::from_date(2036, 1, 1);
    check_silent(make_signature(every_credential()[0].who, terms).error());
}

TEST_CASE("a request still contains its credential") {
    // The tests above would also pass if nothing was sent.
    for (auto const& [name, who] : every_credential()) {
        auto const at = endpoint::parse("https://acct.table.core.windows.net").value();
        auto request = a_request(at.primary + "/Tables");
        who.authorize(request, at, date_time::from_date(2026, 11, 20)).value();
        CHECK((request.url.find("sig=cGxhbnRlZCB") != std::string::npos ||
            request.headers.find("Authorization").has_value()));
    }
}
