// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/mapping/key_argument.hpp>

#include <support/catch.hpp>

#include <string>

using namespace entitable;

namespace {

template <class Codec, class Argument>
std::string text_of(Argument const& argument) {
    std::string text;
    CHECK(Codec::append(text, argument));
    return text;
}

} // namespace

TEST_CASE("an integer of the same type or of a narrower type is accepted without loss") {
    CHECK(key_argument<std::int64_t>{7}.value == 7);
    CHECK(key_argument<std::int64_t>{std::uint32_t{4'294'967'295}}.value == 4'294'967'295);
    CHECK(key_argument<std::uint64_t>{std::uint8_t{255}}.value == 255);
    CHECK(key_argument<std::int32_t>{std::int8_t{-1}}.value == -1);
}

TEST_CASE("fits_losslessly is true exactly if every value fits") {
    using detail::fits_losslessly;
    STATIC_REQUIRE(fits_losslessly<std::int32_t, std::int32_t>);
    STATIC_REQUIRE(fits_losslessly<std::int32_t, std::int64_t>);
    STATIC_REQUIRE(fits_losslessly<std::uint32_t, std::int64_t>);
    STATIC_REQUIRE(fits_losslessly<long, long long>);
    STATIC_REQUIRE_FALSE(fits_losslessly<std::int64_t, std::int32_t>);
    STATIC_REQUIRE_FALSE(fits_losslessly<std::uint32_t, std::int32_t>);
    STATIC_REQUIRE_FALSE(fits_losslessly<std::int32_t, std::uint32_t>);
    STATIC_REQUIRE_FALSE(fits_losslessly<std::int32_t, std::uint64_t>);
    STATIC_REQUIRE_FALSE(fits_losslessly<bool, std::int32_t>);
    STATIC_REQUIRE_FALSE(fits_losslessly<char, std::int32_t>);
    STATIC_REQUIRE_FALSE(fits_losslessly<double, std::int64_t>);
}

TEST_CASE("text is accepted as a literal, a view or a string and not copied") {
    std::string const owned = "Full";
    CHECK(key_argument<std::string>{owned}.value.data() == owned.data());
    CHECK(key_argument<std::string>{"Full"}.value == "Full");
    CHECK(key_argument<std::string>{std::string_view{"Full"}}.value == "Full");
    STATIC_REQUIRE_FALSE(std::is_constructible_v<key_argument<std::string>, int>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<key_argument<std::string>, std::nullptr_t>);
}

TEST_CASE("an optional component accepts a value, an optional or nullopt") {
    using argument = key_argument<std::optional<std::int32_t>>;
    CHECK(argument{7}.value == 7);
    CHECK(argument{std::int8_t{7}}.value == 7);
    CHECK(argument{std::optional<std::int32_t>{7}}.value == 7);
    CHECK_FALSE(argument{std::nullopt}.value.has_value());
    CHECK_FALSE(argument{std::optional<std::int32_t>{}}.value.has_value());
}

TEST_CASE("other types are passed unchanged") {
    CHECK(key_argument<date_time>{date_time{7}}.value == date_time{7});
    CHECK(key_argument<guid>{guid{}}.value == guid{});
    STATIC_REQUIRE_FALSE(std::is_constructible_v<key_argument<guid>, std::string>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<key_argument<date_time>, std::string>);
}

TEST_CASE("an argument is written like the member") {
    CHECK(text_of<key_codec<std::int64_t>>(key_argument<std::int64_t>{1234}) == "0000000000000001234");
    CHECK(text_of<key_codec<std::string>>(key_argument<std::string>{"Full"}) == "Full");
    CHECK(text_of<key_codec<std::optional<std::int32_t>>>(key_argument<std::optional<std::int32_t>>{std::nullopt}) ==
        "~");
}
