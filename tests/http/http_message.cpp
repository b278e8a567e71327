// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/http/http_message.hpp>

#include <support/catch.hpp>

#include <vector>

using namespace entitable;

namespace {

std::string listed(http_headers const& headers) {
    std::string out;
    headers.for_each(
        [&](std::string_view name, std::string_view value) { out.append(name).append("=").append(value).append(";"); });
    return out;
}

} // namespace

TEST_CASE("methods have their HTTP names") {
    CHECK(to_string(http_method::get) == "GET");
    CHECK(to_string(http_method::merge) == "MERGE");
    CHECK(to_string(http_method::delete_) == "DELETE");
    CHECK(to_string(http_method::options) == "OPTIONS");
}

TEST_CASE("header fields keep their order and are found case-insensitively") {
    http_headers headers;
    CHECK(headers.empty());
    CHECK(headers.add("Accept", " application/json \t"));
    CHECK(headers.add("If-Match", "W/\"datetime'2026-11-20T15%3A27%3A36Z'\""));
    CHECK(headers.add("x-empty", ""));
    CHECK(headers.add("accept", "again: \xC3\xA4"));
    CHECK(headers.size() == 4);
    CHECK(headers.find("ACCEPT") == "application/json");
    CHECK(headers.find("x-Empty") == "");
    CHECK_FALSE(headers.find("x-empt"));
    CHECK_FALSE(headers.find("x-empty2"));
    CHECK(headers.count("Accept") == 2);
    CHECK(listed(headers) ==
        "Accept=application/json;If-Match=W/\"datetime'2026-11-20T15%3A27%3A36Z'\";x-empty=;accept=again: \xC3\xA4;");
    CHECK(headers.set("aCCept", "new"));
    CHECK(listed(headers) == "If-Match=W/\"datetime'2026-11-20T15%3A27%3A36Z'\";x-empty=;aCCept=new;");
    headers.remove("If-match");
    headers.remove("missing");
    CHECK(listed(headers) == "x-empty=;aCCept=new;");
    CHECK(headers.size() == 2);
    // one of the same length replaces the first, and the others are removed
    CHECK(headers.add("x-date", "12:00"));
    CHECK(headers.add("last", "1"));
    CHECK(headers.add("X-DATE", "12:01"));
    CHECK(headers.set("X-Date", " 12:02"));
    CHECK(listed(headers) == "x-empty=;aCCept=new;X-Date=12:02;last=1;");
    CHECK(headers.size() == 4);
    CHECK(headers.set("x-date", "1"));
    CHECK(listed(headers) == "x-empty=;aCCept=new;last=1;x-date=1;");
    headers.clear();
    CHECK(headers.empty());
    CHECK_FALSE(headers.find("accept"));
}

TEST_CASE("header fields that could inject another field are refused") {
    http_headers headers;
    REQUIRE(headers.add("x-kept", "1"));
    for (std::string const& value : {std::string{"a\r\nb: c"}, std::string{"a\nb"}, std::string{"a\rb"},
             std::string("a\0b", 3), std::string{"a\x1B"}, std::string{"a\x7F"}}) {
        CHECK_FALSE(headers.add("x-new", value));
        CHECK_FALSE(headers.set("x-kept", value));
    }
    for (std::string const& name : {std::string{}, std::string{"a b"}, std::string{"a:"}, std::string{"a\r"},
             std::string("a\0", 2), std::string{"\xC3\xA4"}, std::string{"a("}}) {
        CHECK_FALSE(headers.add(name, "1"));
        CHECK_FALSE(headers.set(name, "1"));
    }
    CHECK(listed(headers) == "x-kept=1;");
    CHECK(headers.add("!#$%&'*+-.^_`|~09azAZ", "tab\tinside"));
}

TEST_CASE("every character of a value is checked, wherever it is") {
    std::size_t wrong = 0;
    for (std::size_t size = 1; size <= 20; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            for (int byte = 0; byte < 256; ++byte) {
                std::string value(size, 'v');
                value[at] = static_cast<char>(byte);
                bool const blank = byte == ' ' || byte == '\t';
                bool const good = blank || (byte > 0x20 && byte != 0x7F);
                http_headers headers;
                wrong += headers.add("x", value) == good ? 0 : 1;
            }
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("fields can be copied, moved and assigned") {
    http_headers headers;
    REQUIRE(headers.add("a", "1"));
    REQUIRE(headers.add("b", std::string(600, 'x')));
    http_headers const copy = headers;
    CHECK(listed(copy) == listed(headers));
    http_headers moved = std::move(headers);
    CHECK(listed(moved) == listed(copy));
    CHECK(headers.empty()); // NOLINT: tests the moved-from state
    CHECK(headers.add("c", "3"));
    moved = headers;
    CHECK(moved.size() == 1);
    CHECK(moved.find("c") == "3");
    moved = http_headers{};
    CHECK(moved.empty());
    http_headers& same = moved = copy;
    moved = same;
    CHECK(listed(moved) == listed(copy));
    static_assert(
        std::is_nothrow_move_constructible_v<http_request> && std::is_nothrow_move_assignable_v<http_request>);
}

TEST_CASE("a request can erase the fields that may contain a credential") {
    http_request request{http_method::put, "https://a?sig=x", {}, "body"};
    REQUIRE(request.headers.add("Authorization", "Bearer x"));
    request.forget_credential();
    CHECK(request.url.empty());
    CHECK(request.headers.empty());
    CHECK(request.headers.text().empty());
    CHECK(request.body == "body");
}
