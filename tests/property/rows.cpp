// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Random entities to rows and back, 100,000 of each.

#include <entitable/client/mapping/codec.hpp>

#include <support/draw.hpp>

#include <cstring>
#include <limits>
#include <string>

using namespace entitable;
using entitable_test::check_draws;
using entitable_test::draw;

namespace rows_property {

enum class gender { unknown, male, female };

struct plain {
    std::string key;
    std::string text;
    std::int32_t number{};
    std::int64_t large{};
    double fraction{};
    bool flag{};
    date_time when;
    guid id;
    binary bytes;
    gender sex{};
};
ENTITABLE(plain,
    partition_key(key),
    row_key(number),
    properties(text, large, fraction, flag, when, id, bytes, sex))

struct optional {
    std::string key;
    std::int32_t number{};
    std::optional<std::string> text;
    std::optional<std::int64_t> large;
    std::optional<double> fraction;
    std::optional<bool> flag;
    std::optional<date_time> when;
    std::optional<guid> id;
    std::optional<binary> bytes;
    std::optional<gender> sex;
};
ENTITABLE(optional,
    partition_key(key),
    row_key(number),
    properties(text, large, fraction, flag, when, id, bytes, sex))

} // namespace rows_property

namespace {

using rows_property::gender;
using rows_property::plain;

double any_double(draw& from) {
    std::uint64_t const bits = from.one_in(4) ? 0 : from.one_in(4) ? 0x7FF8'0000'0000'0001U : from.bits();
    double number{};
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

bool same_bits(double left, double right) { return std::memcmp(&left, &right, sizeof left) == 0; }
bool same_bits(std::optional<double> left, std::optional<double> right) {
    return left && right ? same_bits(*left, *right) : left.has_value() == right.has_value();
}

guid any_guid(draw& from) {
    guid id;
    for (auto& byte : id.bytes) { byte = static_cast<unsigned char>(from.below(256)); }
    return id;
}

binary any_binary(draw& from) {
    binary bytes(from.one_in(500) ? from.below(64 * 1024) : from.below(8));
    for (auto& byte : bytes) { byte = static_cast<std::byte>(from.below(256)); }
    return bytes;
}

plain any_plain(draw& from) {
    plain one;
    one.key = from.text();
    one.text = from.text();
    one.number = from.integer<std::int32_t>();
    one.large = from.integer<std::int64_t>();
    one.fraction = any_double(from);
    one.flag = from.one_in(2);
    one.when = date_time{from.integer<std::int64_t>()};
    one.id = any_guid(from);
    one.bytes = any_binary(from);
    one.sex = static_cast<gender>(from.integer<std::int32_t>());
    return one;
}

template <class Left, class Right>
void assert_equal(Left const& left, Right const& right) {
    RC_ASSERT(left.key == right.key);
    RC_ASSERT(left.number == right.number);
    RC_ASSERT(left.text == right.text);
    RC_ASSERT(left.large == right.large);
    RC_ASSERT(same_bits(left.fraction, right.fraction));
    RC_ASSERT(left.flag == right.flag);
    RC_ASSERT(left.when == right.when);
    RC_ASSERT(left.id == right.id);
    RC_ASSERT(left.bytes == right.bytes);
    RC_ASSERT(left.sex == right.sex);
}

} // namespace

TEST_CASE("an entity with properties of all types is read back with any values, even into a used object") {
    plain read;
    check_draws([&read](draw& from) {
        plain const given = any_plain(from);
        auto const stored = to_row(given);
        RC_ASSERT(stored.has_value());
        RC_ASSERT(check_payload(stored->payload()).has_value());
        RC_ASSERT(from_row(stored->view(), read).has_value());
        assert_equal(read, given);
    });
}

TEST_CASE("an entity with optional members is read back, whichever members are absent, even into a used object") {
    rows_property::optional read;
    check_draws([&read](draw& from) {
        plain const full = any_plain(from);
        std::uint64_t const lacking = from.bits();
        auto const maybe = [lacking, bit = 0]<class T>(T const& value) mutable {
            return (lacking >> static_cast<unsigned>(bit++)) & 1U ? std::optional<T>{} : std::optional<T>{value};
        };
        auto choose = maybe;
        rows_property::optional given;
        given.key = full.key;
        given.number = full.number;
        given.text = choose(full.text);
        given.large = choose(full.large);
        given.fraction = choose(full.fraction);
        given.flag = choose(full.flag);
        given.when = choose(full.when);
        given.id = choose(full.id);
        given.bytes = choose(full.bytes);
        given.sex = choose(full.sex);
        auto const stored = to_row(given);
        RC_ASSERT(stored.has_value());
        RC_ASSERT(check_payload(stored->payload()).has_value());
        RC_ASSERT(from_row(stored->view(), read).has_value());
        assert_equal(read, given);
    });
}

TEST_CASE("a row with its properties in a different order reads as the same entity") {
    check_draws([](draw& from) {
        plain const given = any_plain(from);
        row_builder builder{given.key, row_key_of(given).value()};
        std::size_t const first = from.below(8);
        for (std::size_t step = 0; step < 8; ++step) {
            switch ((first + step) % 8) {
                case 0: builder.add("text", std::string_view{given.text}); break;
                case 1: builder.add("large", given.large); break;
                case 2: builder.add("fraction", given.fraction); break;
                case 3: builder.add("flag", given.flag); break;
                case 4: builder.add("when", given.when); break;
                case 5: builder.add("id", property_type<guid>::view(given.id)); break;
                case 6: builder.add("bytes", property_type<binary>::view(given.bytes)); break;
                default: builder.add("sex", static_cast<std::int32_t>(given.sex)); break;
            }
            if (from.one_in(4)) { builder.add("extra" + std::to_string(step), from.bits() % 2 == 0); }
        }
        plain read;
        RC_ASSERT(from_row(builder.build().view(), read).has_value());
        assert_equal(read, given);
    });
}
