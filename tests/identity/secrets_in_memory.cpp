// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Secrets, assertions and tokens of identities appear in no error, and do not remain in memory with the last holder. The HTTP client of these
// tests stores nothing; copies inside libcurl are not covered.

#if defined(__linux__)

#include <entitable/cloud/identity/identity.hpp>

#include <http/certificates.hpp>
#include <identity/machine.hpp>
#include <support/hidden_memory.hpp>
#include <support/temporary_folder.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Answers with a token that is not stored anywhere else, and stores nothing of the request.
struct forgetful_authority {
    std::string_view token;
    std::uint16_t status{200};
    bool repeats_request{};
    std::string challenge{};
    std::size_t asked{};

    result<http_response> send(http_request const& request, http_call const&) {
        ++asked;
        http_response made;
        made.status = status;
        if (!challenge.empty() && request.method == http_method::get && !request.headers.find("Authorization")) {
            made.status = 401;
            REQUIRE(made.headers.add("WWW-Authenticate", challenge));
            return made;
        }
        made.body.reserve(16'384);
        if (repeats_request) { // a hostile answer
            made.body.append(R"({"error":")").append(request.body).append(R"(","error_description":"AADSTS)");
            made.body.append(request.body).append("\",\"trace_id\":\"").append(request.body).append("\"}");
        } else {
            made.body.append(R"({"token_type":"Bearer","expires_in":3599,"access_token":")")
                .append(token)
                .append("\"}");
        }
        return made;
    }
};

endpoint account() { return endpoint::parse("https://acct.table.core.windows.net").value(); }

/// Writes a file without a buffer of the library.
void write_hidden(std::string const& path, std::initializer_list<std::string_view> parts) {
    int const file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    REQUIRE(file >= 0);
    for (std::string_view const part : parts) {
        REQUIRE(::write(file, part.data(), part.size()) == static_cast<ssize_t>(part.size()));
    }
    ::close(file);
}

/// Uses an identity in all ways.
void use(identity const& who, testing::manual_clock& time, forgetful_authority& authority) {
    credential const used = who;
    http_request request;
    for (std::uint16_t const status : std::initializer_list<std::uint16_t>{200, 401, 200}) {
        authority.status = status;
        request.url = account().primary + "/Orders";
        static_cast<void>(used.authorize(request, account(), time.now()));
        used.refused(request, time.now(), "Bearer authorization_uri=https://login.microsoftonline.com/other/");
        time.advance(std::chrono::minutes{58});
        request.forget_credential();
    }
    authority.status = 200;
    auto token = who.request_token(storage_scope);
    if (token) { wipe(token->text.data(), token->text.size()); }
    authority.status = 400;
    authority.repeats_request = true;
    auto refused = who.request_token(storage_scope);
    if (refused) {
        wipe(refused->text.data(), refused->text.size());
    } else {
        std::string const all = refused.error().to_string() + refused.error().detail + refused.error().server_message;
        CHECK(all.find("hunter2") == std::string::npos);
    }
    authority.repeats_request = false;
    authority.status = 200;
}

} // namespace

TEST_CASE("no secret, assertion, certificate or token of an identity remains in memory") {
    hidden_memory hidden;
    temporary_folder const folder;
    std::string const keys = folder / "tokens";
    ::mkdir(keys.c_str(), 0700);
    struct plan {
        std::string_view name;
        std::size_t length; ///< of its secret
        std::function<identity(machine&, std::string_view secret, std::string_view token)> make;
    };
    plan const plans[] = {
        {"secret", 400,
            [](machine& here, std::string_view secret, std::string_view) {
                return identity{detail::secret_source(a_tenant, a_client, secret, here.seen())};
            }},
        {"secret, tenant unknown", 400,
            [](machine& here, std::string_view secret, std::string_view) {
                return identity{detail::secret_source("", a_client, secret, here.seen())};
            }},
        {"federated token", 900,
            [&](machine& here, std::string_view secret, std::string_view) {
                write_hidden(folder / "assertion", {secret, "\n"});
                here.options.tenant = a_tenant;
                here.options.client = a_client;
                here.options.token_file = folder / "assertion";
                return identity{detail::workload_source(here.seen())};
            }},
        {"App Service", 100,
            [](machine& here, std::string_view secret, std::string_view) {
                auto seen = here.seen();
                seen.variable = [secret](std::string_view name) -> std::optional<std::string> {
                    if (name == "IDENTITY_ENDPOINT") { return "http://127.0.0.1:1/token"; }
                    return name == "IDENTITY_HEADER" ? std::optional{std::string{secret}} : std::nullopt;
                };
                return identity{detail::managed_source(std::move(seen))};
            }},
        {"Azure Arc", 300,
            [&](machine& here, std::string_view secret, std::string_view) {
                write_hidden(keys + "/a.key", {secret});
                here.arc_keys = keys;
                here.variables = {{"IDENTITY_ENDPOINT", "http://127.0.0.1:1/token"}, {"IMDS_ENDPOINT", "x"}};
                return identity{detail::managed_source(here.seen())};
            }},
        {"CLI", 20,
            [&](machine& here, std::string_view, std::string_view token) {
                here.variables["PATH"] = std::string{folder.path()} + ":/bin:/usr/bin";
                write_hidden(folder / "az",
                    {"#!/bin/sh\ncat <<'END'\n{\"accessToken\": \"", token, "\", \"expires_on\": 1796000000}\nEND\n"});
                return identity{detail::cli_source(here.seen())};
            }},
        {"chain", 400,
            [](machine& here, std::string_view secret, std::string_view) {
                auto seen = here.seen();
                seen.variable = [secret](std::string_view name) -> std::optional<std::string> {
                    if (name == "AZURE_TENANT_ID") { return std::string{a_tenant}; }
                    if (name == "AZURE_CLIENT_ID") { return std::string{a_client}; }
                    return name == "AZURE_CLIENT_SECRET" ? std::optional{std::string{secret}} : std::nullopt;
                };
                return identity{detail::default_source(seen)};
            }},
    };
    for (plan const& each : plans) {
        INFO(each.name);
        // First with other secrets: functions called for the first time are bound then, and the dynamic linker saves registers on the stack.
        for (bool const first : {true, false}) {
            std::string_view const secret = hidden.make_secret(each.length);
            std::string_view const token = hidden.make_secret(1500);
            {
                machine here;
                forgetful_authority authority{token};
                if (each.name == "Azure Arc") { authority.challenge = "Basic realm=" + keys + "/a.key"; }
                if (each.name == "secret, tenant unknown") {
                    authority.challenge =
                        "Bearer authorization_uri=https://login.microsoftonline.com/t/oauth2/authorize";
                }
                here.options.send = here.options.send_local = [&](http_request const& request, http_call const& call) {
                    return authority.send(request, call);
                };
                identity const who = each.make(here, secret, token);
                use(who, here.time, authority);
                CHECK((authority.asked > 3 || each.name == "CLI"));
            }
            std::size_t const of_secret = hidden.pieces_elsewhere(secret);
            std::size_t const of_token = hidden.pieces_elsewhere(token);
            CHECK((first || of_secret == 0));
            CHECK((first || of_token == 0));
        }
    }
}

#endif
