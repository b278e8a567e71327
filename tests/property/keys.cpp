// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Keys: written values are read back, text order is value order if a codec claims it, and values that could not be read
// back are refused. 100,000 random values or tuples each.

#include <entitable/client/mapping/codec.hpp>
#include <entitable/client/mapping/key_pattern.hpp>
#include <entitable/core/text.hpp>

#include <support/draw.hpp>

#include <optional>
#include <string>
#include <tuple>

using namespace entitable;
using entitable_test::check_draws;
using entitable_test::draw;
using entitable_test::require;

namespace keys_property {

enum class small : std::uint8_t {};
enum class sixty_four_bits : std::int64_t {};

struct texts {
    std::string first;
    std::string second;
    std::string last;
};
ENTITABLE(texts,
    partition_key(first, second, last),
    row_key(literal("row")))

struct escaped_texts : texts {};
ENTITABLE(escaped_texts,
    partition_key(literal("all")),
    row_key(escaped(first), escaped(second), last))

struct mixed {
    std::string text;
    std::int64_t number{};
    std::optional<std::int32_t> maybe;
    std::int32_t newest{};
    std::string path;
    date_time when;
    guid id;
    std::int64_t lap{};
};
ENTITABLE(mixed,
    partition_key(salted(text, 16), number),
    row_key(literal("M:"), descending(newest), escaped(path), maybe, when, id, width(lap, 19)))

} // namespace keys_property

using namespace keys_property;

namespace {

int sign(int number) { return number < 0 ? -1 : number > 0 ? 1 : 0; }

/// The order of two values; an absent one is after all others.
template <class T>
int compared(T const& left, T const& right) {
    return left < right ? -1 : right < left ? 1 : 0;
}
int compared(std::string const& left, std::string const& right) { return sign(text::compare_utf16(left, right)); }
template <class T>
int compared(std::optional<T> const& left, std::optional<T> const& right) {
    return left && right ? compared(*left, *right) : static_cast<int>(!left) - static_cast<int>(!right);
}

int compared_keys(std::string const& left, std::string const& right) { return sign(text::compare_utf16(left, right)); }

template <class Codec>
std::string text_of(typename Codec::value_type const& value) {
    std::string text;
    require(Codec::append(text, value), "the value has a text");
    return text;
}

/// Whether a text has the characters that its codec's pattern promises.
template <class Codec>
bool has_pattern(std::string_view text) {
    constexpr detail::text_pattern known = detail::pattern_of_codec<Codec>::value;
    if (text.size() < known.places || (known.ends && text.size() != known.places)) { return false; }
    for (std::size_t place = 0; place < known.places; ++place) {
        if (!(place == 0 ? known.first : known.others).has(text[place])) { return false; }
    }
    return true;
}

/// The requirements of every codec: its text is read back, no two values have the same text, and the order is as
/// claimed.
template <class Codec, class Generate>
void check_codec(Generate const& generate) {
    check_draws([&](draw& from) {
        auto const left = generate(from);
        auto const right = generate(from);
        std::string const left_text = text_of<Codec>(left);
        std::string const right_text = text_of<Codec>(right);
        typename Codec::value_type read{};
        require(Codec::parse(left_text, read), "the text is read", left_text);
        require(has_pattern<Codec>(left_text), "the text has the pattern of the codec", left_text);
        require(compared(read, left) == 0, "the value comes back", left_text);
        require(
            (left_text == right_text) == (compared(left, right) == 0), "one text for one value", left_text, right_text);
        if (Codec::ordered) {
            int const texts = compared_keys(left_text, right_text);
            require((Codec::reversed ? -texts : texts) == compared(left, right), "the order is kept", left_text,
                right_text);
        }
    });
}

template <class T>
void check_integer() {
    auto const generate = [](draw& from) { return from.integer<T>(); };
    check_codec<key_codec<T>>(generate);
    check_codec<descending_codec<T>>(generate);
    check_codec<key_codec<std::optional<T>>>(
        [](draw& from) { return from.one_in(4) ? std::nullopt : std::optional{from.integer<T>()}; });
}

guid any_guid(draw& from) {
    guid id;
    for (auto& byte : id.bytes) { byte = static_cast<unsigned char>(from.one_in(2) ? 0 : from.below(256)); }
    return id;
}

date_time any_time(draw& from) { return date_time{from.integer<std::int64_t>()}; }

} // namespace

