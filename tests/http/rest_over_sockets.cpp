// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Table requests over real connections that fail: each ends with a typed error, in time, and writes have an unknown
// effect.

#include <entitable/cloud/rest/azure_backend.hpp>
#include <entitable/testing/rows.hpp>

#include <http/requests.hpp>
#include <http/server.hpp>
#include <support/catch.hpp>

using namespace entitable;
using namespace entitable_test;
using std::chrono::milliseconds;
using testing::make_row;

namespace {

// The bytes 0, 1, 2 ... 63: a test key.
constexpr std::string_view planted_key =
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw==";
constexpr std::string_view planted_sas = "sv=2019-02-02&sig=cGxhbnRlZA%3D%3D";

azure_backend backend_at(server const& local, bool by_key = true) {
    rest_options options;
    options.retries = retry_policy::none(); // each request is one attempt
    return azure_backend{text::joined({"AccountName=acct;TableEndpoint=", local.origin(), "/acct;",
                             by_key ? "AccountKey=" : "SharedAccessSignature=", by_key ? planted_key : planted_sas}),
        options};
}

/// Stores its events, like an observer that logs everything.
struct talkative final : observer {
    std::string log;
    int attempts{0};
    void on_attempt(attempt_record const& done) noexcept override {
        ++attempts;
        log += text::joined({done.name, " ", done.table, " ", done.request_id, " ", done.server.system, " ",
            done.server.address, " ", done.outcome.error ? to_string(*done.outcome.error) : "", "\n"});
    }
};

/// How a response fails: how much of it arrives, and what happens then.
enum class ending { wait, fin, rst };

std::function<void(peer&)> broken(std::string text, ending how) {
    return each_request([text = std::move(text), how](peer& client, std::string const&) {
        client.write(text);
        switch (how) {
            case ending::wait: client.hang(); break;
            case ending::fin: client.cut(); break;
            case ending::rst: client.reset(); break;
        }
    });
}

write_entity insert() { return {"Orders", mutation::insert(make_row("p", "r", {{"N", 1}}))}; }

/// The kinds of requests that change nothing.
template <class Request>
inline constexpr bool only_reads = std::is_same_v<Request, get_entity> || std::is_same_v<Request, query_entities> ||
    std::is_same_v<Request, list_tables>;

/// Sends one request of each kind to a server that answers `text` and ends in the given way. Returns the number of
/// kinds.
template <class... Requests>
void check_each(std::string const& text, ending how, Requests const&... requests) {
    server const local{broken(text, how)};
    auto const store = backend_at(local, how != ending::fin);
    (
        [&] {
            INFO(Requests::name << " after " << text.size() << " bytes, ending " << static_cast<int>(how));
            talkative watch;
            call context;
            context.watch = &watch;
            context.deadline = std::chrono::steady_clock::now() + milliseconds{how == ending::wait ? 30 : 10'000};
            result<response_of<Requests>> response{std::in_place};
            auto const took = time_of_work([&] { response = store.execute(requests, context); });
            REQUIRE_FALSE(response);
            CHECK(took < soon);
            CHECK(response.error().code ==
                (how == ending::wait ? error_code::deadline_exceeded : error_code::transport_failed));
            CHECK(response.error().effect == (only_reads<Requests> ? effect::none : effect::unknown));
            CHECK(watch.attempts == 1);
            for (std::string_view const secret : {"AAECAw", "cGxhbnRlZA", "sig=", "SharedKey acct"}) {
                CHECK(watch.log.find(secret) == std::string::npos);
            }
        }(),
        ...);
}

} // namespace

TEST_CASE("every table request returns an error if its response is cut off, wherever the cut is") {
    std::string const page =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{\"value\":[";
    query_entities query;
    query.table = "Orders";
    write_entity remove{"Orders", mutation::remove(make_row("p", "r"), any_etag)};
    for (std::string const& text : {std::string{}, page}) {
        for (auto const how : {ending::wait, ending::fin, ending::rst}) {
            check_each(text, how, get_entity{"Orders", "p", "r", {}}, query, list_tables{}, insert(), remove,
                transact{"Orders", {insert().change}}, create_table{"Orders"}, delete_table{"Orders"});
        }
    }
}

TEST_CASE("without a listener no table request has an effect") {
    azure_backend const store{
        text::joined({"AccountName=acct;TableEndpoint=http://127.0.0.1:1/acct;AccountKey=", planted_key})};
    call context;
    auto const response = store.execute(insert(), context);
    REQUIRE_FALSE(response);
    CHECK(response.error().code == error_code::transport_failed);
    CHECK(response.error().effect == effect::none);
}

TEST_CASE("HTTP without TLS to a different computer is refused, whatever the connection string contains") {
    azure_backend const store{
        text::joined({"DefaultEndpointsProtocol=http;AccountName=acct;AccountKey=", planted_key})};
    call context;
    auto const response = store.execute(get_entity{"Orders", "p", "r", {}}, context);
    REQUIRE_FALSE(response);
    CHECK(response.error().code == error_code::invalid_input);
    CHECK(response.error().effect == effect::none);
}

TEST_CASE("an attempt has its own timeout") {
    server const local{broken("", ending::wait)};
    rest_options options;
    options.request_timeout = milliseconds{30};
    auto const store = azure_backend::connect(
        text::joined({"AccountName=acct;TableEndpoint=", local.origin(), "/acct;AccountKey=", planted_key}), options)
                           .value();
    call context;
    auto const response = store.execute(insert(), context);
    REQUIRE_FALSE(response);
    CHECK(response.error().code == error_code::transport_failed);
    CHECK(response.error().effect == effect::unknown);
}

TEST_CASE("a redirect is an error and is not followed") {
    std::atomic<int> strangers{0};
    server const stranger{each_request([&](peer& client, std::string const&) {
        ++strangers;
        client.answer("{}");
    })};
    server const local{each_request([&](peer& client, std::string const&) {
        client.answer("", "307 Temporary Redirect", "Location: " + stranger.origin() + "/\r\n");
    })};
    auto const store = backend_at(local);
    call context;
    CHECK_FALSE(store.execute(get_entity{"Orders", "p", "r", {}}, context));
    CHECK_FALSE(store.execute(insert(), context));
    CHECK(strangers == 0);
}

TEST_CASE("a refusal by a proxy that closes the connection keeps its code and has no effect") {
    std::string const json =
        R"({"odata.error":{"code":"AuthenticationFailed","message":{"lang":"en-US","value":"Server failed"}}})";
    struct expected {
        std::string text;
        error_code code;
        std::uint16_t status;
        effect left;
    };
    for (expected const& each : {expected{"HTTP/1.0 403 Forbidden\r\nContent-Type: application/json\r\n\r\n" + json,
                                     error_code::authentication_failed, 403, effect::none},
             {"HTTP/1.0 403 Forbidden\r\nContent-Length: 5000\r\n\r\n" + json.substr(0, 30),
                 error_code::authorization_failure, 403, effect::none},
             {"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 5\r\n\r\n", error_code::server_busy, 429, effect::none},
             // as Node.js closes a connection whose header is too large or not HTTP
             {"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n",
                 error_code::other_service_error, 431, effect::none},
             {"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", error_code::other_service_error, 400,
                 effect::none},
             {"HTTP/1.0 407 Proxy Authentication Required\r\n\r\n<html>", error_code::other_service_error, 407,
                 effect::none},
             {"HTTP/1.0 408 Request Timeout\r\n\r\n", error_code::operation_timed_out, 408, effect::unknown},
             {"HTTP/1.0 502 Bad Gateway\r\nRetry-After: 5\r\n\r\n<html><body>", error_code::server_busy, 502,
                 effect::unknown},
             {"HTTP/1.0 200 OK\r\n\r\n" + json, error_code::transport_failed, 0, effect::unknown},
             {"HTTP/1.0 201 Created\r\nETag: W/\"1\"\r\n\r\n", error_code::transport_failed, 0, effect::unknown},
             {"HTTP/1.0 302 Found\r\n\r\n", error_code::transport_failed, 0, effect::unknown}}) {
        CAPTURE(each.text);
        server const local{broken(each.text, ending::fin)};
        auto const store = backend_at(local);
        call context;
        auto const read = store.execute(get_entity{"Orders", "p", "r", {}}, context);
        auto const wrote = store.execute(insert(), context);
        REQUIRE_FALSE(read);
        REQUIRE_FALSE(wrote);
        CHECK(read.error().code == each.code);
        CHECK(read.error().http_status == each.status);
        CHECK(read.error().effect == effect::none);
        CHECK(wrote.error().code == each.code);
        CHECK(wrote.error().effect == each.left);
        bool const later = each.text.find("Retry-After") != std::string::npos;
        CHECK(wrote.error().retry_after.value_or(milliseconds{0}) == milliseconds{later ? 5000 : 0});
    }
}
