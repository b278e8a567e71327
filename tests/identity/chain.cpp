// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Chains and the default identity: which member is asked, what ends the search, what the error says.

#include <entitable/cloud/identity/identity.hpp>

#include <identity/machine.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

/// A computer without any identity, until a test adds one.
struct bare_machine : machine {
    bare_machine() { variables["PATH"] = "/nowhere"; }
    [[nodiscard]] identity standard() { return identity{detail::default_source(seen())}; }
    void add_environment() {
        variables["AZURE_TENANT_ID"] = a_tenant;
        variables["AZURE_CLIENT_ID"] = a_client;
        variables["AZURE_CLIENT_SECRET"] = "s";
    }
};

identity works(std::string text) {
    return identity{token_source{[text = std::move(text)](std::string_view) -> result<access_token> {
        return access_token{text, date_time::from_date(2030, 1, 1)};
    }}};
}
identity fails() {
    return identity{token_source{[](std::string_view) -> result<access_token> {
        return failure{error_code::authentication_failed, "refused"};
    }}};
}

} // namespace

TEST_CASE("the default identity says why each of its members has none") {
    bare_machine here;
    auto const none = here.standard().request_token(storage_scope);
    CHECK(none.error().code == error_code::authentication_failed);
    CHECK(none.error().effect == effect::none);
    CHECK(none.error().message ==
        "no identity is available here: environment: AZURE_TENANT_ID is not set; workload identity: "
        "AZURE_FEDERATED_TOKEN_FILE is not set; managed identity: nothing answers at the metadata address of Azure "
        "within "
        "1000 ms; Azure CLI: az was not found in PATH");
    REQUIRE(here.local.asked().size() == 1); // the probe, once
    CHECK(golden(here.local.last()) ==
        "GET http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01"
        "&resource=https%3A%2F%2Fstorage.azure.com\n");
    CHECK(here.local.calls().back().request_timeout == std::chrono::seconds{1});
}

TEST_CASE("the default identity takes the first member that exists") {
    bare_machine here;
    here.add_environment();
    here.authority.then(200, a_token_body);
    CHECK(here.standard().request_token(storage_scope));
    CHECK(here.local.asked().empty());

    bare_machine vm;
    identity const who = vm.standard();
    vm.local.then(400); // the probe
    vm.local.then(200, a_token_body);
    CHECK(who.request_token(storage_scope));
    CHECK(vm.local.asked()[0].headers.empty());
    CHECK(vm.local.asked()[1].headers.find("Metadata") == "true");
    vm.local.then(200, a_token_body);
    CHECK(who.request_token(storage_scope)); // and is not probed again
    CHECK(vm.local.asked().size() == 3);
}

TEST_CASE("a member that exists and is refused ends the search") {
    bare_machine here;
    here.add_environment();
    here.authority.then(401, R"({"error":"invalid_client"})");
    auto const refused = here.standard().request_token(storage_scope);
    CHECK_THAT(refused.error().message, StartsWith("client secret: refused with 401"));
    CHECK(here.local.asked().empty());
}

TEST_CASE("a machine without an identity, and networks where something else answers, are passed over") {
    for (std::uint16_t const status : std::initializer_list<std::uint16_t>{400, 401, 403, 404}) {
        bare_machine here;
        here.local.then(status); // the probe
        for (int times = 0; times < 6; ++times) { here.local.then(status); }
        auto const none = here.standard().request_token(storage_scope);
        INFO(status);
        CHECK_THAT(none.error().message, StartsWith("no identity is available here"));
        CHECK_THAT(none.error().message, ContainsSubstring("IMDS): refused with " + std::to_string(status)));
        CHECK_THAT(none.error().message, EndsWith("az was not found in PATH"));
    }
    bare_machine here;
    for (int times = 0; times < 7; ++times) { here.local.then(503); }
    CHECK(here.standard().request_token(storage_scope).error().code == error_code::server_busy);
}

TEST_CASE("AZURE_TOKEN_CREDENTIALS chooses members") {
    struct row {
        std::string value;
        std::string_view message;
        std::size_t probes;
    };
    for (row const& each : {row{"prod", "no identity is available here: environment:", 1}, {"dev", "Azure CLI:", 0},
             {"AzureCliCredential", "Azure CLI:", 0}, {"environmentcredential", "environment:", 0},
             {"WorkloadIdentityCredential", "workload identity:", 0},
             {"ManagedIdentityCredential", "managed identity (IMDS):", 4},
             {"hunter2", "AZURE_TOKEN_CREDENTIALS must be", 0}}) {
        bare_machine here;
        here.variables["AZURE_TOKEN_CREDENTIALS"] = each.value;
        auto const none = here.standard().request_token(storage_scope);
        INFO(each.value);
        CHECK_THAT(none.error().message, StartsWith(std::string{each.message}));
        CHECK(none.error().message.find("hunter2") == std::string::npos);
        // alone, it is not probed; it is asked, and asked again
        CHECK((each.probes == 4 ? here.local.asked().size() == 6 : here.local.asked().size() == each.probes));
        if (each.value == "prod") { CHECK(none.error().message.find("CLI") == std::string::npos); }
    }
}

TEST_CASE("the managed identity of the default is the one with the client id of the environment") {
    bare_machine here;
    here.variables["AZURE_CLIENT_ID"] = "abc";
    here.local.then(400);
    here.local.then(200, a_token_body);
    CHECK(here.standard().request_token(storage_scope));
    CHECK_THAT(here.local.last().url, EndsWith("&client_id=abc"));
}

TEST_CASE("a chain of your own identities keeps the member that has answered") {
    int asked = 0;
    identity const counted_source{token_source{[&](std::string_view) -> result<access_token> {
        ++asked;
        return access_token{"counted", date_time::from_date(2030, 1, 1)};
    }}};
    bare_machine here;
    identity const absent{detail::workload_source(here.seen())};
    identity const both = chain({absent, counted_source, fails()});
    CHECK(both.request_token("s").value().text == "counted");
    CHECK(both.request_token("s").value().text == "counted");
    CHECK(asked == 2);
    CHECK(chain({fails(), works("second")}).request_token("s").error().message == "refused");
    CHECK_THAT(chain({}).request_token("s").error().message, ContainsSubstring("the chain is empty"));
    CHECK(chain({absent, chain({absent, works("inner")})}).request_token("s").value().text == "inner");
    CHECK(chain({chain({absent}), works("outer")}).request_token("s").value().text == "outer");
    identity const moved = chain({works("a")});
    identity const copy = moved; // NOLINT: tests a copy
    CHECK(copy.request_token("s").value().text == "a");
}

TEST_CASE("a cancelled probe does not pass to the next member") {
    bare_machine here;
    here.local.then([](http_request const&) -> result<http_response> {
        return failure{error_code::cancelled, "the call was cancelled"};
    });
    CHECK(here.standard().request_token(storage_scope).error().code == error_code::cancelled);
}