TEST_CASE("integers of every width keep their value and order as ascending, descending and optional keys") {
    check_integer<std::int8_t>();
    check_integer<std::uint8_t>();
    check_integer<std::int16_t>();
    check_integer<std::uint16_t>();
    check_integer<std::int32_t>();
    check_integer<std::uint32_t>();
    check_integer<std::int64_t>();
    check_integer<std::uint64_t>();
}

TEST_CASE("numbers that fit their width keep their value and their order, and other numbers are refused") {
    check_codec<width_codec<std::int32_t, 5>>(
        [](draw& from) { return static_cast<std::int32_t>(from.below(100'000)); });
    check_codec<width_codec<std::uint64_t, 20>>([](draw& from) { return from.integer<std::uint64_t>(); });
    check_draws([](draw& from) {
        auto const number = from.integer<std::int64_t>();
        std::string written;
        bool const has_text = width_codec<std::int64_t, 7>::append(written, number);
        RC_ASSERT(has_text == (number >= 0 && number <= 9'999'999));
    });
}

TEST_CASE("times, GUIDs and enumerations keep their value and their order") {
    check_codec<key_codec<date_time>>(any_time);
    check_codec<descending_codec<date_time>>(any_time);
    check_codec<key_codec<guid>>(any_guid);
    check_codec<key_codec<small>>([](draw& from) { return small{from.integer<std::uint8_t>()}; });
    check_codec<key_codec<sixty_four_bits>>([](draw& from) { return sixty_four_bits{from.integer<std::int64_t>()}; });
}

TEST_CASE("texts keep their value and their order, plain and escaped") {
    std::string before;
    auto const generate = [&before](draw& from) { return before = from.text_like(before); };
    check_codec<key_codec<std::string>>(generate);
    check_codec<escaped_codec<std::string>>(generate);
}

TEST_CASE("an escaped text contains no character that keys refuse") {
    check_draws([](draw& from) {
        std::string const escaped = text_of<escaped_codec<std::string>>(from.text());
        RC_ASSERT(escaped.find_first_of("/\\#?!") == std::string::npos);
        for (char16_t const unit : entitable_test::utf16(escaped)) {
            RC_ASSERT((unit > 0x1F && (unit < 0x7F || unit > 0x9F)));
        }
    });
}

TEST_CASE("a text that is not an escaped form is refused") {
    check_draws([](draw& from) {
        std::string const given = from.text();
        std::string read;
        RC_LOG() << text::printable(given) << '\n';
        RC_ASSERT(
            !escaped_codec<std::string>::parse(given, read) || text_of<escaped_codec<std::string>>(read) == given);
    });
}

TEST_CASE("a text that is not an integer is refused") {
    check_draws([](draw& from) {
        std::string given = from.one_in(2) ? "-" : "";
        for (std::size_t left = 9 + from.below(3); left > 0; --left) {
            given +=
                from.one_in(40) ? '/' : static_cast<char>('0' + (given.size() < 2 ? from.below(5) : from.below(10)));
        }
        RC_LOG() << given << '\n';
        std::int32_t read{};
        RC_ASSERT(!key_codec<std::int32_t>::parse(given, read) || text_of<key_codec<std::int32_t>>(read) == given);
        RC_ASSERT(!descending_codec<std::int32_t>::parse(given, read) ||
            text_of<descending_codec<std::int32_t>>(read) == given);
    });
}

TEST_CASE("a key of several text components is refused if and only if its joined text could not be split again") {
    check_draws([](draw& from) {
        texts const given{from.text(), from.text(), from.text()};
        std::string const joined = given.first + "__" + given.second + "__" + given.last;
        std::size_t const one = joined.find("__");
        std::size_t const two = joined.find("__", one + 2);
        bool const splits = joined.substr(0, one) == given.first && two != std::string::npos &&
            joined.substr(one + 2, two - one - 2) == given.second;
        RC_LOG() << text::printable(joined) << '\n';
        auto const key = partition_key_of(given);
        RC_ASSERT(key.has_value() == splits);
        if (key) {
            RC_ASSERT(*key == joined);
        } else {
            RC_ASSERT(key.error().code == error_code::key_not_splittable);
        }
    });
}

TEST_CASE("an entity with a key of texts is refused or read back") {
    check_draws([](draw& from) {
        texts const given{from.text(), from.text(), from.text()};
        auto const stored = to_row(given);
        if (stored) {
            texts read;
            RC_ASSERT(from_row(stored->view(), read).has_value());
            RC_ASSERT(std::tie(read.first, read.second, read.last) == std::tie(given.first, given.second, given.last));
        }
    });
}

TEST_CASE("escaped texts keep their order in any position, and plain texts only in the last position") {
    check_draws([](draw& from) {
        escaped_texts const left{{from.text(), from.text(), from.text()}};
        escaped_texts const right{{from.one_in(2) ? left.first : from.text_like(left.first),
            from.one_in(2) ? left.second : from.text_like(left.second), from.text_like(left.last)}};
        std::string const left_key = row_key_of(left).value();
        std::string const right_key = row_key_of(right).value();
        int expected = compared(left.first, right.first);
        expected = expected != 0 ? expected : compared(left.second, right.second);
        expected = expected != 0 ? expected : compared(left.last, right.last);
        require(compared_keys(left_key, right_key) == expected, "the order is kept", left_key, right_key);
    });
}

TEST_CASE("a key of every kind of component keeps its values and their order, reversed for descending components") {
    auto const any = [](draw& from) {
        mixed one;
        one.text = from.text();
        one.number = from.integer<std::int64_t>();
        one.lap = static_cast<std::int64_t>(from.integer<std::uint64_t>() / 2);
        one.maybe = from.one_in(4) ? std::nullopt : std::optional{from.integer<std::int32_t>()};
        one.newest = from.integer<std::int32_t>();
        one.path = from.text();
        one.when = any_time(from);
        one.id = any_guid(from);
        return one;
    };
    check_draws([&](draw& from) {
        mixed const left = any(from);
        mixed right = any(from);
        // If the first components are equal, the next ones decide.
        std::size_t const equal = from.below(7);
        right.newest = equal > 0 ? left.newest : right.newest;
        right.path = equal > 1 ? left.path : from.text_like(left.path);
        right.maybe = equal > 2 ? left.maybe : right.maybe;
        right.when = equal > 3 ? left.when : right.when;
        right.id = equal > 4 ? left.id : right.id;
        right.lap = equal > 5 ? left.lap : right.lap;
        auto const left_key = row_key_of(left).value();
        auto const right_key = row_key_of(right).value();
        int expected = -compared(left.newest, right.newest);
        expected = expected != 0 ? expected : compared(left.path, right.path);
        expected = expected != 0 ? expected : compared(left.maybe, right.maybe);
        expected = expected != 0 ? expected : compared(left.when, right.when);
        expected = expected != 0 ? expected : compared(left.id, right.id);
        expected = expected != 0 ? expected : compared(left.lap, right.lap);
        require(compared_keys(left_key, right_key) == expected, "the order is kept", left_key, right_key);

        auto const stored = to_row(left);
        RC_ASSERT(stored.has_value() == (left.text.find("__") == std::string::npos && !left.text.ends_with('_')));
        if (stored) {
            mixed read;
            RC_ASSERT(from_row(stored->view(), read).has_value());
            RC_ASSERT(
                std::tie(read.text, read.number, read.maybe, read.newest, read.path, read.when, read.id, read.lap) ==
                std::tie(left.text, left.number, left.maybe, left.newest, left.path, left.when, left.id, left.lap));
        }
    });
}

TEST_CASE("the same text is always in the same bucket, and all buckets are used") {
    std::size_t counts[16]{};
    check_draws([&](draw& from) {
        std::string const drawn = std::to_string(from.bits());
        std::string one;
        std::string two;
        append_bucket(one, drawn, 16);
        append_bucket(two, drawn, 16);
        RC_ASSERT(one == two);
        ++counts[std::stoul(one)];
    });
    for (std::size_t const count : counts) {
        CHECK(count > entitable_test::rounds(280, 5'000, 5'000)); // of 6,000 or 100,000 in 16 buckets
    }
}
