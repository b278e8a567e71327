// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The identity of the machine: golden requests, what is repeated, what is refused.

#include <entitable/cloud/identity/identity.hpp>

#include <identity/machine.hpp>
#include <support/temporary_folder.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

using namespace entitable;
using namespace entitable_test;

namespace {

std::string imds_body(std::int64_t expires_on, std::string const& resource = "https://storage.azure.com") {
    return R"({"access_token":"tok.en-1","client_id":"c","expires_in":"86399","expires_on":")" +
        std::to_string(expires_on) + R"(","ext_expires_in":"86399","not_before":"1","resource":")" + resource +
        R"(","token_type":"Bearer"})";
}

void write_file(std::string const& path, std::string_view content) { std::ofstream{path} << content; }

} // namespace

TEST_CASE("IMDS is asked for a token as documented") {
    machine here;
    here.local.then(200, imds_body(here.seconds() + 7200));
    auto const token = here.managed().request_token(storage_scope).value();
    CHECK(token.text == "tok.en-1");
    CHECK(token.expires == here.time.now() + std::chrono::seconds{86399}); // without a Date field, expires_in counts
    CHECK(golden(here.local.last()) ==
        "GET http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01"
        "&resource=https%3A%2F%2Fstorage.azure.com\nMetadata: true\n");
    CHECK(here.authority.asked().empty());
    CHECK(here.local.calls().back().request_timeout == std::chrono::milliseconds{10'000});
    CHECK(here.local.calls().back().max_body_size == 65'536);
}

TEST_CASE("IMDS is asked for a user-assigned identity by one of three ids") {
    for (auto const& [member, parameter] :
        {std::pair{&identity_options::client, "&client_id=a%20b"}, {&identity_options::object_id, "&object_id=a%20b"},
            {&identity_options::resource_id, "&msi_res_id=a%20b"}}) {
        machine here;
        here.options.*member = "a b";
        here.local.then(200, imds_body(here.seconds() + 7200));
        CHECK(here.managed().request_token(storage_scope));
        CHECK_THAT(here.local.last().url, EndsWith(parameter));
    }
    machine here;
    here.options.client = "a";
    here.options.object_id = "b";
    auto const refused = here.managed().request_token(storage_scope);
    CHECK(refused.error().code == error_code::invalid_input);
    CHECK(here.local.asked().empty());
}

TEST_CASE("an expiry counts by the clock of the server, since the clock of this computer may be wrong") {
    for (std::int64_t const wrong : {-3600, 0, 3600}) {
        machine here;
        std::int64_t const server = here.seconds() - wrong;
        date_time const server_time{date_time::unix_epoch + server * date_time::ticks_per_second};
        here.local.then(200, imds_body(server + 1800), {{"Date", std::string{detail::http_date(server_time)}}});
        auto const token = here.managed().request_token(storage_scope).value();
        CHECK(token.expires == here.time.now() + std::chrono::seconds{1800});
    }
    machine here;
    date_time const now = here.time.now();
    here.local.then(200, imds_body(here.seconds() - 1), {{"Date", std::string{detail::http_date(now)}}});
    CHECK_THAT(here.managed().request_token(storage_scope).error().message, ContainsSubstring("expired already"));
}

TEST_CASE("IMDS is asked again after the statuses that its documentation names, and only after those") {
    for (std::uint16_t const status : std::initializer_list<std::uint16_t>{404, 408, 429, 500, 502, 503, 504}) {
        machine here;
        for (int times = 0; times < 5; ++times) { here.local.then(status); }
        here.local.then(200, imds_body(here.seconds() + 7200));
        CHECK(here.managed().request_token(storage_scope));
        CHECK(here.local.asked().size() == 6);
        CHECK(here.waited() == std::chrono::milliseconds{800 + 1600 + 3200 + 6400 + 12'800});
    }
    for (std::uint16_t const status : std::initializer_list<std::uint16_t>{400, 401, 403, 405}) {
        machine here;
        here.local.then(status);
        auto const refused = here.managed().request_token(storage_scope);
        CHECK(refused.error().code == error_code::authentication_failed);
        CHECK(refused.error().http_status == status);
        CHECK(refused.error().effect == effect::none);
        CHECK(here.local.asked().size() == 1);
    }
    machine here;
    for (int times = 0; times < 7; ++times) { here.local.then(503); }
    auto const refused = here.managed().request_token(storage_scope);
    CHECK(refused.error().code == error_code::server_busy);
    CHECK(here.local.asked().size() == 6);
}

TEST_CASE("IMDS is waited for 70 seconds while it is updated") {
    machine here;
    for (int times = 0; times < 30; ++times) { here.local.then(410); }
    auto const refused = here.managed().request_token(storage_scope);
    REQUIRE_FALSE(refused);
    CHECK(here.waited() >= std::chrono::seconds{57}); // the next wait would go past 70 s
    // Then 410 is repeated like other statuses, so that a service which answers 410 for good is not asked forever.
    CHECK(here.local.asked().size() < 16);
    machine slow;
    for (int times = 0; times < 7; ++times) { slow.local.then(410); }
    slow.local.then(200, imds_body(slow.seconds() + 7200));
    CHECK(slow.managed().request_token(storage_scope));
}

TEST_CASE("a wait between requests ends at the deadline, and when the call is cancelled") {
    machine here;
    for (int times = 0; times < 30; ++times) { here.local.then(503); }
    http_call limits;
    limits.deadline = here.time.steady() + std::chrono::seconds{2};
    auto const late = here.managed().request_token(storage_scope, limits);
    CHECK(late.error().code == error_code::deadline_exceeded);
    CHECK(late.error().effect == effect::none);
    CHECK(here.waited() <= std::chrono::milliseconds{2100});
    cancellation_source stop;
    limits = {};
    limits.cancellation = stop.token();
    stop.cancel();
    CHECK(here.managed().request_token(storage_scope, limits).error().code == error_code::cancelled);
}

TEST_CASE("App Service is asked for a token as documented") {
    machine here;
    here.variables = {
        {"IDENTITY_ENDPOINT", "http://127.0.0.1:41741/msi/token/"}, {"IDENTITY_HEADER", "hunter2-header"}};
    here.options.client = a_client;
    here.local.then(200, imds_body(here.seconds() + 7200, "https://storage.azure.com/"));
    CHECK(here.managed().request_token(storage_scope).value().text == "tok.en-1");
    CHECK(golden(here.local.last()) ==
        "GET http://127.0.0.1:41741/msi/token/?api-version=2019-08-01&resource=https%3A%2F%2Fstorage.azure.com"
        "&client_id=6731de76-14a6-49ae-97bc-6eba6914391e\nX-IDENTITY-HEADER: hunter2-header\n");
    here.options.client = "";
    here.options.object_id = "o";
    here.local.then(404);
    auto const refused = here.managed().request_token(storage_scope);
    CHECK_THAT(here.local.last().url, EndsWith("&principal_id=o"));
    CHECK(here.local.asked().size() == 2); // 404 is not a status of an update here
    CHECK(refused.error().code == error_code::authentication_failed);
    here.options.object_id = "";
    here.options.resource_id = "r";
    here.local.then(400);
    CHECK_FALSE(here.managed().request_token(storage_scope));
    CHECK_THAT(here.local.last().url, EndsWith("&mi_res_id=r"));
}

TEST_CASE("an address that is not of this machine never gets the header") {
    for (std::string const address : {"http://example.com/msi", "https://example.com/msi", "http://10.0.0.1/msi",
             "http://169.253.1.1/msi", "http://127.0.0.1.example.com/", "ftp://127.0.0.1/", "http://127.0.0.1/?a=b"}) {
        machine here;
        here.variables = {{"IDENTITY_ENDPOINT", address}, {"IDENTITY_HEADER", "hunter2"}};
        auto const refused = here.managed().request_token(storage_scope);
        INFO(address);
        CHECK(refused.error().code == error_code::invalid_input);
        CHECK_THAT(refused.error().message, ContainsSubstring("IDENTITY_ENDPOINT"));
        CHECK(here.local.asked().empty());
        CHECK(here.authority.asked().empty());
    }
    for (std::string const address : {"http://169.254.129.3:8081/msi/token", "http://localhost:42356/msi/token"}) {
        machine here;
        here.variables = {{"IDENTITY_ENDPOINT", address}, {"IDENTITY_HEADER", "h"}};
        here.local.then(200, a_token_body);
        CHECK(here.managed().request_token(storage_scope));
    }
}

TEST_CASE("unsupported protocols are named") {
    struct row {
        std::map<std::string, std::string, std::less<>> variables;
        std::string_view name;
    };
    std::string const here_address = "http://127.0.0.1:1/x";
    for (row const& each :
        {row{{{"IDENTITY_ENDPOINT", here_address}, {"IDENTITY_HEADER", "h"}, {"IDENTITY_SERVER_THUMBPRINT", "t"}},
             "Service Fabric"},
            row{{{"MSI_ENDPOINT", here_address}}, "Cloud Shell"},
            row{{{"MSI_ENDPOINT", here_address}, {"MSI_SECRET", "s"}}, "Azure ML"},
            row{{{"IDENTITY_ENDPOINT", here_address}}, "Azure Arc"}}) {
        machine here;
        here.variables = each.variables;
        auto const refused = here.managed().request_token(storage_scope);
        CHECK(refused.error().code == error_code::not_supported);
        CHECK_THAT(refused.error().message, ContainsSubstring(std::string{each.name}));
    }
}

TEST_CASE("Azure Arc gets the content of the key file that its challenge names") {
    temporary_folder const folder;
    machine here;
    here.arc_keys = folder / "tokens";
    ::mkdir(here.arc_keys.c_str(), 0700);
    std::string const key = here.arc_keys + "/1a2b.key";
    write_file(key, "hunter2-key\n");
    here.variables = {{"IDENTITY_ENDPOINT", "http://localhost:40342/metadata/identity/oauth2/token"},
        {"IMDS_ENDPOINT", "http://localhost:40342"}};
    here.local.then(401, "", {{"WWW-Authenticate", "Basic realm=" + key}});
    here.local.then(200, imds_body(here.seconds() + 7200));
    CHECK(here.managed().request_token(storage_scope).value().text == "tok.en-1");
    REQUIRE(here.local.asked().size() == 2);
    std::string const first = "GET http://localhost:40342/metadata/identity/oauth2/token?api-version=2019-11-01"
                              "&resource=https%3A%2F%2Fstorage.azure.com\nMetadata: true\n";
    CHECK(golden(here.local.asked()[0]) == first);
    CHECK(golden(here.local.asked()[1]) == first + "Authorization: Basic hunter2-key\n");
}

TEST_CASE("a challenge of Azure Arc reads no other file") {
    temporary_folder const folder;
    machine here;
    here.arc_keys = folder / "tokens";
    std::string const keys = here.arc_keys;
    ::mkdir(keys.c_str(), 0700);
    ::mkdir((keys + "/sub").c_str(), 0700);
    ::mkdir((keys + "/folder.key").c_str(), 0700);
    ::mkdir((keys + "2").c_str(), 0700);
    write_file(keys + "/large.key", std::string(4097, 'k'));
    write_file(keys + "/hunter2.txt", "k");
    write_file(keys + "/sub/a.key", "k");
    write_file(keys + "2/a.key", "k");
    write_file(folder / "a.key", "k");
    write_file(keys + "/.key", "k");
    write_file(keys + "/line.key", "k\r\nX-Evil: 1");
    REQUIRE(::symlink((folder / "a.key").c_str(), (keys + "/link.key").c_str()) == 0);
    here.variables = {
        {"IDENTITY_ENDPOINT", "http://localhost:40342/token"}, {"IMDS_ENDPOINT", "http://localhost:40342"}};
    for (std::string const& challenge :
        {std::string{"Basic realm=/etc/passwd"}, "Basic realm=" + keys + "/../a.key",
            "Basic realm=" + keys + "/large.key", "Basic realm=" + keys + "/hunter2.txt",
            "Basic realm=" + keys + "/sub/a.key", "Basic realm=" + keys + "2/a.key",
            "Basic realm=" + keys + "/link.key", "Basic realm=" + keys + "/folder.key", "Basic realm=" + keys + "/.key",
            "Basic realm=" + keys + "/missing.key", "Basic realm=" + keys + "/line.key", "Basic realm=" + keys,
            std::string{"Basic realm="}, std::string{"Digest realm="} + keys + "/a.key", std::string{}}) {
        here.local.then(401, "", {{"WWW-Authenticate", challenge}});
        std::size_t const before = here.local.asked().size();
        auto const refused = here.managed().request_token(storage_scope);
        INFO(challenge);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == error_code::authentication_failed);
        CHECK(here.local.asked().size() == before + 1);
    }
    here.options.client = "c";
    CHECK_THAT(here.managed().request_token(storage_scope).error().message, ContainsSubstring("user-assigned"));
}

TEST_CASE("answers that are not a token are refused") {
    struct row {
        std::string body;
        std::string_view reason;
    };
    for (row const& each : {row{"", "not a JSON object"}, row{"<html>", "not a JSON object"},
             row{"[]", "not a JSON object"}, row{R"({"access_token":"a","expires_in":1)", "not a JSON object"},
             row{R"({"access_token":"a","expires_in":1} x)", "not a JSON object"},
             row{R"({"access_token":"a","access_token":"b","expires_in":1})", "not a JSON object"},
             row{R"({"access_token":5,"expires_in":1})", "not a JSON object"}, row{R"({"expires_in":1})", "no token"},
             row{R"({"access_token":"","expires_in":1})", "no token"}, row{R"({"access_token":"a"})", "no expiry"},
             row{R"({"access_token":"a","expires_in":"soon"})", "no expiry"},
             row{R"({"access_token":"a","expires_in":0})", "expired already"},
             row{R"({"access_token":"a","expires_in":-5})", "expired already"},
             row{R"({"access_token":"a","expires_in":60,"token_type":"pop"})", "not Bearer"},
             row{R"({"access_token":"a","expires_in":60,"resource":"https://vault.azure.net"})",
                 "different resource"}}) {
        machine here;
        here.local.then(200, each.body);
        auto const refused = here.managed().request_token(storage_scope);
        INFO(each.body);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == error_code::authentication_failed);
        CHECK_THAT(refused.error().message, ContainsSubstring(std::string{each.reason}));
    }
    machine here;
    here.local.then(
        200, R"( { "x" : [1,{"access_token":"b"}] , "access_token" : "a\/b\u002B\"" , "expires_in" : "60" } )");
    CHECK(here.managed().request_token(storage_scope).value().text == "a/b+\"");
    here.local.then(302, "", {{"Location", "https://example.com/"}});
    CHECK_THAT(here.managed().request_token(storage_scope).error().message, ContainsSubstring("redirect"));
    here.local.then(200, std::string(70'000, ' '));
    CHECK(here.managed().request_token(storage_scope).error().code == error_code::transport_failed);
}
