// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/mapping/key_adaptors.hpp>

#include <support/catch.hpp>
#include <support/utf8.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace entitable;
using entitable_test::utf8;

namespace {

template <class Codec>
std::optional<std::string> text_of(typename Codec::value_type const& value) {
    std::string text;
    bool const has_one = Codec::append(text, value);
    CHECK((has_one || text.empty()));
    return has_one ? std::optional{text} : std::nullopt;
}

template <class Codec>
std::optional<typename Codec::value_type> value_of(std::string_view text) {
    typename Codec::value_type value{};
    return Codec::parse(text, value) ? std::optional{value} : std::nullopt;
}

template <class Codec>
void check_golden(typename Codec::value_type const& value, std::string_view text) {
    CAPTURE(text);
    CHECK(text_of<Codec>(value) == text);
    CHECK(value_of<Codec>(text) == value);
}

template <class Codec>
void check_foreign(std::initializer_list<std::string_view> texts) {
    for (std::string_view const text : texts) {
        CAPTURE(text);
        CHECK_FALSE(value_of<Codec>(text).has_value());
    }
}

template <class Codec>
std::string operand_of(typename Codec::value_type value) {
    std::string text;
    Codec::append_operand(text, value);
    return text;
}

using escaped = escaped_codec<std::string>;

} // namespace

TEST_CASE("width is a number of digits, padded with zeros") {
    check_golden<width_codec<std::int32_t, 5>>(1234, "01234");
    check_golden<width_codec<std::int32_t, 5>>(0, "00000");
    check_golden<width_codec<std::int32_t, 5>>(99999, "99999");
    check_golden<width_codec<std::uint8_t, 1>>(9, "9");
    check_golden<width_codec<std::int64_t, 12>>(123456789012, "123456789012");
}

TEST_CASE("a width with all digits of the type accepts every non-negative value") {
    check_golden<width_codec<std::int32_t, 10>>(std::numeric_limits<std::int32_t>::max(), "2147483647");
    check_golden<width_codec<std::uint8_t, 3>>(255, "255");
    check_golden<width_codec<std::int64_t, 19>>(std::numeric_limits<std::int64_t>::max(), "9223372036854775807");
    check_golden<width_codec<std::uint64_t, 20>>(std::numeric_limits<std::uint64_t>::max(), "18446744073709551615");
    check_golden<width_codec<std::uint64_t, 19>>(9'999'999'999'999'999'999U, "9999999999999999999");
}

TEST_CASE("a number with more digits than the width has no text") {
    CHECK_FALSE(text_of<width_codec<std::int32_t, 5>>(100000).has_value());
    CHECK_FALSE(text_of<width_codec<std::int32_t, 1>>(10).has_value());
    CHECK_FALSE(text_of<width_codec<std::uint64_t, 19>>(10'000'000'000'000'000'000U).has_value());
}

TEST_CASE("with a width a negative number has no text") {
    CHECK_FALSE(text_of<width_codec<std::int32_t, 5>>(-1).has_value());
    CHECK_FALSE(text_of<width_codec<std::int64_t, 19>>(std::numeric_limits<std::int64_t>::min()).has_value());
}

TEST_CASE("a text that has a different width or contains a character that is not a digit is refused") {
    check_foreign<width_codec<std::int32_t, 5>>({"", "1234", "001234", "-1234", "-01234", "0123x"});
    check_foreign<width_codec<std::int32_t, 10>>({"2147483648", "9999999999"});
    check_foreign<width_codec<std::uint8_t, 3>>({"256", "999"});
    check_foreign<width_codec<std::uint64_t, 20>>({"18446744073709551616", "99999999999999999999"});
}

TEST_CASE("in a comparison, a number that has no text form sorts before or after all texts") {
    using codec = width_codec<std::int32_t, 5>;
    CHECK(operand_of<codec>(-1) < std::string{"00000"});
    CHECK(operand_of<codec>(100000) > std::string{"99999"});
}

TEST_CASE("descending stores the distance to the largest value") {
    check_golden<descending_codec<std::int32_t>>(1, "2147483646");
    check_golden<descending_codec<std::int32_t>>(0, "2147483647");
    check_golden<descending_codec<std::int32_t>>(-1, "2147483648");
    check_golden<descending_codec<std::int32_t>>(std::numeric_limits<std::int32_t>::max(), "0000000000");
    check_golden<descending_codec<std::int32_t>>(std::numeric_limits<std::int32_t>::min(), "4294967295");
    check_golden<descending_codec<std::int8_t>>(-128, "255");
    check_golden<descending_codec<std::uint8_t>>(255, "000");
    check_golden<descending_codec<std::uint8_t>>(0, "255");
    check_golden<descending_codec<std::int16_t>>(-32768, "65535");
    check_golden<descending_codec<std::int64_t>>(1, "09223372036854775806");
    check_golden<descending_codec<std::int64_t>>(std::numeric_limits<std::int64_t>::min(), "18446744073709551615");
    check_golden<descending_codec<std::uint64_t>>(0, "18446744073709551615");
    STATIC_REQUIRE(descending_codec<std::int32_t>::ordered);
    STATIC_REQUIRE(descending_codec<std::int32_t>::reversed);
}

