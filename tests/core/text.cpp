// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/text.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/utf8.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

using namespace entitable;
using entitable_test::utf16;
using entitable_test::utf8;

namespace {

bool is_surrogate(char32_t point) { return point >= 0xD800 && point <= 0xDFFF; }

/// Around every code point where an encoding changes its size or its order.
std::vector<char32_t> const edges = {0, 1, 0x1F, 0x20, 'a', 'b', 0x7E, 0x7F, 0x80, 0x9F, 0xA0, 0x7FF, 0x800, 0xFFF,
    0x1000, 0xD7FE, 0xD7FF, 0xE000, 0xE001, 0xF8FF, 0xFF5E, 0xFFFE, 0xFFFF, 0x10000, 0x10001, 0x1F600, 0xFFFFF,
    0x100000, 0x10FFFE, 0x10FFFF};

} // namespace

TEST_CASE("every code point except surrogates is valid UTF-8 of one or two UTF-16 units") {
    for (char32_t point = 0; point <= 0x10FFFF; ++point) {
        auto const bytes = utf8(point);
        auto const units = text::utf16_length(bytes);
        if (is_surrogate(point) ? units.has_value() : units != std::size_t{point < 0x10000 ? 1U : 2U}) {
            CAPTURE(static_cast<std::uint32_t>(point));
            FAIL("wrong number of units");
        }
    }
}

TEST_CASE("overlong forms, code points beyond the last and stray bytes are not valid UTF-8") {
    auto const broken = GENERATE(values<std::string>({
        utf8(0, 2),
        utf8('/', 2),
        utf8(0x7F, 2),
        utf8(0, 3),
        utf8('/', 3),
        utf8(0x7FF, 3),
        utf8(0, 4),
        utf8('/', 4),
        utf8(0xFFFF, 4),
        utf8(0x110000, 4),
        utf8(0x1FFFFF, 4),
        "\x80",
        "\xBF",
        "\xC0",
        "\xC1",
        "\xF5\x80\x80\x80",
        "\xF8\x88\x80\x80\x80",
        "\xFE",
        "\xFF",
        "\xC3",
        "\xE2\x82",
        "\xF0\x9F\x98",
        "\xC3(",
        "\xE2(\xA1",
        "\xE2\x82(",
        "\xF0(\x8C\xBC",
        "\xF0\x9F\x98(",
        "\xED\xA0\x80",
        "\xED\xBF\xBF",
        "\xED\xA0\xBD\xED\xB8\x80",
    }));
    CAPTURE(text::printable(broken));
    CHECK_FALSE(text::utf16_length(broken));
    CHECK_FALSE(text::utf16_length("before" + broken));
    CHECK_FALSE(text::utf16_length(broken + "after"));
    CHECK(text::valid_utf8_prefix("caf\xC3\xA9" + broken) == 5);
}

TEST_CASE("the first byte that is not ASCII is found anywhere in a long text") {
    for (std::size_t const size : {31U, 32U, 33U, 71U, 300U}) {
        std::string bytes(size, 'b');
        CHECK(text::ascii_prefix(bytes) == size);
        for (std::size_t at = 0; at < size; ++at) {
            bytes[at] = '\xFF';
            CHECK(text::ascii_prefix(bytes) == at);
            CHECK(text::valid_utf8_prefix(bytes) == at);
            bytes[at] = '\x7F';
        }
    }
}

TEST_CASE("the length of a text is the sum of the lengths of its characters") {
    CHECK(text::utf16_length("") == std::size_t{0});
    CHECK(text::utf16_length("John") == std::size_t{4});
    std::string all;
    std::size_t units = 0;
    for (char32_t const point : edges) {
        all += utf8(point);
        units += point < 0x10000 ? 1U : 2U;
        CHECK(text::utf16_length(all) == units);
        CHECK(text::valid_utf8_prefix(all) == all.size());
    }
    CHECK(units == utf16(all).size());
}

