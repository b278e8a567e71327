// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/http/url.hpp>

#include <support/catch.hpp>

using namespace entitable;

TEST_CASE("a URL is split into its parts") {
    auto const all =
        parse_url("https://acct.table.core.windows.net:443/T(PartitionKey='%2F')?$top=1&x=?", "url").value();
    CHECK(all.encrypted);
    CHECK(all.host == "acct.table.core.windows.net");
    CHECK(all.port == "443");
    CHECK(all.path == "/T(PartitionKey='%2F')");
    CHECK(all.query == "$top=1&x=?");
    auto const least = parse_url("HTTP://a", "url").value();
    CHECK_FALSE(least.encrypted);
    CHECK(least.host == "a");
    CHECK(least.port.empty());
    CHECK(least.path.empty());
    CHECK(least.query.empty());
    auto const v6 = parse_url("http://[2001:db8::1]:80?x", "url").value();
    CHECK(v6.host == "[2001:db8::1]");
    CHECK(v6.port == "80");
    CHECK(v6.query == "x");
}

TEST_CASE("only addresses of the local computer count as loopback") {
    auto const local = [](std::string const& host) {
        return parse_url("http://" + host + "/x", "url").value().is_loopback();
    };
    for (std::string const host :
        {"localhost", "LOCALHOST:80", "a.localhost", "127.0.0.1", "127.255.255.255:1", "[::1]"}) {
        INFO(host);
        CHECK(local(host));
    }
    for (std::string const host : {"example.com", "localhost.example.com", "notlocalhost", "128.0.0.1",
             "127.0.0.1.example.com", "127.1", "0127.0.0.1", "127.0.0.256", "127.0.0.01", "2130706433", "0x7f000001",
             "[::2]", "[::ffff:127.0.0.1]", "10.0.0.1", "0.0.0.0", "localhost."}) {
        INFO(host);
        CHECK_FALSE(local(host));
    }
}

TEST_CASE("addresses and host names are distinguished") {
    CHECK(parse_url("http://10.0.0.1", "url").value().is_address());
    CHECK(parse_url("http://[::2]", "url").value().is_address());
    CHECK_FALSE(parse_url("http://10.0.0.1.example", "url").value().is_address());
    CHECK_FALSE(parse_url("http://localhost", "url").value().is_address());
}
