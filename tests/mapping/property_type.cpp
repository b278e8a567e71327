// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/mapping/property_type.hpp>
#include <entitable/core/etag.hpp>

#include <support/catch.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace entitable;

namespace property_type_test {

enum class small : std::uint8_t {};
enum class tiny : std::int8_t {};
enum class unsigned32 : std::uint32_t {};
enum class sixty_four_bits : std::int64_t {};
enum class plain { one, two };
enum class colour { red, blue, green };
enum class mood { good, bad };

/// A user type.
struct metres {
    double count{};
    friend bool operator==(metres, metres) = default;
};

struct unknown {};

} // namespace property_type_test

template <>
struct entitable::enum_names<property_type_test::colour> {
    static constexpr entitable::enum_name<property_type_test::colour> values[] = {
        {property_type_test::colour::red, "red"}, {property_type_test::colour::blue, "blue"}};
};

template <>
struct entitable::enum_names<property_type_test::mood> {
    static constexpr entitable::enum_name<property_type_test::mood> values[] = {
        {property_type_test::mood::good, "good"}};
    static constexpr auto unknown = property_type_test::mood::bad;
};

template <>
struct entitable::property_type<property_type_test::metres> {
    static constexpr edm_type type = edm_type::float64;
    static value_view view(property_type_test::metres value) noexcept { return value.count; }
    static bool assign(property_type_test::metres& to, value_view from) noexcept {
        return property_type<double>::assign(to.count, from);
    }
};

using namespace property_type_test;

namespace {

template <class T>
std::optional<T> read_as(value_view from) {
    T value{};
    return property_type<T>::assign(value, from) ? std::optional{value} : std::nullopt;
}

template <class T>
void check_round_trip(T const& value, edm_type type) {
    value_view const view = property_type<T>::view(value);
    CHECK(property_type<T>::type == type);
    CHECK(view.type() == type);
    T read{};
    CHECK(property_type<T>::assign(read, view));
    CHECK(read == value);
}

} // namespace

TEST_CASE("every type of the service converts to a C++ type and back, at the extremes") {
    check_round_trip(std::string{}, edm_type::string);
    check_round_trip(std::string{"a\0b\xF0\x9F\x98\x80", 7}, edm_type::string);
    check_round_trip(std::int32_t{0}, edm_type::int32);
    check_round_trip(std::numeric_limits<std::int32_t>::min(), edm_type::int32);
    check_round_trip(std::numeric_limits<std::int32_t>::max(), edm_type::int32);
    check_round_trip(std::int64_t{0}, edm_type::int64);
    check_round_trip(std::numeric_limits<std::int64_t>::min(), edm_type::int64);
    check_round_trip(std::numeric_limits<std::int64_t>::max(), edm_type::int64);
    check_round_trip(1.0, edm_type::float64); // a whole double stays a double
    check_round_trip(std::numeric_limits<double>::denorm_min(), edm_type::float64);
    check_round_trip(-std::numeric_limits<double>::infinity(), edm_type::float64);
    check_round_trip(true, edm_type::boolean);
    check_round_trip(false, edm_type::boolean);
    check_round_trip(date_time{date_time::max_ticks}, edm_type::date_time);
    check_round_trip(date_time{}, edm_type::date_time);
    check_round_trip(guid{}, edm_type::guid);
    check_round_trip(*guid::parse("c9da6455-213d-42c9-9a79-3e9149a57833"), edm_type::guid);
    check_round_trip(binary{}, edm_type::binary);
    check_round_trip(binary{std::byte{0}, std::byte{255}}, edm_type::binary);
    CHECK(std::isnan(*read_as<double>(property_type<double>::view(std::nan("")))));
    CHECK(std::signbit(*read_as<double>(property_type<double>::view(-0.0))));
}

TEST_CASE("text, bytes and GUIDs are borrowed and not copied") {
    std::string const text = "John";
    binary const bytes{std::byte{1}};
    guid const id{};
    CHECK(property_type<std::string>::view(text).bytes().data() == text.data());
    CHECK(static_cast<void const*>(property_type<binary>::view(bytes).bytes().data()) == bytes.data());
    CHECK(static_cast<void const*>(property_type<guid>::view(id).bytes().data()) == id.bytes.data());
}

