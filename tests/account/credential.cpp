// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/account/credential.hpp>

#include <account/emulator.hpp>
#include <support/catch.hpp>

#include <atomic>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

constexpr std::int64_t second = date_time::ticks_per_second;

endpoint cloud() { return endpoint::parse("https://acct.table.core.windows.net").value(); }

http_request tables_request(endpoint const& at = cloud()) {
    http_request request;
    request.url = at.primary + "/Tables";
    return request;
}

/// A token source that counts its calls and returns tokens that are valid for `lifetime` seconds from `now`.
struct counting_source {
    std::atomic<int> asked{0};
    date_time now{a_friday()};
    std::int64_t lifetime{3600};
    bool failing{};
    std::string scope;

    token_source source() {
        return [this](std::string_view wanted) -> result<access_token> {
            int const number = ++asked;
            scope = wanted;
            if (failing) { return failure{error_code::transport_failed, "no way to the issuer"}; }
            return access_token{"token" + std::to_string(number), {now.ticks + lifetime * second}};
        };
    }
    result<std::string> ask(credential const& who, std::int64_t seconds_later) {
        now = {a_friday().ticks + seconds_later * second};
        auto request = tables_request();
        if (auto done = who.authorize(request, cloud(), now); !done) { return std::move(done).as_failure(); }
        return std::string{request.headers.find("authorization").value()};
    }
};

} // namespace

TEST_CASE("without a credential a request is sent unchanged") {
    auto request = tables_request();
    credential{}.authorize(request, cloud(), a_friday()).value();
    CHECK(request.headers.empty());
    CHECK(credential{}.account().empty());
}

TEST_CASE("a request to a different host carries no credential") {
    auto const key = credential::account_key("acct", emulator_key).value();
    auto const sas = credential::shared_access_signature("sig=AAAA").value();
    auto const token = credential::bearer(
        [](std::string_view) -> result<access_token> { return access_token{"t", {a_friday().ticks + 3600 * second}}; });
    for (auto const& who : {key, sas, token}) {
        for (std::string const url : {"https://acct.table.core.windows.net.example.com/Tables",
                 "https://acct.table.core.windows.net:444/Tables", "http://acct.table.core.windows.net/Tables",
                 "https://other.table.core.windows.net/Tables", "", "/Tables"}) {
            auto request = tables_request();
            request.url = url;
            auto const done = who.authorize(request, cloud(), a_friday());
            REQUIRE_FALSE(done);
            CHECK(done.error().code == error_code::invalid_input);
            CHECK(request.headers.empty());
            CHECK(request.url == url);
        }
        auto request = tables_request();
        request.url = cloud().secondary + "/Tables";
        CHECK(who.authorize(request, cloud(), a_friday()));
    }
}

TEST_CASE("a shared access signature is appended to the query once") {
    auto const who = credential::shared_access_signature("?sv=1&sig=a%2Bb").value();
    for (auto const& [before, after] : {std::pair{"", "?sv=1&sig=a%2Bb"}, {"/T?", "/T?sv=1&sig=a%2Bb"},
             {"/T()?$top=1", "/T()?$top=1&sv=1&sig=a%2Bb"}}) {
        auto request = tables_request();
        request.url = cloud().primary + before;
        for (int attempts = 0; attempts < 2; ++attempts) {
            who.authorize(request, cloud(), a_friday()).value();
            CHECK(request.url == cloud().primary + after);
        }
        CHECK(request.headers.empty());
    }
}

TEST_CASE("a shared access signature is refused outside its validity period, with a tolerance for clock differences") {
    for (auto const form : {"2026-11-20T15:27:36Z", "2026-11-20T15%3A27%3A36Z"}) {
        auto const expiring = credential::shared_access_signature("sig=a&se=" + std::string{form}).value();
        auto const starting = credential::shared_access_signature("sig=a&st=" + std::string{form}).value();
        auto const at = [](credential const& who, std::int64_t seconds_later) {
            auto request = tables_request();
            return who.authorize(request, cloud(), {a_friday().ticks + seconds_later * second});
        };
        CHECK(at(expiring, -86400));
        CHECK(at(expiring, 899));
        REQUIRE_FALSE(at(expiring, 901));
        CHECK(at(expiring, 901).error().code == error_code::authentication_failed);
        CHECK_THAT(at(expiring, 901).error().message, ContainsSubstring("expired"));
        CHECK(at(starting, 86400));
        CHECK(at(starting, -899));
        REQUIRE_FALSE(at(starting, -901));
        CHECK_THAT(at(starting, -901).error().message, ContainsSubstring("not valid yet"));
    }
    CHECK(credential::shared_access_signature("sig=a&se=2026-11-20&st=2026-11-20T15%3A27Z"));
}

TEST_CASE("a token is fetched once and reused until shortly before it expires") {
    counting_source source;
    auto const who = credential::bearer(source.source());
    CHECK(source.asked == 0);
    CHECK(source.ask(who, 0).value() == "Bearer token1");
    CHECK(source.scope == "https://storage.azure.com/.default");
    CHECK(source.ask(who, 3299).value() == "Bearer token1");
    CHECK(source.ask(who, 3301).value() == "Bearer token2");
    CHECK(source.ask(who, 3302).value() == "Bearer token2");
    CHECK(source.asked == 2);
}

TEST_CASE("a token with a short lifetime is reused for half of it") {
    counting_source source;
    source.lifetime = 100;
    auto const who = credential::bearer(source.source());
    CHECK(source.ask(who, 0).value() == "Bearer token1");
    CHECK(source.ask(who, 49).value() == "Bearer token1");
    CHECK(source.ask(who, 51).value() == "Bearer token2");
}

