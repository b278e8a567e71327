// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/mapping/key_codec.hpp>
#include <entitable/core/edm_type.hpp>

#include <support/catch.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace entitable;

namespace key_codec_test {

enum class small : std::uint8_t {};
enum class sixty_four_bits : std::int64_t {};
enum class colour { red, blue, green };
enum class mood { good, bad };

/// A user type, written as the number that it contains.
struct bib_number {
    std::int32_t number{};
    friend bool operator==(bib_number, bib_number) = default;
};

} // namespace key_codec_test

template <>
struct entitable::enum_names<key_codec_test::colour> {
    static constexpr entitable::enum_name<key_codec_test::colour> values[] = {
        {key_codec_test::colour::red, "red"}, {key_codec_test::colour::blue, "blue"}};
};

template <>
struct entitable::enum_names<key_codec_test::mood> {
    static constexpr entitable::enum_name<key_codec_test::mood> values[] = {{key_codec_test::mood::good, "good"}};
    static constexpr auto unknown = key_codec_test::mood::bad;
};

template <>
struct entitable::key_codec<key_codec_test::bib_number> : key_codec<std::int32_t> {
    using value_type = key_codec_test::bib_number;
    using argument = key_codec_test::bib_number;
    static bool append(std::string& out, argument value) { return key_codec<std::int32_t>::append(out, value.number); }
    static bool parse(std::string_view text, value_type& out) {
        return key_codec<std::int32_t>::parse(text, out.number);
    }
};

namespace {

using key_codec_test::bib_number;
using key_codec_test::colour;
using key_codec_test::mood;
using key_codec_test::sixty_four_bits;
using key_codec_test::small;

template <class T>
std::string text_of(T const& value) {
    std::string text = "before|";
    CHECK(key_codec<T>::append(text, value));
    REQUIRE(text.starts_with("before|")); // appended, and nothing overwritten
    return text.substr(7);
}

/// The value of a text, if it has one.
template <class T>
std::optional<T> value_of(std::string_view text) {
    T value{};
    return key_codec<T>::parse(text, value) ? std::optional<T>{value} : std::nullopt;
}

template <class T>
void check_golden(T const& value, std::string_view text) {
    CAPTURE(text);
    CHECK(text_of(value) == text);
    T read{};
    CHECK(key_codec<T>::parse(text, read));
    CHECK(read == value);
}

template <class T>
void check_foreign(std::initializer_list<std::string_view> texts) {
    for (std::string_view const text : texts) {
        CAPTURE(text);
        CHECK_FALSE(value_of<T>(text).has_value());
    }
}

} // namespace

TEST_CASE("32-bit integers have ten digits, and negative integers are a minus sign and the distance from the smallest "
          "value") {
    check_golden(std::int32_t{1234}, "0000001234");
    check_golden(std::int32_t{0}, "0000000000");
    check_golden(std::int32_t{-1}, "-2147483647");
    check_golden(std::numeric_limits<std::int32_t>::max(), "2147483647");
    check_golden(std::numeric_limits<std::int32_t>::min(), "-0000000000");
    check_golden(std::uint32_t{1234}, "0000001234");
    check_golden(std::numeric_limits<std::uint32_t>::max(), "4294967295");
}

TEST_CASE("8-bit and 16-bit integers have three and five digits") {
    check_golden(std::uint8_t{7}, "007");
    check_golden(std::uint8_t{255}, "255");
    check_golden(std::int8_t{127}, "127");
    check_golden(std::int8_t{-1}, "-127");
    check_golden(std::int8_t{-128}, "-000");
    check_golden(std::uint16_t{65535}, "65535");
    check_golden(std::int16_t{32767}, "32767");
    check_golden(std::int16_t{-1}, "-32767");
    check_golden(std::int16_t{-32768}, "-00000");
}

TEST_CASE("64-bit integers have nineteen digits, and unsigned 64-bit integers have twenty") {
    check_golden(std::int64_t{0}, "0000000000000000000");
    check_golden(std::numeric_limits<std::int64_t>::max(), "9223372036854775807");
    check_golden(std::int64_t{-1}, "-9223372036854775807");
    check_golden(std::numeric_limits<std::int64_t>::min(), "-0000000000000000000");
    check_golden(std::uint64_t{7}, "00000000000000000007");
    check_golden(std::numeric_limits<std::uint64_t>::max(), "18446744073709551615");
}

TEST_CASE("long and long long are written alike if they have the same width") {
    check_golden(1234LL, "0000000000000001234");
    check_golden(1234ULL, "00000000000000001234");
    STATIC_REQUIRE(key_codec<long long>::width == 19);
    STATIC_REQUIRE(key_codec<unsigned long long>::width == 20);
}

TEST_CASE("only the exact text of an integer is accepted") {
    check_foreign<std::int32_t>(
        {"", "-", "1234", "00000001234", "000000123x", "+000001234", " 000001234", "2147483648", "9999999999",
            "-2147483648", "-000000000", "--000000001", "0000001234 ", "\xD9\xA1\xD9\xA2\xD9\xA3\xD9\xA4\xD9\xA5"});
    check_foreign<std::uint32_t>({"-0000000001", "-0000000000", "4294967296"});
    check_foreign<std::uint8_t>({"256", "0", "-01", "1e2"});
    check_foreign<std::int8_t>({"128", "-128", "-999"});
    check_foreign<std::uint64_t>({"18446744073709551616", "99999999999999999999", "1844674407370955161"});
    check_foreign<std::int64_t>({"9223372036854775808", "-9223372036854775808"});
}

