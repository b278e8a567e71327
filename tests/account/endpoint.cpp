// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/account/endpoint.hpp>

#include <support/catch.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

std::string refusal(std::string_view url) {
    auto const parsed = endpoint::parse(url);
    INFO(url);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == error_code::invalid_input);
    CHECK(parsed.error().to_string().find("hunter2") == std::string::npos);
    return parsed.error().message;
}

} // namespace

TEST_CASE("endpoints of each kind of service are recognized") {
    struct example {
        std::string_view url;
        std::string_view primary;
        std::string_view secondary;
        std::string_view account;
        service kind;
        bool path_style;
    };
    for (auto const& [url, primary, secondary, account, kind, path_style] :
        {
            example{"HTTPS://acct.table.core.windows.net/", "https://acct.table.core.windows.net",
                "https://acct-secondary.table.core.windows.net", "acct", service::storage, false},
            example{"https://Acct.table.core.windows.net:443//", "https://Acct.table.core.windows.net:443",
                "https://Acct-secondary.table.core.windows.net:443", "acct", service::storage, false},
            example{"https://acct.z12.table.storage.azure.net", "https://acct.z12.table.storage.azure.net",
                "https://acct-secondary.z12.table.storage.azure.net", "acct", service::storage, false},
            example{"https://a-b.table.cosmos.azure.com:443/", "https://a-b.table.cosmos.azure.com:443", "", "a-b",
                service::cosmos, false},
            example{"https://ab.table.cosmosdb.azure.com", "https://ab.table.cosmosdb.azure.com", "", "ab",
                service::cosmos, false},
            example{"http://127.0.0.1:10002/devstoreaccount1", "http://127.0.0.1:10002/devstoreaccount1",
                "http://127.0.0.1:10002/devstoreaccount1-secondary", "devstoreaccount1", service::azurite, true},
            example{"http://localhost/acct/", "http://localhost/acct", "http://localhost/acct-secondary", "acct",
                service::azurite, true},
            example{"http://[::1]:1/acct", "http://[::1]:1/acct", "http://[::1]:1/acct-secondary", "acct",
                service::azurite, true},
            example{"https://10.1.2.3/acct", "https://10.1.2.3/acct", "https://10.1.2.3/acct-secondary", "acct",
                service::storage, true},
            example{"http://devstoreaccount1.table.localhost:10002", "http://devstoreaccount1.table.localhost:10002",
                "http://devstoreaccount1-secondary.table.localhost:10002", "devstoreaccount1", service::azurite, false},
        }) {
        INFO(url);
        auto const parsed = endpoint::parse(url);
        REQUIRE(parsed);
        CHECK(parsed->primary == primary);
        CHECK(parsed->secondary == secondary);
        CHECK(parsed->account == account);
        CHECK(parsed->kind == kind);
        CHECK(parsed->path_style == path_style);
    }
}

TEST_CASE("custom endpoints are accepted") {
    auto const own = endpoint::parse("https://tables.example.com/base", "https://copy.example.com/", "acct").value();
    CHECK(own.primary == "https://tables.example.com/base");
    CHECK(own.secondary == "https://copy.example.com");
    CHECK(own.account == "acct");
    CHECK(endpoint::parse("https://tables.example.com", {}, "acct").value().secondary.empty());
    // an emulator with a host name
    auto const named = endpoint::parse("https://azurite:10002/devstoreaccount1", {}, "devstoreaccount1").value();
    CHECK(named.path_style);
    CHECK(named.kind == service::azurite);
    CHECK(named.secondary == "https://azurite:10002/devstoreaccount1-secondary");
    CHECK(endpoint::parse("https://127.0.0.1", {}, "acct").value().secondary.empty());
}

TEST_CASE("invalid endpoints are refused") {
    for (std::string_view const url : {"", "acct.table.core.windows.net", "ftp://acct.table.core.windows.net",
             "file:///etc/passwd", "https:/acct", "//acct", "https:acct", "https://", "javascript://x"}) {
        CHECK_THAT(refusal(url), ContainsSubstring("must begin with https:// or http://"));
    }
    CHECK_THAT(refusal("https://user:hunter2@acct.table.core.windows.net"), ContainsSubstring("user or a password"));
    CHECK_THAT(refusal("https://@acct"), ContainsSubstring("user or a password"));
    for (std::string_view const url : {"https://a:0", "https://a:70000", "https://a:65536",
             "https://a:", "https://a:+1", "https://a:08", "https://a:1x", "https://a:99999999999999999999"}) {
        CHECK_THAT(refusal(url), ContainsSubstring("port"));
    }
    for (std::string_view const url :
        {"https:///x", "https://[::1", "https://[]", "https://[::g]", "https://a..b,c", "https://.a", "https://::1"}) {
        CHECK_THAT(refusal(url), ContainsSubstring("no host"));
    }
    CHECK_THAT(refusal("https://\xD0\xB0"
                       "cct.table.core.windows.net"),
        ContainsSubstring("not ASCII"));
    CHECK_THAT(refusal("https://acct.table.core.windows.net?hunter2"), ContainsSubstring("query"));
    CHECK_THAT(refusal("https://acct.table.core.windows.net#x"), ContainsSubstring("fragment"));
    CHECK_THAT(refusal("https://acct\\.table"), ContainsSubstring("backslash"));
    CHECK_THAT(refusal("https://acct.table/a b"), ContainsSubstring("space or a control"));
    CHECK_THAT(refusal("https://acct\r\n.table"), ContainsSubstring("space or a control"));
    CHECK_THAT(refusal(std::string_view("https://a\0b", 11)), ContainsSubstring("space or a control"));
    CHECK_THAT(refusal("https://acct.table.core.windows.net/Orders"), ContainsSubstring("remove the table"));
    CHECK_THAT(refusal("http://127.0.0.1:10002"), ContainsSubstring("does not name an account"));
    CHECK_THAT(refusal("http://127.0.0.1:10002/Acct"), ContainsSubstring("does not name an account"));
    CHECK_FALSE(endpoint::parse("https://x.example", {}, "a/b"));
    CHECK_FALSE(endpoint::parse("https://x.example", "x", "ab"));
}
