// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/wire/detail/escape.hpp>

#include <support/vectors.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

std::string path(std::string_view partition_key, std::string_view row_key) {
    std::string out = "/";
    detail::append_entity_path(out, "Esc", partition_key, row_key);
    return out;
}

} // namespace

TEST_CASE("keys are escaped in paths") {
    CHECK(path("p", "r") == "/Esc(PartitionKey='p',RowKey='r')");
    CHECK(path("", "") == "/Esc(PartitionKey='',RowKey='')");
    CHECK(path("O'Brien", "''") == "/Esc(PartitionKey='O%27%27Brien',RowKey='%27%27%27%27')");
    CHECK(path("%25", "%") == "/Esc(PartitionKey='%2525',RowKey='%25')");
    CHECK(path("a b+c", "~@,") == "/Esc(PartitionKey='a%20b%2Bc',RowKey='~%40%2C')");
    CHECK(path("\xE6\x97\xA5", "\xF0\x9F\x98\x80") == "/Esc(PartitionKey='%E6%97%A5',RowKey='%F0%9F%98%80')");
    CHECK(path("a',RowKey='b", "x HTTP/1.1\r\n") ==
        "/Esc(PartitionKey='a%27%27%2CRowKey%3D%27%27b',RowKey='x%20HTTP%2F1.1%0D%0A')");
}

TEST_CASE("vectors: keys in paths are escaped") {
    vectors const all{"key_escaping.json"};
    if (!all) { return; }
    std::size_t count = 0;
    for (auto const each : all.list("cases")) {
        CAPTURE(text_of(each, "id"));
        CHECK(path(text_of(each, "partition_key"), text_of(each, "row_key")) == text_of(each, "entity_path"));
        ++count;
    }
    CHECK(count >= 30);
}

TEST_CASE("every text is decoded from its escaped form") {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) { all += static_cast<char>(byte); }
    std::string escaped;
    detail::append_url_escaped(escaped, all);
    CHECK(escaped.size() == 66 + 3 * 190);
    std::string back;
    CHECK(detail::append_url_unescaped(back, escaped));
    CHECK(back == all);
    for (std::string_view const bad : {"%", "%1", "a%1g", "%%41"}) {
        std::string out;
        CHECK_FALSE(detail::append_url_unescaped(out, bad));
    }
}
