// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The Azure CLI: a script in the place of az that answers, hangs, prints rubbish, and fails with the words of the real one.

#include <entitable/cloud/identity/identity.hpp>

#include <identity/machine.hpp>
#include <support/temporary_folder.hpp>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

using namespace entitable;
using namespace entitable_test;

namespace {

/// A computer with a script called az.
struct desk : machine {
    explicit desk(std::string const& script) {
        std::ofstream{folder / "az"} << "#!/bin/sh\n" << script;
        ::chmod((folder / "az").c_str(), 0700);
        variables["PATH"] = "relative:/nowhere:" + std::string{folder.path()} + ":/bin:/usr/bin";
    }
    [[nodiscard]] result<access_token> ask(std::string_view scope = storage_scope, http_call const& limits = {}) {
        return identity{detail::cli_source(seen())}.request_token(scope, limits);
    }
    [[nodiscard]] std::string written(std::string const& name) const {
        std::ifstream file{folder / name};
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    temporary_folder folder;
};

std::string prints(std::string const& json) { return "cat <<'END'\n" + json + "\nEND\n"; }

} // namespace

TEST_CASE("az gets its arguments as a list, and its token is used until it says that it expires") {
    desk here{R"(printf '%s\n' "$@" > "${0%/*}/arguments"; echo "$AZURE_CORE_NO_COLOR" >> "${0%/*}/arguments")"
              "\n" +
        prints(R"({"accessToken": "tok.en", "expiresOn": "2026-11-20 01:00:00.000000", "expires_on": 1796000000,
                   "subscription": "s", "tenant": "t", "tokenType": "Bearer"})")};
    here.options.tenant = a_tenant;
    auto const token = here.ask().value();
    CHECK(token.text == "tok.en");
    CHECK(token.expires.ticks == date_time::unix_epoch + 1'796'000'000 * date_time::ticks_per_second);
    CHECK(here.written("arguments") ==
        "account\nget-access-token\n--output\njson\n--scope\nhttps://storage.azure.com/.default\n--tenant\n"
        "72f988bf-86f1-41af-91ab-2d7cd011db47\ntrue\n");
}

TEST_CASE("an az of before 2023 says the local time of the expiry") {
    desk here{prints(R"({"accessToken": "t", "expiresOn": "2026-11-21 12:30:05.123456", "tokenType": "Bearer"})")};
    std::tm local{};
    local.tm_year = 126;
    local.tm_mon = 10;
    local.tm_mday = 21;
    local.tm_hour = 12;
    local.tm_min = 30;
    local.tm_sec = 5;
    local.tm_isdst = -1;
    std::int64_t const expected = std::mktime(&local);
    CHECK(here.ask().value().expires.ticks == date_time::unix_epoch + expected * date_time::ticks_per_second);
}

TEST_CASE("what could be more than a scope or a tenant never reaches az") {
    desk here{"touch \"${0%/*}/ran\"\n" + prints(R"({"accessToken": "t", "expires_on": 1796000000})")};
    for (std::string_view const scope : {"", "-h", "a b", "$(id)", "a;b", "a'b", "a\nb"}) {
        CHECK(here.ask(scope).error().code == error_code::invalid_input);
    }
    here.options.tenant = "-h";
    CHECK(here.ask().error().code == error_code::invalid_input);
    CHECK(here.written("ran").empty());
    CHECK_FALSE(std::ifstream{here.folder / "ran"});
}

TEST_CASE("without az, or with an az that cannot be run, the reason says so") {
    desk here{"exit 1\n"};
    ::chmod((here.folder / "az").c_str(), 0600);
    CHECK(here.ask().error().message == "Azure CLI: az was not found in PATH");
    here.variables["PATH"] = "";
    CHECK(here.ask().error().message == "Azure CLI: az was not found in PATH");
    ::mkdir((here.folder / "d").c_str(), 0700);
    ::mkdir((here.folder / "d/az").c_str(), 0700);
    here.variables["PATH"] = here.folder / "d";
    CHECK(here.ask().error().message == "Azure CLI: az was not found in PATH");
    desk broken{""};
    std::ofstream{broken.folder / "az"} << "#!/no/such/interpreter\n";
    CHECK_FALSE(broken.ask());
}

TEST_CASE("failures of az are told apart without repeating its words") {
    struct row {
        std::string script;
        std::string_view message;
    };
    for (row const& each : {row{"echo \"ERROR: Please run 'az login' to setup account. hunter2\" >&2; exit 1\n",
                                "Azure CLI: nobody is logged in: run az login"},
             row{"echo \"ERROR: AADSTS700082: The refresh token has expired hunter2. Interactive: az login --tenant\" "
                 ">&2; exit 1\n",
                 "Azure CLI: nobody is logged in: run az login; AADSTS700082"},
             row{"echo 'AADSTS50034: hunter2' >&2; exit 3\n",
                 "Azure CLI: az ended with status 3, AADSTS50034; run az account get-access-token to see why"},
             row{"kill -9 $$\n", "Azure CLI: az ended with status -1; run az account get-access-token to see why"},
             row{"exit 0\n", "Azure CLI: az wrote something that is not a token"},
             row{"echo hunter2\n", "Azure CLI: az wrote something that is not a token"},
             row{prints(R"({"accessToken": "hunter2"})"), "Azure CLI: az wrote a token without an expiry"},
             row{prints(R"({"accessToken": "hunter2", "expiresOn": "soon"})"),
                 "Azure CLI: az wrote a token without an expiry"},
             row{prints(R"({"accessToken": "hunter2", "expires_on": 1})"), "Azure CLI: the token has expired already"},
             row{prints(R"({"accessToken": "t", "expires_on": 1796000000, "tokenType": "pop"})"),
                 "Azure CLI: the type of the token is not Bearer"}}) {
        desk here{each.script};
        INFO(each.script);
        auto const refused = here.ask();
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == error_code::authentication_failed);
        CHECK(refused.error().effect == effect::none);
        CHECK(refused.error().message == each.message);
    }
}

TEST_CASE("an az that hangs is ended, with the programs that it has started") {
    desk here{"echo $$ > \"${0%/*}/pid\"\nsleep 60 &\necho $! > \"${0%/*}/child\"\nwait\n"};
    here.options.cli_timeout = std::chrono::milliseconds{300};
    auto const begun = std::chrono::steady_clock::now();
    auto const late = here.ask();
    CHECK(late.error().code == error_code::transport_failed);
    CHECK(late.error().message == "Azure CLI: the program did not end within 300 ms");
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{10});
    for (char const* const name : {"pid", "child"}) {
        int const process = std::atoi(here.written(name).c_str());
        REQUIRE(process > 1);
        bool running = true;
        for (int tries = 0; running && tries < 200; ++tries) { // an orphan is buried by another process
            std::ifstream about{"/proc/" + std::to_string(process) + "/stat"};
            std::string text((std::istreambuf_iterator<char>(about)), {});
            running = !text.empty() && text.find(") Z ") == std::string::npos;
            if (running) { std::this_thread::sleep_for(std::chrono::milliseconds{10}); }
        }
        CHECK_FALSE(running);
    }
    // Closing its output does not make it end.
    desk quiet{"exec >&- 2>&-\nsleep 60\n"};
    quiet.options.cli_timeout = std::chrono::milliseconds{200};
    CHECK(quiet.ask().error().code == error_code::transport_failed);
}

TEST_CASE("an az that is waited for ends at the deadline, and when the call is cancelled") {
    desk here{"sleep 60\n"};
    http_call limits;
    limits.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds{200};
    CHECK(here.ask(storage_scope, limits).error().code == error_code::deadline_exceeded);
    cancellation_source stop;
    limits = {};
    limits.cancellation = stop.token();
    std::thread other{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
        stop.cancel();
    }};
    CHECK(here.ask(storage_scope, limits).error().code == error_code::cancelled);
    other.join();
}

TEST_CASE("an az that writes without end is stopped at 64 KiB, and a talkative one is not hurt") {
    desk endless{"while :; do echo hunter2hunter2hunter2hunter2hunter2; done\n"};
    CHECK(endless.ask().error().message == "Azure CLI: the program wrote more than 64 KiB");
    desk warns{
        "i=0\nwhile [ $i -lt 3000 ]; do echo 'WARNING: a line of forty characters or so ....' >&2; i=$((i+1)); done\n" +
        prints(R"({"accessToken": "t", "expires_on": 1796000000})")};
    CHECK(warns.ask().value().text == "t");
}
