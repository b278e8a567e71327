// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "support/catch.hpp"
#include <entitable/client/mapping/codec.hpp>
#include <entitable/client/mapping/key_pattern.hpp>

using namespace entitable;
using detail::are_told_apart;
using detail::pattern_of_type;

namespace patterns {

/// A user's codec that says how its texts begin, and one that does not.
struct letter {
    char is{'a'};
};
struct secret {
    int number{};
};
enum class colour : std::uint8_t { red, blue };
/// An enumeration by number, and one whose codec is the user's.
enum class level : std::uint16_t { low, high };
enum class rank : std::uint16_t { first, last };
/// An enumeration that reads unknown names, as a newer program may write.
enum class phase : std::uint8_t { open, other };

} // namespace patterns

template <>
struct entitable::enum_names<patterns::colour> {
    static constexpr enum_name<patterns::colour> values[] = {
        {patterns::colour::red, "red"}, {patterns::colour::blue, "blue"}};
};
template <>
struct entitable::enum_names<patterns::phase> {
    static constexpr enum_name<patterns::phase> values[] = {{patterns::phase::open, "open"}};
    static constexpr patterns::phase unknown = patterns::phase::other;
};
template <>
struct entitable::key_codec<patterns::letter> : entitable::detail::key_codec_base<patterns::letter> {
    static constexpr std::string_view first_characters = "abc";
    static bool append(std::string& out, patterns::letter value) {
        out += value.is;
        return true;
    }
    static bool parse(std::string_view text, patterns::letter& out) {
        out.is = text.empty() ? 'a' : text.front();
        return text.size() == 1;
    }
};
template <>
struct entitable::key_codec<patterns::secret> : entitable::key_codec<std::int32_t> {
    using value_type = patterns::secret;
    using argument = patterns::secret;
    static bool append(std::string& out, patterns::secret value) {
        return (out += 's', out.size() > 1 || value.number == 0);
    }
    static bool parse(std::string_view, patterns::secret&) { return true; }
};

template <>
struct entitable::key_codec<patterns::rank> : entitable::key_codec<patterns::level> {
    using value_type = patterns::rank;
    using argument = patterns::rank;
    static bool append(std::string& out, patterns::rank value) {
        out += value == patterns::rank::first ? "AGE:1" : "AGE:9";
        return true;
    }
    static bool parse(std::string_view text, patterns::rank& out) {
        out = text == "AGE:1" ? patterns::rank::first : patterns::rank::last;
        return true;
    }
};

namespace patterns {

struct by_phase {
    std::string group;
    phase is{};
};
ENTITABLE(by_phase, partition_key(group), row_key(is))

struct by_level {
    std::string group;
    level is{};
};
ENTITABLE(by_level, partition_key(group), row_key(is))

struct by_rank {
    std::string group;
    rank is{};
};
ENTITABLE(by_rank, partition_key(group), row_key(is))

struct by_number {
    std::string group;
    std::int32_t number{};
};
ENTITABLE(by_number, partition_key(group), row_key(number))

struct by_unsigned {
    std::string group;
    std::uint32_t number{};
};
ENTITABLE(by_unsigned, partition_key(group), row_key(number))

struct by_width {
    std::string group;
    std::int32_t age{};
    std::int32_t number{};
};
ENTITABLE(by_width, partition_key(group), row_key(width(age, 3), number))

struct by_literal {
    std::string group;
    std::int32_t number{};
};
ENTITABLE(by_literal, partition_key(group), row_key(literal("AGE:"), number))

struct by_longer_literal {
    std::string group;
    std::string text;
};
ENTITABLE(by_longer_literal, partition_key(group), row_key(literal("AGE:x"), text))

struct by_text {
    std::string group;
    std::string text;
};
ENTITABLE(by_text, partition_key(group), row_key(text))

struct by_colour {
    std::string group;
    colour is{};
};
ENTITABLE(by_colour, partition_key(group), row_key(is))

struct by_guid {
    std::string group;
    guid id;
};
ENTITABLE(by_guid, partition_key(group), row_key(id))

struct by_optional {
    std::string group;
    std::optional<std::int32_t> number;
};
ENTITABLE(by_optional, partition_key(group), row_key(number))

struct by_letter {
    std::string group;
    letter is;
};
ENTITABLE(by_letter, partition_key(group), row_key(is))

struct by_secret {
    std::string group;
    secret is;
};
ENTITABLE(by_secret, partition_key(group), row_key(is))

struct in_own_partitions {
    std::int32_t group{};
    std::string text;
};
ENTITABLE(in_own_partitions, partition_key(literal("own:"), group), row_key(text))

struct in_other_partitions {
    std::int32_t group{};
    std::string text;
};
ENTITABLE(in_other_partitions, partition_key(literal("others:"), group), row_key(text))

struct one_digit {
    std::string group;
    std::int32_t number{};
};
ENTITABLE(one_digit, partition_key(group), row_key(width(number, 1)))

struct two_digits {
    std::string group;
    std::int32_t number{};
};
ENTITABLE(two_digits, partition_key(group), row_key(width(number, 2)))

struct in_buckets {
    std::string group;
    std::string text;
};
ENTITABLE(in_buckets, partition_key(group), row_key(salted(text, 100)))

template <class One, class Other>
constexpr bool apart = are_told_apart<One, Other> && are_told_apart<Other, One>;
template <class One, class Other>
constexpr bool ambiguous = !are_told_apart<One, Other> && !are_told_apart<Other, One>;

// A literal begins with another character than a number, an absent number, a GUID or a name of an enumeration.
static_assert(apart<by_literal, by_number>);
static_assert(apart<by_literal, by_optional>);
static_assert(apart<by_literal, by_guid>);
static_assert(apart<by_literal, by_colour>);
static_assert(apart<by_literal, by_letter>);
static_assert(apart<by_literal, in_buckets>);
static_assert(apart<by_colour, by_number>);
static_assert(ambiguous<by_colour, by_guid>); // "blue..." and "b0..."
static_assert(apart<by_letter, by_number>);
static_assert(apart<by_level, by_literal>);
static_assert(apart<by_level, by_number>); // five digits and the end, ten digits
static_assert(ambiguous<by_rank, by_literal>);
static_assert(ambiguous<by_phase, by_literal>);
static_assert(ambiguous<by_rank, by_level>);
static_assert(ambiguous<by_letter, by_guid>);
// A number of ten digits has a digit where the other key has a separator; a negative number, too.
static_assert(apart<by_number, by_width>);
static_assert(apart<by_unsigned, by_width>);
static_assert(ambiguous<by_number, by_unsigned>);
static_assert(ambiguous<by_number, by_optional>);
// A number behind a literal is no other literal.
static_assert(apart<by_literal, by_longer_literal>);
// The end of a key distinguishes it from a longer one.
static_assert(apart<one_digit, two_digits>);
static_assert(apart<one_digit, by_unsigned>);
// Nothing is known about a text, and about a codec of the user.
static_assert(ambiguous<by_text, by_literal>);
static_assert(ambiguous<by_text, by_number>);
static_assert(ambiguous<by_secret, by_literal>);
static_assert(ambiguous<by_secret, by_number>);
// Partition keys count as well.
static_assert(apart<in_own_partitions, in_other_partitions>);
static_assert(ambiguous<in_own_partitions, by_text>);

/// Whether a row of an entity belongs to its type, and is in the interval of the type.
template <class Entity>
bool belongs(Entity const& one) {
    row const made = to_row(one).value();
    return pattern_of_type<Entity>.matches(made.partition_key(), made.row_key()) &&
        pattern_of_type<Entity>.row.interval().contains(made.row_key());
}

template <class Entity>
bool takes(std::string_view row_key) {
    return pattern_of_type<Entity>.matches("group", row_key);
}

} // namespace patterns

