// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/row/row.hpp>

#include <support/catch.hpp>
#include <support/utf8.hpp>

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace entitable;
using entitable_test::utf8;

namespace {

constexpr std::string_view guid_bytes{"\xA0\xA1\xA2\xA3\xA4\xA5\xA6\xA7\xA8\xA9\xAA\xAB\xAC\xAD\xAE\xAF", 16};

struct named_value {
    std::string name;
    value content;
    friend bool operator==(named_value const&, named_value const&) = default;
};

/// The present properties of a payload, in their order.
std::vector<named_value> properties_of(std::string_view payload) {
    std::vector<named_value> all;
    property_cursor cursor{payload};
    property_view property;
    while (cursor.next(property)) {
        if (property.present) { all.push_back({std::string{property.name}, property.value}); }
    }
    CHECK_FALSE(cursor.damaged());
    return all;
}

row runner() {
    row_builder builder{"2011 New York City Marathon__Full", "0000001234"};
    builder.add("name", "John");
    builder.add("age", std::int32_t{55});
    builder.add("pace", edm_type::float64, value_view{4.25});
    builder.add("club", edm_type::string, std::nullopt);
    builder.add("id", value_view{edm_type::guid, guid_bytes});
    builder.add("finished", true);
    builder.add("photo", value_view{edm_type::binary, std::string_view{"\0\xFF", 2}});
    return builder.build();
}

} // namespace

TEST_CASE("every type is read back from a row at its extremes") {
    using i32 = std::numeric_limits<std::int32_t>;
    using i64 = std::numeric_limits<std::int64_t>;
    using f64 = std::numeric_limits<double>;
    std::string const longest(64 * 1024, 'x');
    std::string const zeros(3, '\0');
    std::vector<value_view> const values = {"", std::string_view{longest}, std::string_view{zeros}, std::int32_t{0},
        i32::min(), i32::max(), std::int64_t{0}, i64::min(), i64::max(), 0.0, -0.0, f64::lowest(), f64::max(),
        f64::denorm_min(), f64::infinity(), -f64::infinity(), f64::quiet_NaN(), true, false, date_time{},
        date_time{date_time::max_ticks}, date_time{-1}, {edm_type::guid, guid_bytes},
        {edm_type::guid, std::string_view{longest}.substr(0, 16)}, {edm_type::binary, std::string_view{}},
        {edm_type::binary, std::string_view{longest}}, {edm_type::binary, std::string_view{zeros}}};
    row_builder plain{"p", "r"};
    row_builder nullable{"p", "r"};
    for (std::size_t index = 0; index < values.size(); ++index) {
        plain.add("n" + std::to_string(index), values[index]);
        nullable.add("n" + std::to_string(index), values[index].type(), values[index]);
    }
    for (row const& built : {plain.build(), nullable.build()}) {
        REQUIRE(check_payload(built.payload()));
        auto const found = properties_of(built.payload());
        REQUIRE(found.size() == values.size());
        for (std::size_t index = 0; index < values.size(); ++index) {
            auto const name = "n" + std::to_string(index);
            CAPTURE(name);
            CHECK(found[index] == named_value{name, values[index]});
            CHECK(built.view().find(name) == values[index]);
        }
    }
}

TEST_CASE("an absent value keeps its place in the row and is not found") {
    auto const built = runner();
    CHECK(built.partition_key() == "2011 New York City Marathon__Full");
    CHECK(built.row_key() == "0000001234");
    CHECK(properties_of(built.payload()).size() == 6);
    CHECK_FALSE(built.view().find("club"));
    property_cursor cursor{built.payload()};
    property_view property;
    for (int skipped = 0; skipped < 4; ++skipped) { REQUIRE(cursor.next(property)); }
    CHECK(property.name == "club");
    CHECK(property.type == edm_type::string);
    CHECK_FALSE(property.present);
}

TEST_CASE("a property is found by its exact name") {
    auto const built = runner();
    CHECK(built.view().find("age")->as_int32() == 55);
    CHECK_FALSE(built.view().find("Age"));
    CHECK_FALSE(built.view().find("ag"));
    CHECK_FALSE(built.view().find("ages"));
    CHECK_FALSE(built.view().find(""));
    CHECK_FALSE(row_view{}.find("age"));
}

TEST_CASE("a row without properties, keys or bytes is valid") {
    auto const bare = row_builder{"", ""}.build();
    CHECK(bare.partition_key().empty());
    CHECK(bare.row_key().empty());
    CHECK(bare.payload().size() == row_format::header_size);
    CHECK(check_payload(bare.payload()));
    CHECK(properties_of(bare.payload()).empty());

    row const none;
    CHECK(none.partition_key().empty());
    CHECK(none.payload().empty());
    CHECK(none.view().timestamp() == date_time{});
    CHECK(check_payload(none.payload()).error().code == error_code::row_malformed);
}

