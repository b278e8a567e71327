// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/mapping/key_layout.hpp>

#include <support/catch.hpp>

#include <string>
#include <vector>

using namespace entitable;
using entitable_test::ContainsSubstring;
using kind = key_component::kind;

namespace {

constexpr key_component member(std::string_view name) { return {name, kind::member, false, false, 0}; }
constexpr key_component escaped_member(std::string_view name) { return {name, kind::member, false, true, 0}; }
constexpr key_component literal_text(std::string_view text) { return {text, kind::literal, false, false, 0}; }
constexpr key_component bucket(std::string_view name, std::uint16_t count) {
    return {name, kind::bucket, false, false, count};
}

/// The key of texts; "<none>" is a value without a text.
result<std::string> key_of(key_layout layout, std::vector<std::string> const& texts) {
    std::vector<key_source> sources;
    for (std::string const& text : texts) {
        sources.push_back({&text, [](std::string& out, void const* from) {
                               auto const& given = *static_cast<std::string const*>(from);
                               out += given == "<none>" ? "" : given;
                               return given != "<none>";
                           }});
    }
    sources.push_back({});
    return write_key(layout, sources.data());
}

/// The texts of the members of a key; nullopt if it does not match this layout.
std::optional<std::vector<std::string>> texts_of(key_layout layout, std::string_view key, std::size_t members) {
    std::vector<std::string> texts(members);
    std::vector<key_target> targets;
    for (std::string& text : texts) {
        targets.push_back({&text, [](std::string_view from, void* to) {
                               *static_cast<std::string*>(to) = from;
                               return from != "<refused>";
                           }});
    }
    targets.push_back({});
    return read_key(key, layout, targets.data()) ? std::optional{texts} : std::nullopt;
}

std::string bucket_of(std::string_view text, std::size_t buckets) {
    std::string out = "before|";
    append_bucket(out, text, buckets);
    return out.substr(7);
}

} // namespace

TEST_CASE("components are joined by two underscores and split again") {
    key_component const layout[] = {member("event"), member("distance"), member("bib")};
    CHECK(key_of(layout, {"New York", "Full", "0000001234"}).value() == "New York__Full__0000001234");
    CHECK(texts_of(layout, "New York__Full__0000001234", 3) ==
        std::vector<std::string>{"New York", "Full", "0000001234"});
    CHECK(key_of(layout, {"", "", ""}).value() == "____");
    CHECK(texts_of(layout, "____", 3) == std::vector<std::string>{"", "", ""});
}

TEST_CASE("a single component is the whole key, including any separators") {
    key_component const layout[] = {member("name")};
    for (char const* const text : {"", "_", "__", "a__b", "a_", "~"}) {
        CAPTURE(text);
        CHECK(key_of(layout, {text}).value() == text);
        CHECK(texts_of(layout, text, 1) == std::vector<std::string>{text});
    }
}

TEST_CASE("the last component may contain any text") {
    key_component const layout[] = {member("event"), member("name")};
    CHECK(key_of(layout, {"a", "__b__c_"}).value() == "a____b__c_");
    CHECK(texts_of(layout, "a____b__c_", 2) == std::vector<std::string>{"a", "__b__c_"});
}

TEST_CASE("a component before the last that contains the separator or ends with part of it is refused by name") {
    key_component const layout[] = {member("event"), member("distance"), member("name")};
    for (char const* const text : {"a__b", "__", "a_", "_", "__a", "a___b"}) {
        CAPTURE(text);
        auto const refused = key_of(layout, {"New York", text, "John"});
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == error_code::key_not_splittable);
        CHECK_THAT(refused.error().message, ContainsSubstring("\"distance\""));
        CHECK_THAT(refused.error().message, ContainsSubstring("\"__\""));
    }
    CHECK(key_of(layout, {"New_York", "_a", "John"})); // one underscore, and one in front
}

TEST_CASE("a value without a text is refused by name") {
    key_component const layout[] = {member("event"), member("bib")};
    auto const refused = key_of(layout, {"New York", "<none>"});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::out_of_range_input);
    CHECK_THAT(refused.error().message, ContainsSubstring("\"bib\""));
}

TEST_CASE("the error of a refused text is readable") {
    key_component const layout[] = {member("event"), member("bib")};
    auto const refused = key_of(layout, {"bell\x07__" + std::string(500, 'x'), "1"});
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().detail, ContainsSubstring("bell\\x07__"));
    CHECK(refused.error().detail.size() < 100);
}

TEST_CASE("an escaped component ends with an exclamation mark, which its text never contains") {
    key_component const layout[] = {escaped_member("path"), member("bib")};
    CHECK(key_of(layout, {"a__b_", "1"}).value() == "a__b_!1");
    CHECK(texts_of(layout, "a__b_!1", 2) == std::vector<std::string>{"a__b_", "1"});
    CHECK_FALSE(key_of(layout, {"a!b", "1"})); // not an escaped text: never produced by escaped_codec
    CHECK_FALSE(texts_of(layout, "a__b", 2));
}

TEST_CASE("a literal is written at its place, with no separator after it") {
    key_component const layout[] = {
        literal_text("BIB:"), member("bib"), member("name"), literal_text("end__"), member("age")};
    CHECK(key_of(layout, {"01234", "John", "55"}).value() == "BIB:01234__John__end__55");
    CHECK(texts_of(layout, "BIB:01234__John__end__55", 3) == std::vector<std::string>{"01234", "John", "55"});
    CHECK_FALSE(texts_of(layout, "AGE:01234__John__end__55", 3));
    CHECK_FALSE(texts_of(layout, "BIB:01234__John__fin__55", 3));
    CHECK_FALSE(texts_of(layout, "BIB", 3));
    CHECK_FALSE(texts_of(layout, "", 3));
}

