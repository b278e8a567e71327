// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Services, gateways and proxies that quote a request in their response: no error contains the credential of the request.

#include <entitable/cloud/account/sas.hpp>
#include <entitable/cloud/http/detail/request_secrets.hpp>
#include <entitable/cloud/rest/azure_service.hpp>
#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/core/text.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>

#include <functional>

using namespace entitable;

namespace {

/// Answers every request with a text made of the request.
struct quoting_client {
    using is_http_client = void;
    std::function<http_response(std::string const& quoted)> answer;

    result<http_response> send(http_request const& request, http_call const&) const {
        std::string quoted{to_string(request.method)};
        quoted.append(" ").append(request.url);
        request.headers.for_each([&](std::string_view name, std::string_view value) {
            quoted.append(" ").append(name).append(": ").append(value);
        });
        return answer(quoted);
    }
};

std::string json_of(std::string_view code, std::string_view message) {
    std::string escaped;
    for (char const each : message) { escaped.append(each == '"' || each == '\\' ? "\\" : "").push_back(each); }
    return text::joined(
        {R"({"odata.error":{"code":")", code, R"(","message":{"lang":"en-US","value":")", escaped, R"("}}})"});
}

constexpr std::string_view signature = "c2VjcmV0c2VjcmV0%2BaWduYXR1cmU%3D";
constexpr std::string_view token = "eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.bm90aGluZyBvZiBpdA.c2lnbmF0dXJl";

/// Whether a text has eight characters in a row of a secret.
bool leaks(std::string_view text, std::string_view secret) {
    for (std::size_t at = 0; at + 8 <= secret.size(); ++at) {
        if (text.find(secret.substr(at, 8)) != std::string_view::npos) { return true; }
    }
    return false;
}

} // namespace

TEST_CASE("quoted secrets: no error has the credential of its request") {
    std::string sent; // the Authorization field of the last request
    std::size_t errors = 0;
    std::function<http_response(std::string const&)> const ways[] = {
        [](std::string const& quoted) {
            return http_response{403, {}, json_of("AuthenticationFailed", "header was " + quoted)};
        },
        [](std::string const& quoted) { // cut within the secret, by the service or by the length of a message
            std::size_t const at = quoted.find("sig=") != std::string::npos ? quoted.find("sig=") + 16 : 0;
            std::string const start = at != 0 ? quoted.substr(0, at) : quoted;
            return http_response{
                400, {}, json_of("InvalidInput", std::string(1'000 - (start.size() % 900), 'x') + quoted)};
        },
        [](std::string const& quoted) { return http_response{500, {}, json_of(quoted, "")}; },
        [](std::string const& quoted) {
            std::string xml = "<Error><Code>X</Code><Message>";
            for (char const each : quoted) { xml += each == '&' ? "&amp;" : std::string(1, each); }
            return http_response{404, {}, xml + "</Message></Error>"};
        },
        [](std::string const& quoted) {
            http_response made{502, {}, "no way"};
            std::string const tail = quoted.size() > 100 ? quoted.substr(quoted.size() - 100) : quoted;
            CHECK(made.headers.add("x-ms-request-id", tail));
            CHECK(made.headers.add("x-ms-error-code", quoted.substr(quoted.find("sig=") + 1, 120)));
            return made;
        },
        [](std::string const& quoted) { return http_response{200, {}, R"({"value":[{")" + quoted + R"(":[1]}]})"}; },
    };
    auto const who = [&](int kind) {
        switch (kind) {
            case 0:
                return credential::shared_access_signature(
                    text::joined({"sv=2019-02-02&tn=Orders&sp=raud&se=2099-01-01T00%3A00%3A00Z&sig=", signature}))
                    .value();
            case 1: return credential::account_key("acct", "c2VjcmV0IGtleQ==").value();
            default:
                return credential::bearer([](std::string_view) {
                    return access_token{std::string{token}, date_time::from_date(2099, 1, 1)};
                });
        }
    };
    for (int kind = 0; kind < 3; ++kind) {
        for (auto const& way : ways) {
            rest_options options;
            options.retries = retry_policy::none();
            quoting_client const client{[&](std::string const& quoted) {
                std::size_t const at = quoted.find("Authorization: ");
                sent = at == std::string::npos ? "" : quoted.substr(at + 15);
                sent = sent.substr(0, sent.find(' ', sent.find(' ') + 1));
                sent = sent.substr(sent.find_first_of(": ") == std::string::npos ? 0 : sent.find_last_of(": ") + 1);
                return way(quoted);
            }};
            auto const at = endpoint::parse("https://acct.table.core.windows.net", {}, "acct").value();
            rest<quoting_client> const store{client, at, who(kind), options};
            auto const check_text = [&](std::string_view text) {
                CAPTURE(kind, text);
                CHECK_FALSE(leaks(text, signature));
                CHECK_FALSE(leaks(text, "c2VjcmV0c2VjcmV0+aWduYXR1cmU="));
                CHECK_FALSE(leaks(text, token));
                if (sent.size() >= 8) { CHECK_FALSE(leaks(text, sent)); }
            };
            auto const look = [&](auto const& outcome, call const& context) {
                if (outcome) { return; }
                ++errors;
                check_text(outcome.error().to_string());
                check_text(outcome.error().message);
                check_text(outcome.error().server_message);
                check_text(outcome.error().request_id);
                for (std::string const& id : context.request_ids) { check_text(id); }
            };
            call context;
            look(store.execute(get_entity{"Orders", "p", "r", {}}, context), context);
            query_entities asked;
            asked.table = "Orders";
            look(store.execute(asked, context), context);
            mutation const insert = mutation::insert(testing::make_row("p", "r", {{"N", 1}}));
            look(store.execute(write_entity{"Orders", insert}, context), context);
            look(store.execute(transact{"Orders", {insert}}, context), context);
            look(store.execute(create_table{"Orders"}, context), context);
            look(rest_service<quoting_client>{store}.properties(context), context);
        }
    }
    CHECK(errors > 90);
}

TEST_CASE("quoted secrets: what is left of a text") {
    http_request sent;
    sent.url = "https://h/T?sv=1&sig=abcdefgh%2Bijklmnop&se=2";
    auto const struck = [&](std::string text) {
        detail::strike_secrets(text, sent);
        return text;
    };
    CHECK(struck("GET /T?sv=1&sig=abcdefgh%2Bijklmnop&se=2 failed") == "GET /T?sv=1&sig=***&se=2 failed");
    CHECK(struck("sig=abcdefgh+ijklmnop.") == "sig=***+***.");
    CHECK(struck("sig=abcdefgh") == "sig=***");
    CHECK(struck("sig=abcdefg") == "sig=abcdefg"); // fewer than eight characters tell nothing
    CHECK(struck("the table does not exist") == "the table does not exist");
    CHECK(struck("").empty());
    REQUIRE(sent.headers.add("Authorization", "SharedKey acct:0123456789ABCDEF"));
    CHECK(struck("SharedKey acct:0123456789ABCDEF") == "SharedKey acct:***");
    CHECK(struck("twice 0123456789ABCDEF 0123456789") == "twice *** ***");
    sent.url = "https://h/T?sig=abc";
    CHECK(struck("sig=abc") == "sig=***");
}
