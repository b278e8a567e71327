// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/guid.hpp>

#include <support/catch.hpp>

#include <set>
#include <string>

using namespace entitable;

TEST_CASE("a GUID is parsed in either case and written in lower case") {
    auto const lower = guid::parse("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");
    REQUIRE(lower);
    CHECK(lower->to_string() == "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");
    CHECK(guid::parse("0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0") == lower);
    CHECK(guid::parse("0f1E2d3C-4b5A-6978-8796-a5B4c3D2e1F0") == lower);
    for (std::size_t index = 0; index < 16; ++index) { CHECK(lower->bytes[index] == 0x0F * (index + 1) % 0x100); }
}

TEST_CASE("the bytes of a GUID are in the same order as its text") {
    guid id;
    for (std::size_t index = 0; index < 16; ++index) { id.bytes[index] = static_cast<unsigned char>(0xA0 + index); }
    CHECK(id.to_string() == "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
    CHECK(guid::parse(id.to_string()) == id);
    CHECK(guid{}.to_string() == "00000000-0000-0000-0000-000000000000");
    CHECK(guid::parse("ffffffff-ffff-ffff-ffff-ffffffffffff")->bytes[15] == 0xFF);
}

TEST_CASE("a text that is not a GUID is refused") {
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

TEST_CASE("a GUID with any single invalid character is refused") {
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

TEST_CASE("new GUIDs have the right version and are different") {
    std::set<guid> seen;
    for (int count = 0; count < 1000; ++count) {
        guid const random = guid::random();
        guid const ordered = guid::ordered();
        CHECK(random.bytes[6] >> 4 == 4);
        CHECK(ordered.bytes[6] >> 4 == 7);
        CHECK(random.bytes[8] >> 6 == 2);
        CHECK(ordered.bytes[8] >> 6 == 2);
        CHECK(seen.insert(random).second);
        CHECK(seen.insert(ordered).second);
    }
}

TEST_CASE("GUIDs of later times sort later, as bytes and as text") {
    date_time const day = date_time::from_date(2026, 11, 22);
    // A step of 3 ticks is more than a 4096th of a millisecond.
    for (std::int64_t const step : std::initializer_list<std::int64_t>{3, 7, 1000, 10'000, 36'000'000'000}) {
        guid const before = guid::ordered(day);
        guid const after = guid::ordered({day.ticks + step});
        CAPTURE(step);
        CHECK(before < after);
        CHECK(before.to_string() < after.to_string());
    }
    // The time can be read: RFC 9562, version 7.
    CHECK(guid::ordered(day).to_string().substr(0, 18) == "01a2008d-7400-7000");
    CHECK(guid::ordered({0}).to_string().substr(0, 18) == "00000000-0000-7000");
    CHECK(guid::ordered(date_time::now()) < guid::ordered(date_time::from_date(9999, 1, 1)));
}
