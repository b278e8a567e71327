// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/row/format.hpp>

#include <support/catch.hpp>

#include <limits>
#include <string>

using namespace entitable;

namespace {

template <class T>
std::string bytes_of(T number) {
    std::string bytes(sizeof number, '?');
    row_format::store(bytes.data(), number);
    return bytes;
}

} // namespace

TEST_CASE("numbers are stored with their lowest byte first") {
    CHECK(bytes_of(std::uint16_t{0x0102}) == "\x02\x01");
    CHECK(bytes_of(std::uint32_t{0x01020304}) == "\x04\x03\x02\x01");
    CHECK(bytes_of(std::int32_t{-2}) == "\xFE\xFF\xFF\xFF");
    CHECK(bytes_of(std::int64_t{0x0102030405060708}) == "\x08\x07\x06\x05\x04\x03\x02\x01");
}

TEMPLATE_TEST_CASE(
    "numbers are read back, aligned or not", "", std::uint16_t, std::uint32_t, std::int32_t, std::int64_t) {
    using numbers = std::numeric_limits<TestType>;
    for (TestType const number :
        {TestType{0}, TestType{1}, numbers::min(), numbers::max(), TestType{0x7F}, TestType{0x80}}) {
        for (std::size_t offset = 0; offset < 3; ++offset) {
            std::string bytes(offset + sizeof number, '\0');
            row_format::store(bytes.data() + offset, number);
            CHECK(row_format::load<TestType>(bytes.data() + offset) == number);
        }
    }
}

TEST_CASE("the size of each type matches the stored format") {
    STATIC_REQUIRE(row_format::fixed_size(edm_type::boolean) == 1);
    STATIC_REQUIRE(row_format::fixed_size(edm_type::int32) == 4);
    STATIC_REQUIRE(row_format::fixed_size(edm_type::int64) == 8);
    STATIC_REQUIRE(row_format::fixed_size(edm_type::float64) == 8);
    STATIC_REQUIRE(row_format::fixed_size(edm_type::date_time) == 8);
    STATIC_REQUIRE(row_format::fixed_size(edm_type::guid) == 16);
    STATIC_REQUIRE(row_format::fixed_size(edm_type::string) == 4);
    STATIC_REQUIRE(row_format::fixed_size(edm_type::binary) == 4);
    STATIC_REQUIRE(row_format::has_length(edm_type::string));
    STATIC_REQUIRE(row_format::has_length(edm_type::binary));
    STATIC_REQUIRE_FALSE(row_format::has_length(edm_type::guid));
    STATIC_REQUIRE_FALSE(row_format::has_length(edm_type::int32));
}