TEST_CASE("checking eight bytes at once checks exactly the bytes of the text") {
    for (std::size_t size = 0; size <= 25; ++size) {
        for (std::size_t at = 0; at <= size; ++at) {
            std::string bytes = "|" + std::string(size, 'b') + "|";
            (at < size ? bytes[1 + at] : bytes[0]) = 'X'; // the last time outside the text
            bool const found = !text::all_eights(std::string_view{bytes}.substr(1, size), [](std::uint64_t eight) {
                bool without = true;
                for (; eight != 0; eight >>= 8U) {
                    CHECK((eight & 0xFFU) != '|');
                    without = without && (eight & 0xFFU) != 'X';
                }
                return without;
            });
            CAPTURE(size, at);
            CHECK(found == (at < size));
        }
    }
}

TEST_CASE("texts are compared by their UTF-16 code units") {
    std::vector<std::string> texts = {""};
    for (char32_t const first : edges) {
        texts.push_back(utf8(first));
        texts.push_back("ab" + utf8(first));
        for (char32_t const second : {char32_t{0}, char32_t{'a'}, char32_t{0xE000}, char32_t{0x1F600}}) {
            texts.push_back(utf8(first) + utf8(second));
        }
    }
    std::size_t wrong = 0;
    for (auto const& left : texts) {
        for (auto const& right : texts) {
            int const order = utf16(left).compare(utf16(right));
            int const ours = text::compare_utf16(left, right);
            wrong += (order < 0) != (ours < 0) || (order > 0) != (ours > 0) ? 1U : 0U;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("a supplementary character sorts before the full-width forms") {
    CHECK(text::compare_utf16(utf8(0x1F600), utf8(0xFF5E)) < 0);
    CHECK(text::compare_utf16(utf8(0xFF5E), utf8(0x1F600)) > 0);
    CHECK(text::compare_utf16(utf8(0xD7FF), utf8(0x10FFFF)) < 0);
    CHECK(text::compare_utf16(utf8(0x10FFFF), utf8(0xE000)) < 0);
    CHECK(text::compare_utf16("Zeta", "alpha") < 0);
    CHECK(text::compare_utf16("10", "2") < 0);
    CHECK(text::compare_utf16("a", "ab") < 0);
    CHECK(text::compare_utf16("a", std::string_view{"a\0", 2}) < 0);
    CHECK(text::compare_utf16("", "") == 0);
}

TEST_CASE("the successor of a prefix ends with the next code point in UTF-16 order") {
    std::vector<char32_t> points;
    for (char32_t point = 0; point <= 0x10FFFF; ++point) {
        if (!is_surrogate(point)) { points.push_back(point); }
    }
    // D7FF is followed by the supplementary planes, and those by E000.
    std::stable_partition(
        points.begin(), points.end(), [](char32_t point) { return point < 0xD800 || point > 0xFFFF; });
    std::size_t wrong = 0;
    for (std::size_t index = 0; index + 1 < points.size(); index += entitable_test::rounds(7, 1)) {
        wrong += text::successor_of_prefix("x" + utf8(points[index])) != "x" + utf8(points[index + 1]) ? 1U : 0U;
    }
    CHECK(wrong == 0);
}

TEST_CASE("the successor of a prefix skips the surrogates and carries over the last code point") {
    CHECK(text::successor_of_prefix("a") == "b");
    CHECK(text::successor_of_prefix("ab") == "ac");
    CHECK(text::successor_of_prefix(utf8(0xD7FF)) == utf8(0x10000));
    CHECK(text::successor_of_prefix(utf8(0x10FFFF)) == utf8(0xE000));
    CHECK(text::successor_of_prefix("a" + utf8(0xFFFF)) == "b");
    CHECK(text::successor_of_prefix("a" + utf8(0xFFFF) + utf8(0xFFFF)) == "b");
    CHECK(text::successor_of_prefix(utf8(0x10FFFF) + utf8(0xFFFF)) == utf8(0xE000));
    CHECK_FALSE(text::successor_of_prefix(""));
    CHECK_FALSE(text::successor_of_prefix(utf8(0xFFFF)));
    CHECK_FALSE(text::successor_of_prefix(utf8(0xFFFF) + utf8(0xFFFF)));
}

TEST_CASE("only ASCII letters are converted to lower case") {
    CHECK(text::ascii_lower("Orders2026") == "orders2026");
    CHECK(text::ascii_lower("@[`{") == "@[`{");
    CHECK(text::ascii_lower(utf8(0xC9) + utf8(0x130)) == utf8(0xC9) + utf8(0x130));
    CHECK(text::ascii_lower("").empty());
}

TEST_CASE("shortening never splits a character") {
    std::string const sample = "a" + utf8(0xE9) + utf8(0x65E5) + utf8(0x1F600) + "z";
    for (std::size_t limit = 0; limit <= sample.size() + 1; ++limit) {
        CAPTURE(limit);
        auto const cut = text::shortened(sample, limit);
        if (limit >= sample.size()) {
            CHECK(cut == sample);
            continue;
        }
        REQUIRE(cut.size() <= limit + 3);
        REQUIRE(cut.substr(cut.size() - 3) == "...");
        auto const kept = cut.substr(0, cut.size() - 3);
        CHECK(sample.compare(0, kept.size(), kept) == 0);
        CHECK(text::utf16_length(kept).has_value());
        CHECK(limit - kept.size() < 4);
    }
    CHECK(text::shortened(std::string(64, 'x')) == std::string(64, 'x'));
    CHECK(text::shortened(std::string(65, 'x')) == std::string(64, 'x') + "...");
    CHECK(text::shortened(std::string(9, '\x80'), 5) == "...");
}

TEST_CASE("decimal numbers are padded to a width and never truncated") {
    auto const decimal = [](std::uint64_t value, std::size_t width) {
        std::string out = "=";
        text::append_decimal(out, value, width);
        return out;
    };
    CHECK(decimal(0, 0) == "=0");
    CHECK(decimal(0, 1) == "=0");
    CHECK(decimal(7, 3) == "=007");
    CHECK(decimal(1234, 10) == "=0000001234");
    CHECK(decimal(1234, 3) == "=1234");
    CHECK(decimal(std::numeric_limits<std::uint64_t>::max(), 20) == "=18446744073709551615");
    CHECK(decimal(std::numeric_limits<std::uint64_t>::max(), 22) == "=0018446744073709551615");
}

TEST_CASE("printable text shows control characters and invalid bytes in hexadecimal") {
    CHECK(text::printable("O'Hara \"x\"") == "O'Hara \"x\"");
    CHECK(text::printable("a\r\n\tb") == "a\\x0d\\x0a\\x09b");
    CHECK(text::printable(std::string_view{"\0", 1}) == "\\x00");
    CHECK(text::printable("\x7F") == "\\x7f");
    CHECK(text::printable(utf8(0x85)) == "\\xc2\\x85");
    CHECK(text::printable(utf8(0xA0)) == utf8(0xA0));
    CHECK(text::printable(utf8(0x1F600)) == utf8(0x1F600));
    CHECK(text::printable("\xC0\xAF") == "\\xc0\\xaf");
    CHECK(text::printable("a\xE2\x82") == "a\\xe2\\x82");
    CHECK(text::printable("").empty());
}

TEST_CASE("take_part removes a part and its separator") {
    std::string_view rest = "a;;b";
    CHECK(text::take_part(rest, ';') == "a");
    CHECK(text::take_part(rest, ';').empty());
    CHECK(rest == "b");
    CHECK(text::take_part(rest, ';') == "b");
    CHECK(rest.empty());
    CHECK(text::take_part(rest, ';').empty());
    rest = "a;";
    CHECK(text::take_part(rest, ';') == "a");
    CHECK(rest.empty());
}

TEST_CASE("every byte is tested, eight at once, and equal texts have equal bytes at every place") {
    for (std::size_t size = 1; size < 30; ++size) {
        std::string const good(size, 'g');
        auto const is_ascii = [](std::uint64_t eight) { return (eight & 0x8080808080808080U) == 0; };
        CHECK(text::all_eights(good, is_ascii));
        CHECK(text::are_equal(good, std::string(size, 'g')));
        CHECK_FALSE(text::are_equal(good, std::string(size + 1, 'g')));
        for (std::size_t at = 0; at < size; ++at) {
            std::string bad = good;
            bad[at] = static_cast<char>(0xC3);
            INFO(size << " bytes, the one at " << at);
            CHECK_FALSE(text::all_eights(bad, is_ascii));
            CHECK(text::valid_utf8_prefix(bad) == at);
            CHECK_FALSE(text::are_equal(good, bad));
        }
    }
    CHECK(text::are_equal("", ""));
}