TEST_CASE("descending with a width stores the distance to the largest value with that many digits") {
    check_golden<descending_width_codec<std::int32_t, 5>>(1234, "98765");
    check_golden<descending_width_codec<std::int32_t, 5>>(0, "99999");
    check_golden<descending_width_codec<std::int32_t, 5>>(99999, "00000");
    check_golden<descending_width_codec<std::int32_t, 10>>(1, "2147483646");
    check_golden<descending_width_codec<std::uint8_t, 3>>(255, "000");
    check_golden<descending_width_codec<std::int64_t, 8>>(7, "99999992");
    check_foreign<descending_width_codec<std::int32_t, 5>>({"", "1234", "123456", "-0001", "0000a"});
    check_foreign<descending_width_codec<std::uint8_t, 3>>({"256"});
    std::string text;
    CHECK_FALSE(descending_width_codec<std::int32_t, 5>::append(text, -1));
    CHECK_FALSE(descending_width_codec<std::int32_t, 5>::append(text, 100000));
    STATIC_REQUIRE(descending_width_codec<std::int32_t, 5>::ordered);
    STATIC_REQUIRE(descending_width_codec<std::int32_t, 5>::reversed);
}

TEST_CASE("descending times sort newest first") {
    check_golden<descending_codec<date_time>>(date_time{}, "09223372036854775807");
    check_golden<descending_codec<date_time>>(date_time{date_time::max_ticks}, "06572904292854775808");
    CHECK(text_of<descending_codec<date_time>>(date_time::from_date(2026, 1, 2)) <
        text_of<descending_codec<date_time>>(date_time::from_date(2026, 1, 1)));
}

TEST_CASE("a text that is not a distance to the largest value is refused") {
    check_foreign<descending_codec<std::int32_t>>({"", "4294967296", "-2147483646", "214748364", "21474836460"});
    check_foreign<descending_codec<std::uint8_t>>({"256", "-01"});
    check_foreign<descending_codec<std::int64_t>>({"18446744073709551616", "9223372036854775806"});
    check_foreign<descending_codec<date_time>>({"0116444736000000000"});
}

TEST_CASE("each special character has its own escaped form") {
    check_golden<escaped>("", "");
    check_golden<escaped>("plain, text 100%", "plain,\"20text\"20100%");
    check_golden<escaped>(std::string{"\0", 1}, "\"00");
    check_golden<escaped>("\t\n", "\"09\"0a");
    check_golden<escaped>(" !\"#", "\"20\"21\"22\"23");
    check_golden<escaped>("$%&'()*+,-", "$%&'()*+,-");
    check_golden<escaped>(".", ".0");
    check_golden<escaped>("/", ".1");
    check_golden<escaped>(">", ">0");
    check_golden<escaped>("?", ">1");
    check_golden<escaped>("[", "[0");
    check_golden<escaped>("\\", "[1");
    check_golden<escaped>("~", "~0");
    check_golden<escaped>("\x7F", "~17f");
    check_golden<escaped>("\xC2\x80", "~180");
    check_golden<escaped>("\xC2\x9F", "~19f");
    check_golden<escaped>("\xC2\xA0", "\xC2\xA0"); // not a control character
    check_golden<escaped>("a__b_", "a__b_");
    check_golden<escaped>("\xEF\xBD\x9E\xF0\x9F\x98\x80", "\xEF\xBD\x9E\xF0\x9F\x98\x80");
    check_golden<escaped>("C:\\dir/file?#1", "C:[1dir.1file>1\"231");
    STATIC_REQUIRE(escaped::ordered);
    STATIC_REQUIRE_FALSE(escaped::variable);
}

TEST_CASE("an escaped text contains no separator and no character that keys refuse") {
    for (char32_t point = 0; point < 0x2000; ++point) {
        auto const text = text_of<escaped>(utf8(point)).value();
        CAPTURE(static_cast<unsigned>(point));
        CHECK(value_of<escaped>(text) == utf8(point));
        CHECK(text.find_first_of("/\\#?!\x7F") == std::string::npos);
        CHECK(text.find('\xC2') * 0 == 0);
        for (std::size_t at = 0; at < text.size(); ++at) {
            auto const byte = static_cast<unsigned char>(text[at]);
            bool const control = byte < 0x20 ||
                (byte == 0xC2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0);
            CHECK_FALSE(control);
        }
    }
}

TEST_CASE("a text that escaping cannot produce is refused") {
    check_foreign<escaped>({"\"", "\"0", "\"0g", "\"0A", "\"24", "\"7f", " ", "#", "!", "\x01", "/", "\\", "?", ".",
        ".2", ">", ">x", "[", "[", "[2", "~", "~2", "~1", "~17", "~17e", "~1a0", "~1ff", "\x7F", "\xC2\x85",
        "a\xC2\x80"
        "b"});
}