TEST_CASE("a row owns its bytes, and copies of it are independent") {
    std::string payload;
    row copy;
    {
        auto const built = runner();
        copy = row{built.view()};
        CHECK(copy.payload().data() != built.payload().data());
        payload = built.payload();
    }
    CHECK(copy.partition_key() == "2011 New York City Marathon__Full");
    CHECK(copy.payload() == payload);
    row const taken{"partitionrow" + payload, 9, 3};
    CHECK(taken.partition_key() == "partition");
    CHECK(taken.row_key() == "row");
    CHECK(taken.payload() == payload);
}

TEST_CASE("the Timestamp is read where it was written, and the ETag is derived from it") {
    auto const built = runner();
    CHECK(built.view().timestamp() == date_time{});
    std::string payload{built.payload()};
    set_timestamp(payload, date_time{date_time::max_ticks});
    row_view const view{"p", "r", payload};
    CHECK(view.timestamp() == date_time{date_time::max_ticks});
    CHECK(view.etag() == etag::of(date_time{date_time::max_ticks}));
    CHECK(view.find("age")->as_int32() == 55);
    set_timestamp(payload, date_time{});
    CHECK(payload == built.payload());
}

TEST_CASE("the stored form of version 1 has its documented bytes") {
    row_builder builder{"p", "r"};
    builder.add("ab", std::int32_t{0x01020304});
    builder.add("c", edm_type::string, value_view{"xyz"});
    builder.add("d", edm_type::boolean, std::nullopt);
    std::string payload{builder.build().payload()};
    set_timestamp(payload, date_time{0x1112131415161718});
    std::string const expected{"\x01\x00\x03\x00\x0d\x00\x00\x00\x18\x17\x16\x15\x14\x13\x12\x11" // header
                               "\x02\x02\x00"
                               "ab"
                               "\x81\x01\x00"
                               "c"
                               "\x85\x01\x00"
                               "d"
                               "\x04\x03\x02\x01"
                               "\x01\x03\x00\x00\x00"
                               "xyz"
                               "\x00",
        16 + 13 + 4 + 8 + 1};
    CHECK(payload == expected);
}

namespace {

/// Walks a payload in memory of exactly its size, so that the address sanitizer sees every byte past its end. Returns
/// whether it was accepted as complete.
bool walk(std::string_view bytes) {
    auto const exact = std::make_unique<char[]>(bytes.size());
    if (!bytes.empty()) { std::memcpy(exact.get(), bytes.data(), bytes.size()); }
    std::string_view const payload{exact.get(), bytes.size()};
    property_cursor cursor{payload};
    property_view property;
    std::size_t steps = 0;
    std::size_t sum = 0;
    while (cursor.next(property)) {
        REQUIRE(++steps <= payload.size());
        for (char const character : property.name) { sum += static_cast<unsigned char>(character); }
        if (property.present) {
            for (char const character : property.value.bytes()) { sum += static_cast<unsigned char>(character); }
        }
    }
    bool const whole = !cursor.damaged();
    for (int again = 0; again < 3; ++again) { // an end is final
        REQUIRE_FALSE(cursor.next(property));
        REQUIRE(cursor.damaged() != whole);
    }
    row_view const view{"p", "r", payload};
    sum += view.find("name").has_value() ? 1U : 0U;
    sum += view.find("no such name").has_value() ? 1U : 0U;
    sum += service_size(view);
    sum += static_cast<std::size_t>(view.timestamp().ticks & 1);
    auto const other = runner();
    sum += merged_payload(payload, other.payload()).size();
    sum += merged_payload(other.payload(), payload).size();
    REQUIRE(check_payload(payload).has_value() == whole);
    return sum > 0 && whole;
}

} // namespace

TEST_CASE("a payload truncated anywhere is damaged, and nothing is read past its end") {
    std::string const payload{runner().payload()};
    REQUIRE(walk(payload));
    for (std::size_t size = 0; size < payload.size(); ++size) {
        CAPTURE(size);
        CHECK_FALSE(walk(std::string_view{payload}.substr(0, size)));
    }
    CHECK_FALSE(walk(payload + '\0'));
    CHECK_FALSE(walk(payload + payload));
}

TEST_CASE("whichever byte of a payload is changed, a walk over it ends and stays inside the payload") {
    std::string const payload{runner().payload()};
    for (std::size_t at = 0; at < payload.size(); ++at) {
        for (unsigned const change : {0x01U, 0x02U, 0x08U, 0x40U, 0x80U, 0xFFU}) {
            auto spoilt = payload;
            spoilt[at] = static_cast<char>(static_cast<unsigned char>(spoilt[at]) ^ change);
            bool const whole = walk(spoilt);
            if (at == 0 || (at >= 2 && at < 8)) {
                CAPTURE(at, change);
                CHECK_FALSE(whole); // the version, the number of properties, the size of the descriptor
            }
        }
    }
}

TEST_CASE("a damaged payload is reported with RowMalformed") {
    auto const checked = check_payload("not a row");
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == error_code::row_malformed);
    std::string newer{runner().payload()};
    newer[0] = 2;
    CHECK(check_payload(newer).error().code == error_code::row_malformed);
}

