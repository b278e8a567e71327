// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/wire/detail/service_token.hpp>

#include <support/vectors.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

detail::service_token sample() { return {read_location::primary, "1!4!cA--", "1!4!Mg--", std::nullopt}; }

} // namespace

TEST_CASE("a token is text that outlives the process, with golden values") {
    CHECK(detail::make_service_token(7, sample()) == "r1!p!4e0a7d82815c1d5c!P1%214%21cA--!R1%214%21Mg--");
    CHECK(detail::make_service_token(7, {read_location::secondary, "p", std::nullopt, std::nullopt}) ==
        "r1!s!5d7d213372ad36ab!Pp");
    CHECK(detail::make_service_token(7, {read_location::primary, std::nullopt, std::nullopt, "T"}) ==
        "r1!p!d9a94c2616592c18!TT");
}

TEST_CASE("tokens are parsed back unchanged, only for the same query") {
    std::string every;
    for (int byte = 1; byte < 256; ++byte) { every += static_cast<char>(byte); }
    detail::service_token const tokens[] = {sample(), {read_location::secondary, every, every, std::nullopt},
        {read_location::primary, "p", std::nullopt, std::nullopt},
        {read_location::primary, std::nullopt, "", std::nullopt},
        {read_location::primary, std::nullopt, std::nullopt, "T"}};
    for (auto const& token : tokens) {
        std::string const text = detail::make_service_token(42, token);
        for (char const character : text) { CHECK((character > ' ' && character <= '~')); }
        auto const read = detail::read_service_token(42, text);
        REQUIRE(read);
        CHECK(read->location == token.location);
        CHECK(read->partition == token.partition);
        CHECK(read->row == token.row);
        CHECK(read->table == token.table);
        auto const other = detail::read_service_token(43, text);
        REQUIRE_FALSE(other);
        CHECK(other.error().code == error_code::continuation_invalid);
    }
}

TEST_CASE("tokens that were truncated, changed or forged are refused") {
    std::string const good = detail::make_service_token(42, sample());
    for (std::size_t size = 0; size < good.size(); ++size) {
        CHECK_FALSE(detail::read_service_token(42, good.substr(0, size)));
    }
    for (std::size_t at = 0; at < good.size(); ++at) {
        for (char const other : {'!', '0', 'P', '%', '\n'}) {
            std::string changed = good;
            changed[at] = other;
            CHECK((changed == good || !detail::read_service_token(42, changed)));
        }
    }
    for (std::string const& bad :
        {good + "!Pa", good + "\r\n", std::string(1024 * 1024, '!'), good + "!", std::string{}}) {
        auto const read = detail::read_service_token(42, bad);
        REQUIRE_FALSE(read);
        CHECK(read.error().detail.size() < 300);
    }
}

TEST_CASE("an empty part of a token is omitted, except for an empty partition key before a row key") {
    auto const url_of = [](std::string_view partition, std::string_view row) {
        http_headers headers;
        REQUIRE(headers.add("x-ms-continuation-NextPartitionKey", partition));
        REQUIRE(headers.add("x-ms-continuation-NextRowKey", row));
        std::string url;
        char separator = '?';
        detail::append_token(url, detail::service_token_of(headers, read_location::primary), separator);
        return url;
    };
    CHECK(url_of("", "") == "");
    CHECK(url_of("cA==", "") == "?NextPartitionKey=cA%3D%3D");
    CHECK(url_of("", "MQ==") == "?NextPartitionKey=&NextRowKey=MQ%3D%3D");
}

TEST_CASE("vectors: continuations are read and written") {
    vectors const all{"etags_and_continuation.json"};
    if (!all) { return; }
    for (auto const each : all.list("continuations")) {
        CAPTURE(text_of(each, "id"));
        http_headers headers;
        simdjson::dom::object const fields = each["response_headers"].get_object().value();
        for (auto const field : fields) { REQUIRE(headers.add(field.key, std::string_view{field.value})); }
        auto const token = detail::service_token_of(headers, read_location::primary);
        CHECK(token.empty() == !has(each, "next_query"));
        std::string url = text_of(each, "query");
        char separator = url.empty() ? '?' : '&';
        detail::append_token(url, token, separator);
        if (has(each, "next_query")) {
            CHECK((url.starts_with('?') ? url.substr(1) : url) == text_of(each, "next_query"));
        }
    }
}