TEST_CASE("characters and bool are not integer keys") {
    STATIC_REQUIRE_FALSE(key_value<char>);
    STATIC_REQUIRE_FALSE(key_value<bool>);
    STATIC_REQUIRE_FALSE(key_value<wchar_t>);
    STATIC_REQUIRE_FALSE(key_value<char8_t>);
    STATIC_REQUIRE_FALSE(key_value<char16_t>);
    STATIC_REQUIRE_FALSE(key_value<char32_t>);
}

TEST_CASE("numbers with a fraction, bytes and other types cannot be keys") {
    STATIC_REQUIRE_FALSE(key_value<double>);
    STATIC_REQUIRE_FALSE(key_value<float>);
    STATIC_REQUIRE_FALSE(key_value<binary>);
    STATIC_REQUIRE_FALSE(key_value<std::vector<int>>);
    STATIC_REQUIRE_FALSE(key_value<char const*>);
    STATIC_REQUIRE_FALSE(key_value<std::string_view>); // it would have no owner
    STATIC_REQUIRE_FALSE(key_value<std::optional<double>>);
}

TEST_CASE("text is written unchanged") {
    check_golden(std::string{"Full"}, "Full");
    check_golden(std::string{}, "");
    check_golden(std::string{"it's 100% \xC3\xA9"}, "it's 100% \xC3\xA9");
    check_golden(std::string{"a\0b", 3}, std::string_view{"a\0b", 3});
    STATIC_REQUIRE(key_codec<std::string>::variable);
}

TEST_CASE("a time is written as its ticks with nineteen digits") {
    check_golden(date_time{}, "0000000000000000000");
    check_golden(date_time::from_date(2026, 1, 2), "0134117856000000000");
    check_golden(date_time{date_time::unix_epoch}, "0116444736000000000");
    check_golden(date_time{date_time::max_ticks}, "2650467743999999999");
    check_golden(date_time{-1}, "-9223372036854775807");
    check_foreign<date_time>({"", "2026-01-02T00:00:00Z", "134117856000000000"});
}

TEST_CASE("a GUID is written with thirty-six characters in lower case") {
    check_golden(*guid::parse("C9DA6455-213D-42C9-9A79-3E9149A57833"), "c9da6455-213d-42c9-9a79-3e9149a57833");
    check_golden(guid{}, "00000000-0000-0000-0000-000000000000");
    check_foreign<guid>({"", "C9DA6455-213D-42C9-9A79-3E9149A57833", "c9da6455213d42c99a793e9149a57833",
        "{c9da6455-213d-42c9-9a79-3e9149a57833}", "c9da6455-213d-42c9-9a79-3e9149a5783"});
}

TEST_CASE("an enumeration without names is written as a number of its underlying type") {
    check_golden(small{7}, "007");
    check_golden(small{255}, "255"); // any number
    check_golden(sixty_four_bits{-1}, "-9223372036854775807");
    check_foreign<small>({"256", "7"});
}

TEST_CASE("an enumeration with names is written by name") {
    check_golden(colour::red, "red");
    check_golden(colour::blue, "blue");
    check_foreign<colour>({"", "green", "Red", "0"});
    STATIC_REQUIRE_FALSE(key_codec<colour>::ordered);
    STATIC_REQUIRE(key_codec<colour>::variable);
}

TEST_CASE("an unnamed value of a named enumeration cannot be written in a key") {
    std::string text;
    CHECK_FALSE(key_codec<colour>::append(text, colour::green));
    CHECK(text.empty());
}

TEST_CASE("an enumeration with a substitute reads unknown names as the substitute") {
    check_golden(mood::good, "good");
    CHECK(value_of<mood>("of another program") == mood::bad);
    CHECK(value_of<mood>("") == mood::bad);
}

TEST_CASE("an absent value is written as a tilde, which sorts after every number") {
    check_golden(std::optional<std::int32_t>{}, "~");
    check_golden(std::optional<std::int32_t>{1234}, "0000001234");
    check_golden(std::optional<std::int64_t>{-1}, "-9223372036854775807");
    check_golden(std::optional<date_time>{date_time{7}}, "0000000000000000007");
    check_golden(std::optional<guid>{guid{}}, "00000000-0000-0000-0000-000000000000");
    check_golden(std::optional<small>{small{9}}, "009");
    check_golden(std::optional<guid>{}, "~");
    check_foreign<std::optional<std::int32_t>>({"", "~~", "~0000001234", "1234"});
    CHECK(std::string_view{"9999999999"} < absent_key_text);
}

TEST_CASE("an optional cannot be a key if its value has a variable width or is itself an optional") {
    STATIC_REQUIRE(key_value<std::optional<std::int32_t>>);
    STATIC_REQUIRE_FALSE(key_value<std::optional<std::string>>);
    STATIC_REQUIRE_FALSE(key_value<std::optional<colour>>);
    STATIC_REQUIRE_FALSE(key_value<std::optional<std::optional<std::int32_t>>>);
}

TEST_CASE("a user type is written in a key as the type it converts to") {
    check_golden(bib_number{1234}, "0000001234");
    check_golden(std::optional<bib_number>{}, "~");
    check_foreign<bib_number>({"1234"});
    STATIC_REQUIRE(key_value<bib_number>);
}
