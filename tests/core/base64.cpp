// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/detail/base64.hpp>

#include <support/catch.hpp>

using namespace entitable;

TEST_CASE("base64: the vectors of RFC 4648 are encoded and decoded") {
    constexpr std::string_view pairs[][2] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}, {"\xFB\xFF", "+/8="}};
    for (auto const& [bytes, text] : pairs) {
        std::string written;
        detail::append_base64(written, bytes);
        CHECK(written == text);
        std::string read;
        CHECK(detail::append_from_base64(read, text));
        CHECK(read == bytes);
    }
}

TEST_CASE("base64: every length and byte value round-trips") {
    std::string bytes;
    for (int length = 0; length < 300; ++length) {
        std::string text;
        detail::append_base64(text, bytes);
        std::string read;
        CHECK(detail::append_from_base64(read, text));
        CHECK(read == bytes);
        bytes += static_cast<char>(length * 7);
    }
}

TEST_CASE("base64: invalid text is refused") {
    for (std::string_view const bad :
        {"@@@", "@@@@", "Zg=", "Zg", "Z===", "=Zg=", "Zg==Zg==", "Zm9v\r\n", " Zm9", "Zm-_", "===="}) {
        std::string out;
        CAPTURE(bad);
        CHECK_FALSE(detail::append_from_base64(out, bad));
    }
}
