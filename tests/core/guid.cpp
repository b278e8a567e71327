// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/guid.hpp>

#include <support/catch.hpp>

#include <string>

using namespace entitable;

TEST_CASE("a GUID is read in either case and written in lower case") {
    auto const lower = guid::parse("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");
    REQUIRE(lower);
    CHECK(lower->to_string() == "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");
    CHECK(guid::parse("0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0") == lower);
    CHECK(guid::parse("0f1E2d3C-4b5A-6978-8796-a5B4c3D2e1F0") == lower);
    for (std::size_t index = 0; index < 16; ++index) {
        CHECK(lower->bytes[index] == 0x0F * (index + 1) % 0x100);
    }
}

TEST_CASE("the bytes of a GUID stand in the order of its text") {
    guid id;
    for (std::size_t index = 0; index < 16; ++index) {
        id.bytes[index] = static_cast<unsigned char>(0xA0 + index);
    }
    CHECK(id.to_string() == "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
    CHECK(guid::parse(id.to_string()) == id);
    CHECK(guid{}.to_string() == "00000000-0000-0000-0000-000000000000");
    CHECK(guid::parse("ffffffff-ffff-ffff-ffff-ffffffffffff")->bytes[15] == 0xFF);
}

TEST_CASE("what is not a GUID is refused") {
    auto const text = GENERATE(values<std::string>({
        "",
        "zz",
        "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "{0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0}",
        "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f",
        "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f00",
        "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1fg",
        "0f1e2d3c_4b5a-6978-8796-a5b4c3d2e1f0",
        "0f1e2d3c-4b5a-6978-8796 a5b4c3d2e1f0",
        "0f1e2d3-c4b5a-6978-8796-a5b4c3d2e1f0",
        "-f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
        "------------------------------------",
    }));
    CAPTURE(text);
    CHECK_FALSE(guid::parse(text));
}

TEST_CASE("a GUID with any one character spoilt is refused") {
    std::string const good = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
    for (std::size_t index = 0; index < good.size(); ++index) {
        for (char const bad : {'g', 'G', '/', ':', '@', '`', '\0', '\xFF'}) {
            auto text = good;
            text[index] = bad;
            CHECK_FALSE(guid::parse(text));
        }
    }
}

TEST_CASE("GUIDs compare as bytes") {
    auto const low = *guid::parse("7fffffff-ffff-ffff-ffff-ffffffffffff");
    auto const high = *guid::parse("80000000-0000-0000-0000-000000000000");
    CHECK(low < high);
    CHECK(low != high);
    CHECK(guid{} < low);
}