using namespace patterns;

TEST_CASE("key pattern: each entity belongs to its own type") {
    for (std::int32_t const number :
        {std::numeric_limits<std::int32_t>::min(), -1, 0, 7, std::numeric_limits<std::int32_t>::max()}) {
        CHECK(belongs(by_number{"g", number}));
        CHECK(belongs(by_literal{"g", number}));
        CHECK(belongs(by_width{"g", 5, number}));
        CHECK(belongs(by_optional{"g", number}));
        CHECK(belongs(by_unsigned{"g", static_cast<std::uint32_t>(number)}));
        CHECK(belongs(in_own_partitions{number, "x"}));
    }
    CHECK(belongs(by_optional{"g", std::nullopt}));
    for (std::string const text : {"", "a", "AGE:", "\xC3\xA4", "~", "0000000001", "a__b"}) {
        CHECK(belongs(by_text{"g", text}));
        CHECK(belongs(by_longer_literal{"g", text}));
        CHECK(belongs(in_buckets{"g", text}));
    }
    CHECK(belongs(by_colour{"g", colour::blue}));
    CHECK(belongs(by_guid{"g", guid::parse("00112233-4455-6677-8899-aabbccddeeff").value()}));
    CHECK(belongs(by_letter{"g", {'c'}}));
    CHECK(belongs(by_level{"g", level::high}));
    CHECK(belongs(by_rank{"g", rank::last}));
}

TEST_CASE("key pattern: a row of a different form does not belong to the type") {
    CHECK_FALSE(takes<by_number>("AGE:0000000001"));
    CHECK_FALSE(takes<by_number>("000000001"));
    CHECK_FALSE(takes<by_number>(""));
    CHECK_FALSE(takes<by_unsigned>("00000000010"));
    CHECK_FALSE(takes<by_unsigned>("-000000001"));
    CHECK_FALSE(takes<by_width>("005_0000000001"));
    CHECK_FALSE(takes<by_literal>("AGE"));
    CHECK_FALSE(takes<by_literal>("age:0000000001"));
    CHECK_FALSE(takes<by_guid>("00112233-4455-6677-8899-AABBCCDDEEFF"));
    CHECK_FALSE(takes<one_digit>("12"));
    CHECK_FALSE(takes<by_colour>("green"));
    CHECK(takes<by_phase>("green")); // read as `unknown`
    CHECK_FALSE(takes<by_letter>("d"));
}

TEST_CASE("key pattern: the interval of a type begins and ends at its first characters") {
    auto const numbers = pattern_of_type<by_number>.row.interval();
    CHECK(numbers.contains("-2147483648"));
    CHECK(numbers.contains("9999999999"));
    CHECK_FALSE(numbers.contains("AGE:"));
    CHECK_FALSE(numbers.contains(","));
    auto const ages = pattern_of_type<by_literal>.row.interval();
    CHECK(ages.contains("AGE:"));
    CHECK_FALSE(ages.contains("AGE;"));
    CHECK(pattern_of_type<by_text>.row.interval().contains(""));
    CHECK(pattern_of_type<by_optional>.row.interval().contains("~"));
}