TEST_CASE("a refused token is fetched again, but not for every request") {
    counting_source source;
    auto const who = credential::bearer(source.source());
    auto const refuse = [&](std::int64_t seconds_later, std::string_view header) {
        auto request = tables_request();
        REQUIRE(request.headers.set("Authorization", header));
        who.refused(request, {a_friday().ticks + seconds_later * second});
    };
    CHECK(source.ask(who, 0).value() == "Bearer token1");
    refuse(5, "Bearer token1");
    CHECK(source.ask(who, 6).value() == "Bearer token1");
    CHECK(source.ask(who, 31).value() == "Bearer token2");
    refuse(100, "Bearer token1"); // late: the token has been replaced
    CHECK(source.ask(who, 101).value() == "Bearer token2");
    refuse(102, "Bearer token2");
    source.failing = true;
    CHECK(source.ask(who, 103).value() == "Bearer token2");
    CHECK(source.asked == 3);
    source.failing = false;
    CHECK(source.ask(who, 134).value() == "Bearer token4");
}

TEST_CASE("a failed token source is tried again later, and requests fail only once the token has expired") {
    counting_source source;
    auto const who = credential::bearer(source.source());
    CHECK(source.ask(who, 0).value() == "Bearer token1");
    source.failing = true;
    CHECK(source.ask(who, 3301).value() == "Bearer token1");
    CHECK(source.ask(who, 3310).value() == "Bearer token1");
    CHECK(source.asked == 2);
    CHECK(source.ask(who, 3332).value() == "Bearer token1");
    CHECK(source.asked == 3);
    auto const ended = source.ask(who, 3601);
    REQUIRE_FALSE(ended);
    CHECK(ended.error().code == error_code::transport_failed);
    CHECK(ended.error().effect == effect::none);
    source.failing = false;
    CHECK(source.ask(who, 3602).value() == "Bearer token5");
}

TEST_CASE("tokens that cannot be sent in a header field are refused") {
    auto const with = [](std::string const& text, std::int64_t lifetime) {
        auto const who = credential::bearer([=](std::string_view) -> result<access_token> {
            return access_token{text, {a_friday().ticks + lifetime * second}};
        });
        auto request = tables_request();
        auto done = who.authorize(request, cloud(), a_friday());
        REQUIRE_FALSE(done);
        CHECK(done.error().code == error_code::authentication_failed);
        CHECK(done.error().to_string().find("hunter2") == std::string::npos);
        return done.error().message;
    };
    CHECK_THAT(with("", 3600), ContainsSubstring("empty"));
    CHECK_THAT(with("hunter2", 0), ContainsSubstring("an expired token"));
    CHECK_THAT(with("hunter2\r\nX-Evil: 1", 3600), ContainsSubstring("characters"));
    CHECK_THAT(with(std::string("hunter2\0", 8), 3600), ContainsSubstring("characters"));
}

TEST_CASE("a token is only sent over https, with the scope of its service") {
    counting_source source;
    auto const who = credential::bearer(source.source());
    auto request = tables_request(emulator());
    auto const refused = who.authorize(request, emulator(), a_friday());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::invalid_input);
    CHECK_THAT(refused.error().message, ContainsSubstring("only be sent over https"));
    CHECK(source.asked == 0);
    CHECK(request.headers.empty());

    auto const cosmos = endpoint::parse("https://acct.table.cosmos.azure.com").value();
    request = tables_request(cosmos);
    who.authorize(request, cosmos, a_friday()).value();
    CHECK(source.scope == "https://cosmos.azure.com/.default");
    request = tables_request();
    token_options options;
    options.scope = "https://acct.table.core.windows.net/.default";
    credential::bearer(source.source(), options).authorize(request, cloud(), a_friday()).value();
    CHECK(source.scope == options.scope);
}

TEST_CASE("if many threads need a token, one thread fetches it for all") {
    std::atomic<int> asked{0};
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    bool fails = GENERATE(false, true);
    auto const who = credential::bearer([&](std::string_view) -> result<access_token> {
        most = std::max(most.load(), ++inside);
        ++asked;
        std::this_thread::sleep_for(std::chrono::milliseconds{20}); // meanwhile the other threads arrive
        --inside;
        if (fails) { return failure{error_code::transport_failed, "no way to the issuer"}; }
        return access_token{"t", {a_friday().ticks + 3600 * second}};
    });
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int index = 0; index < 8; ++index) {
        threads.emplace_back([&] {
            auto request = tables_request();
            bool const done = who.authorize(request, cloud(), a_friday()).has_value();
            good += done && request.headers.find("Authorization") == "Bearer t" ? 1 : 0;
        });
    }
    for (auto& thread : threads) { thread.join(); }
    CHECK(good == (fails ? 0 : 8));
    CHECK(asked <= (fails ? 8 : 1));
    CHECK(most == 1);
}

TEST_CASE("a source that throws leaves the credential usable") {
    int asked = 0;
    auto const who = credential::bearer([&](std::string_view) -> result<access_token> {
        if (++asked == 1) { throw std::runtime_error{"thrown"}; }
        return access_token{"t", {a_friday().ticks + 3600 * second}};
    });
    auto request = tables_request();
    CHECK_THROWS_AS(static_cast<void>(who.authorize(request, cloud(), a_friday())), std::runtime_error);
    CHECK(who.authorize(request, cloud(), a_friday()));
}

TEST_CASE("invalid account names and keys are refused") {
    CHECK_THAT(credential::account_key("Acct", emulator_key).error().message, StartsWith("AccountName"));
    CHECK_THAT(credential::account_key("", emulator_key).error().message, StartsWith("AccountName"));
    CHECK_THAT(credential::account_key("acct", "hunter2").error().message, StartsWith("AccountKey"));
    CHECK_THAT(credential::account_key("acct", "").error().message, StartsWith("AccountKey"));
}
