// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/value.hpp>

#include <support/catch.hpp>
#include <support/utf8.hpp>

#include <limits>
#include <string>

using namespace entitable;
using entitable_test::utf8;

namespace {

using numbers = std::numeric_limits<double>;

constexpr std::string_view guid_bytes{"\xA0\xA1\xA2\xA3\xA4\xA5\xA6\xA7\xA8\xA9\xAA\xAB\xAC\xAD\xAE\xAF", 16};

value_view bytes_of(std::string_view bytes) { return {edm_type::binary, bytes}; }

/// One value of each type.
std::vector<value> one_of_each() {
    return {value_view{std::string_view{"1"}}, value_view{std::int32_t{1}}, value_view{std::int64_t{1}},
        value_view{1.0}, value_view{true}, value_view{date_time{1}}, value_view{edm_type::guid, guid_bytes},
        bytes_of("1")};
}

} // namespace

TEST_CASE("a value keeps its type and its content") {
    CHECK(value_view{std::string_view{"John"}}.type() == edm_type::string);
    CHECK(value_view{std::string_view{"John"}}.as_string() == "John");
    CHECK(value_view{std::int32_t{-5}}.type() == edm_type::int32);
    CHECK(value_view{std::int32_t{-5}}.as_int32() == -5);
    CHECK(value_view{std::numeric_limits<std::int64_t>::min()}.type() == edm_type::int64);
    CHECK(value_view{std::numeric_limits<std::int64_t>::min()}.as_int64() == std::numeric_limits<std::int64_t>::min());
    CHECK(value_view{2.5}.type() == edm_type::float64);
    CHECK(value_view{2.5}.as_float64() == 2.5);
    CHECK(value_view{true}.type() == edm_type::boolean);
    CHECK(value_view{true}.as_boolean());
    CHECK_FALSE(value_view{false}.as_boolean());
    CHECK(value_view{date_time{9}}.type() == edm_type::date_time);
    CHECK(value_view{date_time{9}}.as_date_time() == date_time{9});
    CHECK(value_view{edm_type::guid, guid_bytes}.as_guid().to_string() == "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
    CHECK(bytes_of("\xFF").bytes() == "\xFF");
}

TEST_CASE("a string literal becomes a text, and no other pointer is accepted") {
    value_view const text = "John";
    CHECK(text.type() == edm_type::string);
    CHECK(text.as_string() == "John");
    STATIC_REQUIRE_FALSE(std::is_constructible_v<value_view, int const*>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<value_view, unsigned char*>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<value_view, std::nullptr_t>);
}

TEST_CASE("every type keeps its zero value") {
    CHECK(value{value_view{std::string_view{}}}.view().as_string().empty());
    CHECK(value{value_view{std::int32_t{}}}.view().as_int32() == 0);
    CHECK(value{value_view{std::int64_t{}}}.view().as_int64() == 0);
    CHECK(value{value_view{0.0}}.view().as_float64() == 0.0);
    CHECK_FALSE(value{value_view{false}}.view().as_boolean());
    CHECK(value{value_view{date_time{}}}.view().as_date_time() == date_time{});
    CHECK(value{bytes_of({})}.view().bytes().empty());
    CHECK(value{}.type() == edm_type::string);
    CHECK(value{} == value{value_view{std::string_view{}}});
}

TEST_CASE("an owned value outlives its source") {
    value kept;
    {
        std::string const text = "a text long enough to live on the heap";
        kept = value_view{std::string_view{text}};
    }
    CHECK(kept.view().as_string() == "a text long enough to live on the heap");
    auto const copy = kept;
    CHECK(copy == kept);
    CHECK(copy.view().bytes().data() != kept.view().bytes().data());
}

TEST_CASE("values are identical if their types and bits are identical") {
    auto const all = one_of_each();
    for (std::size_t left = 0; left < all.size(); ++left) {
        for (std::size_t right = 0; right < all.size(); ++right) {
            CHECK((all[left] == all[right]) == (left == right));
        }
    }
    CHECK(value_view{numbers::quiet_NaN()} == value_view{numbers::quiet_NaN()});
    CHECK_FALSE(value_view{0.0} == value_view{-0.0});
}

TEST_CASE("values of different types are unordered") {
    auto const all = one_of_each();
    for (auto const& left : all) {
        for (auto const& right : all) {
            CAPTURE(to_string(left.type()), to_string(right.type()));
            CHECK(compare_values(left, right) == (left.type() == right.type() ? ordering::equal : ordering::unordered));
        }
    }
}

TEST_CASE("numbers compare by value") {
    auto const compare = [](auto left, auto right) { return compare_values(value_view{left}, value_view{right}); };
    CHECK(compare(std::int32_t{-3}, std::int32_t{2}) == ordering::less);
    CHECK(compare(std::int64_t{12}, std::int64_t{120}) == ordering::less);
    CHECK(compare(std::int64_t{9007199254740993}, std::int64_t{9007199254740992}) == ordering::greater);
    CHECK(
        compare(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()) == ordering::less);
    CHECK(compare(-0.5, 0.0) == ordering::less);
    CHECK(compare(2.0, 2.0) == ordering::equal);
    CHECK(compare(-numbers::infinity(), numbers::lowest()) == ordering::less);
    CHECK(compare(numbers::infinity(), numbers::max()) == ordering::greater);
    CHECK(compare(false, true) == ordering::less);
    CHECK(compare(true, true) == ordering::equal);
    CHECK(compare(date_time{5}, date_time{4}) == ordering::greater);
}

TEST_CASE("negative zero equals zero, and NaN is unordered") {
    CHECK(compare_values(-0.0, 0.0) == ordering::equal);
    CHECK(compare_values(numbers::quiet_NaN(), 1.0) == ordering::unordered);
    CHECK(compare_values(1.0, numbers::quiet_NaN()) == ordering::unordered);
    CHECK(compare_values(numbers::quiet_NaN(), numbers::quiet_NaN()) == ordering::unordered);
    CHECK(compare_values(numbers::quiet_NaN(), numbers::infinity()) == ordering::unordered);
}

TEST_CASE("texts compare by UTF-16 units, bytes and GUIDs by unsigned bytes") {
    auto const text = [](std::string const& left, std::string const& right) {
        return compare_values(value_view{std::string_view{left}}, value_view{std::string_view{right}});
    };
    CHECK(text("a", "Z") == ordering::greater);
    CHECK(text("", "a") == ordering::less);
    CHECK(text(utf8(0x1F600), utf8(0xFF01)) == ordering::less);
    CHECK(text("caf" + utf8(0xE9), "cafe" + utf8(0x301)) == ordering::greater);
    CHECK(compare_values(bytes_of("\x7F"), bytes_of("\x80")) == ordering::less);
    CHECK(compare_values(bytes_of("\xF0"), bytes_of("\xEE")) == ordering::greater);
    CHECK(compare_values(bytes_of("a"), bytes_of("ab")) == ordering::less);
    CHECK(compare_values(bytes_of(""), bytes_of(std::string_view{"\0", 1})) == ordering::less);
    std::string higher{guid_bytes};
    higher[0] = '\xFF';
    CHECK(compare_values({edm_type::guid, guid_bytes}, {edm_type::guid, std::string_view{higher}}) == ordering::less);
}

TEST_CASE("a value is printed as readable text") {
    auto const shown = [](value_view view) { return value{view}.to_string(); };
    CHECK(shown("John") == "\"John\"");
    CHECK(shown("a\nb") == "\"a\\x0ab\"");
    CHECK(shown(std::string(100, 'x').c_str()) == '"' + std::string(64, 'x') + "...\"");
    CHECK(shown(std::int32_t{-7}) == "-7");
    CHECK(shown(std::numeric_limits<std::int64_t>::max()) == "9223372036854775807");
    CHECK(shown(2.0) == "2.0");
    CHECK(shown(-0.0) == "-0.0");
    CHECK(shown(0.1) == "0.1");
    CHECK(shown(1e300) == "1e+300");
    CHECK(shown(0.1 + 0.2) == "0.30000000000000004");
    CHECK(shown(numbers::quiet_NaN()) == "nan");
    CHECK(shown(-numbers::infinity()) == "-inf");
    CHECK(shown(true) == "true");
    CHECK(shown(false) == "false");
    CHECK(shown(date_time{date_time::unix_epoch}) == "1970-01-01T00:00:00Z");
    CHECK(shown({edm_type::guid, guid_bytes}) == "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
    CHECK(shown(bytes_of("\x01\xFF")) == "X'01ff'");
    CHECK(shown(bytes_of("")) == "X''");
    CHECK(shown(bytes_of(std::string(33, '\x01'))).size() == 2 + 64 + 4);
}

TEST_CASE("every type has the name that the service uses") {
    CHECK(to_string(edm_type::string) == "Edm.String");
    CHECK(to_string(edm_type::int32) == "Edm.Int32");
    CHECK(to_string(edm_type::int64) == "Edm.Int64");
    CHECK(to_string(edm_type::float64) == "Edm.Double");
    CHECK(to_string(edm_type::boolean) == "Edm.Boolean");
    CHECK(to_string(edm_type::date_time) == "Edm.DateTime");
    CHECK(to_string(edm_type::guid) == "Edm.Guid");
    CHECK(to_string(edm_type::binary) == "Edm.Binary");
    CHECK(to_string(static_cast<edm_type>(9)) == "unknown");
}
