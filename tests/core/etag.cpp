// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/etag.hpp>

#include <support/catch.hpp>

#include <string>

using namespace entitable;

namespace {

date_time time_of(std::string_view text) { return date_time::parse(text).value(); }

} // namespace

TEST_CASE("an ETag is the Timestamp with escaped colons and no trailing zeros") {
    struct expectation {
        std::string timestamp;
        std::string text;
    };
    auto const one = GENERATE(values<expectation>({
        {"2024-02-29T23:59:58.7654321Z", "W/\"datetime'2024-02-29T23%3A59%3A58.7654321Z'\""},
        {"2019-03-05T17:45:01.2873100Z", "W/\"datetime'2019-03-05T17%3A45%3A01.28731Z'\""},
        {"2001-09-09T01:46:40Z", "W/\"datetime'2001-09-09T01%3A46%3A40Z'\""},
        {"1601-01-01T00:00:00Z", "W/\"datetime'1601-01-01T00%3A00%3A00Z'\""},
        {"9999-12-31T23:59:59.9999999Z", "W/\"datetime'9999-12-31T23%3A59%3A59.9999999Z'\""},
    }));
    auto const made = etag::of(time_of(one.timestamp));
    CHECK(made.to_string() == one.text);
    CHECK_FALSE(made.empty());
    etag const parsed{one.text};
    CHECK(parsed == made);
    CHECK(parsed.to_string() == one.text);
}