TEST_CASE("a key can consist only of literals") {
    key_component const layout[] = {literal_text("all"), literal_text("-of-them")};
    CHECK(key_of(layout, {}).value() == "all-of-them");
    CHECK(texts_of(layout, "all-of-them", 0));
    CHECK_FALSE(texts_of(layout, "all-of-them-", 0));
    CHECK_FALSE(texts_of(layout, "all-of", 0));
}

TEST_CASE("a literal after the last member ends the key") {
    key_component const layout[] = {member("name"), literal_text("end")};
    CHECK(key_of(layout, {"John"}).value() == "John__end");
    CHECK(texts_of(layout, "John__end", 1) == std::vector<std::string>{"John"});
    CHECK_FALSE(texts_of(layout, "John__ende", 1));
    CHECK_FALSE(key_of(layout, {"John_"})); // the literal comes after the separator
}

TEST_CASE("a key with too few separators, or with a component that does not parse, does not match the layout") {
    key_component const layout[] = {member("event"), member("distance")};
    CHECK_FALSE(texts_of(layout, "New York", 2));
    CHECK_FALSE(texts_of(layout, "New York_Full", 2));
    CHECK_FALSE(texts_of(layout, "", 2));
    CHECK_FALSE(texts_of(layout, "New York__<refused>", 2));
    CHECK_FALSE(texts_of(layout, "<refused>__Full", 2));
}

TEST_CASE("split_key() returns a text for every component, including literals and buckets") {
    key_component const layout[] = {
        literal_text("L:"), bucket("day", 16), member("day"), escaped_member("a"), member("b")};
    key_texts texts;
    REQUIRE(split_key("L:07__2026-11-20__x!y__z", layout, texts));
    CHECK(texts[0] == "L:");
    CHECK(texts[1] == "07");
    CHECK(texts[2] == "2026-11-20");
    CHECK(texts[3] == "x");
    CHECK(texts[4] == "y__z");
}

TEST_CASE("a key can have sixteen components") {
    std::vector<key_component> layout(max_key_components, member("m"));
    std::vector<std::string> texts;
    for (std::size_t index = 0; index < max_key_components; ++index) { texts.push_back(std::to_string(index)); }
    auto const key = key_of(layout, texts);
    REQUIRE(key);
    CHECK(*key == "0__1__2__3__4__5__6__7__8__9__10__11__12__13__14__15");
    CHECK(texts_of(layout, *key, texts.size()) == texts);
}

TEST_CASE("position_in() finds the nth member among literals and buckets") {
    constexpr key_component layout[] = {
        literal_text("L:"), member("a"), bucket("b", 4), member("b"), literal_text("x"), member("c")};
    STATIC_REQUIRE(position_in(layout, 0) == 1);
    STATIC_REQUIRE(position_in(layout, 1) == 3);
    STATIC_REQUIRE(position_in(layout, 2) == 5);
    STATIC_REQUIRE(position_in(layout, 3) == 6);
}

TEST_CASE("a bucket is the 32-bit FNV-1a hash of the component's text, modulo the number of buckets") {
    // FNV-1a 32 of "" is 811c9dc5, of "a" e40c292c, of "foobar" bf9cf968 (draft-eastlake-fnv, appendix).
    CHECK(bucket_of("", 1000) == "261");
    CHECK(bucket_of("a", 1000) == "220");
    CHECK(bucket_of("foobar", 1000) == "720");
    CHECK(bucket_of("foobar", 16) == "08");
    CHECK(bucket_of("a", 10) == "0");
    CHECK(bucket_of("a", 11) == "07");
    CHECK(bucket_of("2026-11-20", 16) == "13");
    CHECK(bucket_of("\xC3\xA9", 100) == "17");
}

TEST_CASE("the number of a bucket has as many digits as the largest number") {
    for (auto const& [number, buckets, text] : {std::tuple{0, 2, "0"}, {1, 2, "1"}, {9, 10, "9"}, {9, 11, "09"},
             {99, 100, "99"}, {7, 101, "007"}, {999, 1000, "999"}}) {
        std::string out;
        append_bucket_number(out, static_cast<std::size_t>(number), static_cast<std::size_t>(buckets));
        CHECK(out == text);
    }
}

TEST_CASE("a salted component follows its bucket") {
    key_component const layout[] = {bucket("day", 16), member("day"), member("name")};
    CHECK(key_of(layout, {"foobar", "John"}).value() == "08__foobar__John");
    CHECK(texts_of(layout, "08__foobar__John", 2) == std::vector<std::string>{"foobar", "John"});
    CHECK_FALSE(key_of(layout, {"a__b", "John"}));
    CHECK(key_of(layout, {"<none>", "John"}).error().code == error_code::out_of_range_input);
}

TEST_CASE("a key whose bucket does not belong to its component does not match the layout") {
    key_component const layout[] = {bucket("day", 16), member("day")};
    CHECK_FALSE(texts_of(layout, "07__foobar", 1));
    CHECK_FALSE(texts_of(layout, "8__foobar", 1));
    CHECK_FALSE(texts_of(layout, "__foobar", 1));
    CHECK_FALSE(texts_of(layout, "foobar", 1));
}

TEST_CASE("a foreign key is reported with the entity, the kind of key and its text") {
    auto refused = key_mismatch("registration", key_part::row, "fore\x01ign");
    CHECK(refused.error().code == error_code::row_mismatch);
    CHECK_THAT(refused.error().message, ContainsSubstring("RowKey") && ContainsSubstring("registration"));
    CHECK_THAT(refused.error().detail, ContainsSubstring("fore\\x01ign"));
    auto other = key_mismatch("registration", key_part::partition, "");
    CHECK_THAT(other.error().message, ContainsSubstring("PartitionKey"));
}