TEST_CASE("a walk stops at damaged bytes") {
    // An int32 with only two bytes, and a boolean that would fit into one of them.
    row_builder builder{"", ""};
    builder.add("a", std::int32_t{0x01010101});
    builder.add("b", true);
    std::string payload{builder.build().payload()};
    payload.resize(payload.size() - 4);
    CHECK_FALSE(walk(payload));
}

TEST_CASE("a name of any length is never mistaken for another property") {
    // 65536 + 1 characters: truncated to 16 bits, the length would be 1.
    row_builder builder{"", ""};
    builder.add("n" + std::string(0x10000, 'x'), std::int32_t{1});
    builder.add("second", true);
    auto const built = builder.build();
    auto const found = properties_of(built.payload());
    REQUIRE(found.size() == 2);
    CHECK(found[0].name.size() == 0xFFFF);
    CHECK(found[1].name == "second");
    CHECK_FALSE(built.view().find("n"));
}

TEST_CASE("a merge applies the given properties to the existing ones") {
    row_builder base{"p", "r"};
    base.add("kept", std::int32_t{1});
    base.add("changed", "old");
    base.add("retyped", std::int32_t{2});
    base.add("nulled", true);
    base.add("absent", edm_type::string, std::nullopt);
    row_builder change{"p", "r"};
    change.add("added", 2.5);
    change.add("retyped", "two");
    change.add("changed", edm_type::string, value_view{"new"});
    change.add("nulled", edm_type::boolean, std::nullopt);
    change.add("never", edm_type::int64, std::nullopt);

    auto const merged = merged_payload(base.build().payload(), change.build().payload());
    std::vector<named_value> const expected = {{"kept", value_view{std::int32_t{1}}}, {"changed", value_view{"new"}},
        {"retyped", value_view{"two"}}, {"nulled", value_view{true}}, {"added", value_view{2.5}}};
    CHECK(properties_of(merged) == expected);
    CHECK(check_payload(merged));
}

TEST_CASE("merging an empty row changes nothing, and merging into an empty row gives the change") {
    auto const nothing = row_builder{"", ""}.build();
    auto const full = runner();
    CHECK(properties_of(merged_payload(full.payload(), nothing.payload())) == properties_of(full.payload()));
    CHECK(properties_of(merged_payload(nothing.payload(), full.payload())) == properties_of(full.payload()));
    CHECK(properties_of(merged_payload(full.payload(), full.payload())) == properties_of(full.payload()));
}

TEST_CASE("a merge fills an absent property") {
    row_builder base{"", ""};
    base.add("club", edm_type::string, std::nullopt);
    row_builder change{"", ""};
    change.add("club", "Harriers");
    auto const merged = merged_payload(base.build().payload(), change.build().payload());
    CHECK(properties_of(merged) == std::vector<named_value>{{"club", value_view{"Harriers"}}});
}

TEST_CASE("the size of an entity is measured as the service does") {
    auto const size_with = [](std::string_view name, value_view content) {
        row_builder builder{"p", "r"};
        builder.add(name, content);
        return service_size(builder.build());
    };
    CHECK(service_size(row_builder{"", ""}.build()) == 4);
    CHECK(service_size(row_builder{"p", "r"}.build()) == 8);
    CHECK(size_with("Age", std::int32_t{7}) == 26); // 4 + 2 * 2, then 8 + 2 * 3 and 4
    CHECK(size_with("Age", std::int64_t{7}) == 30);
    CHECK(size_with("Age", 7.0) == 30);
    CHECK(size_with("Age", date_time{}) == 30);
    CHECK(size_with("Age", true) == 23);
    CHECK(size_with("Age", {edm_type::guid, guid_bytes}) == 38);
    CHECK(size_with("Age", "") == 26);
    CHECK(size_with("Age", "four") == 34);
    CHECK(size_with("Age", {edm_type::binary, std::string_view{}}) == 26);
    CHECK(size_with("Age", {edm_type::binary, std::string_view{"four"}}) == 30);
}

TEST_CASE("the measured size counts UTF-16 units and ignores absent properties") {
    auto const emoji = utf8(0x1F600);
    auto const accent = utf8(0xE9);
    row_builder builder{emoji, accent};
    CHECK(service_size(builder.build()) == 4 + 2 * (2 + 1));
    builder.add("x", edm_type::string, std::nullopt);
    CHECK(service_size(builder.build()) == 4 + 2 * (2 + 1));
    builder.add("caf" + accent, std::string_view{emoji + "a"});
    CHECK(service_size(builder.build()) == 4 + 2 * (2 + 1) + 8 + 2 * 4 + 4 + 2 * 3);
}

TEST_CASE("a row that was moved from is empty") {
    std::string const long_text(100, 'x');
    row stored{long_text, long_text, std::string(16, '\0'), "\"etag\""};
    row const taken = std::move(stored);
    CHECK(taken.partition_key() == long_text);
    CHECK(stored.partition_key().empty()); // NOLINT: tests the moved-from state
    CHECK(stored.row_key().empty());
    CHECK(stored.payload().empty());
    CHECK(stored.view().etag_text.empty());
    stored = taken;
    row other;
    other = std::move(stored);
    CHECK(other.row_key() == long_text);
    CHECK(stored.row_key().empty()); // NOLINT
}