TEST_CASE("an ETag with any text is stored byte for byte") {
    auto const text = GENERATE(values<std::string>({
        "W/\"0x5B168C7B6E589D2\"",
        "\"strong\"",
        "junk",
        "*",
        "W/\"datetime'2001-09-09T01%3A46%3A40.5000000Z'\"", // zeros that the usual form drops
        "W/\"datetime'2001-09-09T01%3A46%3A40.0Z'\"",
        "W/\"datetime'2001-09-09T01%3a46%3a40Z'\"",
        "W/\"datetime'2001-09-09T01:46:40Z'\"",
        "W/\"datetime'2001-09-09T01%3A46:40Z'\"",
        "W/\"datetime'2001-09-09T01%3A46%3A40'\"",
        "W/\"datetime'2001-09-09T01%3A46%3A40Z'x",
        "W/\"datetime'2001-09-09T01%3A46%3A40Z'",
        "W/\"datetime'2001-02-30T01%3A46%3A40Z'\"",
        "W/\"datetime'1600-01-01T00%3A00%3A00Z'\"",
        "W/\"datetime''\"",
        "W/\"datetime'\"",
        "W/\"datetime'",
        "w/\"datetime'2001-09-09T01%3A46%3A40Z'\"",
        " W/\"datetime'2001-09-09T01%3A46%3A40Z'\"",
        "W/\"datetime'2001-09-09T01%3A46%3A40Z'\" ",
        "W/\"datetime'2001-09-09T01%3A46%3A40%",
        "line\r\nend",
        std::string(10'240, 'e'),
        std::string("\0\xFF", 2),
    }));
    etag const foreign{text};
    CHECK(foreign.to_string() == text);
    CHECK_FALSE(foreign.empty());
    CHECK(foreign == etag{text});
    CHECK_FALSE(foreign == etag::of(time_of("2001-09-09T01:46:40Z")));
    CHECK_FALSE(foreign == etag::of(time_of("2001-09-09T01:46:40.5Z")));
    CHECK_FALSE(foreign == etag{text + "x"});
}

TEST_CASE("an ETag with an epoch is stored byte for byte, and equals the one that is made from its parts") {
    auto const text = GENERATE(values<std::string>({"W/\"s12t08d0000000000000\"", "W/\"s0t0000000000000000\"",
        "W/\"s012t00000000000000ff\"", "W/\"st00000000000000ff\"", "W/\"s12t00000000000000FF\"",
        "W/\"s12tffffffffffffffff\"", "W/\"s1t8000000000000000\"", "W/\"s1!t8000000000000000\"",
        "W/\"s12345678901234567890t08d0000000000000\"", "W/\"s123456789012345678901t08d0000000000000\"",
        "W/\"s12t08d000000000000\"", "W/\"s1xt08d0000000000000\""}));
    etag const parsed{text};
    CHECK(parsed.to_string() == text);
    CHECK(parsed.is_valid());
    CHECK_FALSE(parsed.empty());
    CHECK_FALSE(parsed.is_of_timestamp());
    etag const copy = parsed;
    CHECK(copy == etag{text});
    CHECK((parsed == etag::of(date_time{255}, 12)) == (text == etag::of(date_time{255}, 12).to_string()));
    CHECK(etag::of(date_time{0x08d0'0000'0000'0000}, 12) == etag{"W/\"s12t08d0000000000000\""});
    CHECK_FALSE(etag::of(date_time{255}, 12) == etag::of(date_time{255}, 13));
    CHECK_FALSE(etag::of(date_time{255}, 12) == etag::of(date_time{255}));
    CHECK_FALSE(etag_condition{etag::of(date_time{255}, 12)}.accepts(date_time{255}));
}

TEST_CASE("ETags are equal if and only if their texts are equal") {
    std::string const texts[] = {"", "junk", "W/\"datetime'2001-09-09T01%3A46%3A40Z'\"",
        "W/\"datetime'2001-09-09T01%3A46%3A40.5Z'\"", "W/\"datetime'2001-09-09T01%3A46%3A40.50Z'\"",
        "W/\"datetime'1601-01-01T00%3A00%3A00Z'\""};
    for (auto const& left : texts) {
        for (auto const& right : texts) { CHECK((etag{left} == etag{right}) == (left == right)); }
    }
}

TEST_CASE("a default-constructed ETag is empty") {
    CHECK(etag{}.empty());
    CHECK(etag{""}.empty());
    CHECK(etag{} == etag{""});
    CHECK(etag{}.to_string().empty());
    CHECK_FALSE(etag::of(date_time{0}).empty());
}

TEST_CASE("an ETag is valid if a service could have issued it") {
    auto const good = GENERATE(values<std::string>({"\"\"", "W/\"\"", "\"strong\"", "W/\"0x5B168C7B6E589D2\"",
        "W/\"datetime'2001-09-09T01%3a46%3a40Z'\"", "\"!#~\"", '"' + std::string(1022, 'e') + '"'}));
    CHECK(etag{good}.is_valid());
    CHECK(etag::of(date_time{}).is_valid());
    auto const bad = GENERATE(values<std::string>({"", "*", "junk", "\"", "W/", "W/\"", "w/\"a\"", "\"a", "a\"",
        "\"a\"b", "\"a\"b\"", "\"a\", \"b\"", "\"a b\"", "\"a\r\nX: y\"", "\"a\"\r\n", "\"\x7F\"", "\"\xC3\xA9\"",
        std::string("\"\0\"", 3), " \"a\"", "\"a\" ", '"' + std::string(1023, 'e') + '"'}));
    CAPTURE(bad);
    CHECK_FALSE(etag{bad}.is_valid());
}

TEST_CASE("a condition accepts a Timestamp as it accepts its ETag") {
    date_time const stored{637'402'000'000'000'001};
    for (date_time const each : {stored, date_time{stored.ticks + 1}, date_time{0}, date_time{-1}}) {
        for (etag const& wanted : {etag::of(stored), etag{etag::of(stored).to_string()}, etag{}, etag{"\"x\""}}) {
            CAPTURE(each.ticks, wanted.to_string());
            CHECK(etag_condition{wanted}.accepts(each) == etag_condition{wanted}.accepts(etag::of(each)));
        }
        CHECK(etag_condition{any_etag}.accepts(each));
    }
    CHECK(etag_condition{etag::of(stored)}.accepts(stored));
}

TEST_CASE("a condition accepts either its own version or any version") {
    auto const one = etag::of(date_time{1});
    auto const two = etag::of(date_time{2});
    etag_condition const any = any_etag;
    CHECK(any.any());
    CHECK(any.accepts(one));
    CHECK(any.accepts(etag{}));
    etag_condition const exact = one;
    CHECK_FALSE(exact.any());
    CHECK(exact.version() == one);
    CHECK(exact.accepts(one));
    CHECK(exact.accepts(etag{one.to_string()}));
    CHECK_FALSE(exact.accepts(two));
    CHECK_FALSE(exact.accepts(etag{}));
    etag_condition const empty = etag{};
    CHECK_FALSE(empty.any());
    CHECK_FALSE(empty.accepts(one));
}