TEST_CASE("a value of a different type is refused, except that an Int32 can be read as 64 bits") {
    CHECK(read_as<std::int64_t>(std::int32_t{-7}) == -7);
    CHECK_FALSE(read_as<std::int32_t>(std::int64_t{7}));
    CHECK_FALSE(read_as<std::int32_t>(7.0));
    CHECK_FALSE(read_as<double>(std::int32_t{7}));
    CHECK_FALSE(read_as<double>(std::int64_t{7}));
    CHECK_FALSE(read_as<bool>(std::int32_t{1}));
    CHECK_FALSE(read_as<std::int32_t>(true));
    CHECK_FALSE(read_as<std::string>(std::int32_t{7}));
    CHECK_FALSE(read_as<std::string>(value_view{edm_type::binary, std::string_view{"text"}}));
    CHECK_FALSE(read_as<binary>("text"));
    CHECK_FALSE(read_as<date_time>(std::int64_t{7}));
    CHECK_FALSE(read_as<std::int64_t>(date_time{7}));
    CHECK_FALSE(read_as<guid>("c9da6455-213d-42c9-9a79-3e9149a57833"));
    CHECK_FALSE(read_as<std::string>(property_type<guid>::view(guid{})));
}

TEST_CASE("a property of an enumeration without names is stored as its number, in 32 bits if the number fits") {
    check_round_trip(small{255}, edm_type::int32);
    check_round_trip(tiny{-128}, edm_type::int32);
    check_round_trip(plain::two, edm_type::int32);
    check_round_trip(static_cast<plain>(77), edm_type::int32); // every number is preserved
    check_round_trip(unsigned32{4'294'967'295U}, edm_type::int64);
    check_round_trip(sixty_four_bits{std::numeric_limits<std::int64_t>::min()}, edm_type::int64);
    CHECK(read_as<sixty_four_bits>(std::int32_t{7}) == sixty_four_bits{7});
    CHECK_FALSE(read_as<plain>("one"));
}

TEST_CASE("a number that the enumeration cannot hold is refused and not truncated") {
    CHECK(read_as<small>(std::int32_t{255}) == small{255});
    CHECK_FALSE(read_as<small>(std::int32_t{256}));
    CHECK_FALSE(read_as<small>(std::int32_t{-1}));
    CHECK_FALSE(read_as<tiny>(std::int32_t{128}));
    CHECK_FALSE(read_as<unsigned32>(std::int64_t{-1}));
    CHECK_FALSE(read_as<unsigned32>(std::int64_t{4'294'967'296}));
}

TEST_CASE("a property of an enumeration with names is stored by name") {
    check_round_trip(colour::red, edm_type::string);
    CHECK(property_type<colour>::view(colour::blue).as_string() == "blue");
    CHECK_FALSE(read_as<colour>("green"));
    CHECK_FALSE(read_as<colour>(std::int32_t{0}));
}

TEST_CASE("a value without a name is stored as the empty text and refused when it is read") {
    CHECK(property_type<colour>::view(colour::green).as_string().empty());
    CHECK_FALSE(read_as<colour>(property_type<colour>::view(colour::green)));
}

TEST_CASE("an unknown name is read as the substitute declared by the user") {
    CHECK(read_as<mood>("awful") == mood::bad);
    CHECK(read_as<mood>(property_type<mood>::view(mood::bad)) == mood::bad);
    CHECK_FALSE(read_as<mood>(std::int32_t{0})); // another type is not an unknown name
}

TEST_CASE("a user type becomes a property type with one trait") {
    check_round_trip(metres{1.5}, edm_type::float64);
    STATIC_REQUIRE(property_value<metres>);
    STATIC_REQUIRE(property_value<std::optional<metres>>);
}

TEST_CASE("property_value is true only for the eight types, enumerations and optionals of them") {
    STATIC_REQUIRE(property_value<std::string>);
    STATIC_REQUIRE(property_value<std::int32_t>);
    STATIC_REQUIRE(property_value<std::int64_t>);
    STATIC_REQUIRE(property_value<double>);
    STATIC_REQUIRE(property_value<bool>);
    STATIC_REQUIRE(property_value<date_time>);
    STATIC_REQUIRE(property_value<guid>);
    STATIC_REQUIRE(property_value<binary>);
    STATIC_REQUIRE(property_value<colour>);
    STATIC_REQUIRE(property_value<std::optional<std::string>>);
    STATIC_REQUIRE_FALSE(property_value<float>);
    STATIC_REQUIRE_FALSE(property_value<char>);
    STATIC_REQUIRE_FALSE(property_value<std::int16_t>);
    STATIC_REQUIRE_FALSE(property_value<std::uint32_t>);
    STATIC_REQUIRE_FALSE(property_value<std::uint64_t>);
    STATIC_REQUIRE_FALSE(property_value<long double>);
    STATIC_REQUIRE_FALSE(property_value<std::vector<std::string>>);
    STATIC_REQUIRE_FALSE(property_value<std::optional<std::optional<bool>>>);
    STATIC_REQUIRE_FALSE(property_value<char const*>);
    STATIC_REQUIRE_FALSE(property_value<std::string_view>);
    STATIC_REQUIRE_FALSE(property_value<etag>);
    STATIC_REQUIRE_FALSE(property_value<unknown>);
}
