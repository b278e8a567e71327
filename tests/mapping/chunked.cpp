// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "support/catch.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

#include <map>

namespace {

struct letter {
    std::string mailbox;
    std::int32_t number{};
    std::string subject;
    std::string body;
    std::optional<entitable::binary> scan;
};
ENTITABLE(letter, partition_key(mailbox), row_key(number), properties(subject, chunked(body), chunked(scan)))

struct small_letter {
    std::string mailbox;
    std::int32_t number{};
    std::string body;
    std::string note;
};
ENTITABLE(small_letter, partition_key(mailbox), row_key(number), properties(body, note))

using entitable::error_code;

constexpr std::size_t units = 32768; // one chunk of text
constexpr std::size_t bytes = 65536; // one chunk of binary

entitable::table<letter> new_letters(entitable::any_store through = entitable::memory_backend{}) {
    entitable::table<letter> letters{std::move(through), "letters"};
    letters.create().value();
    return letters;
}

/// This number of bytes, no two sections of which are equal.
std::string text_of(std::size_t size) {
    std::string text(size, ' ');
    std::uint32_t seed = 1;
    for (char& each : text) {
        seed = seed * 1664525U + 1013904223U;
        each = static_cast<char>('a' + (seed >> 24U) % 26);
    }
    return text;
}
entitable::binary binary_of(std::size_t size) {
    entitable::binary made(size);
    std::uint32_t seed = 7;
    for (std::byte& each : made) {
        seed = seed * 1664525U + 1013904223U;
        each = static_cast<std::byte>(seed >> 24U);
    }
    return made;
}

/// The names and sizes of the properties that are present.
std::map<std::string, std::size_t> present_in(entitable::row_view row) {
    std::map<std::string, std::size_t> sizes;
    entitable::property_cursor cursor{row.payload};
    entitable::property_view each;
    while (cursor.next(each)) {
        if (each.present) {
            sizes[std::string{each.name}] = each.type == entitable::edm_type::int32
                ? static_cast<std::size_t>(each.value.as_int32())
                : each.value.bytes().size();
        }
    }
    return sizes;
}
std::map<std::string, std::size_t> stored_in(entitable::table<letter> const& letters) {
    auto const row = entitable::row_table{letters.store(), "letters"}.get("ann", "0000000001").value();
    return present_in(row.to_row());
}

} // namespace

TEST_CASE("a chunked member is read as it was written, at each boundary") {
    auto const letters = new_letters();
    for (std::size_t const size : {std::size_t{0}, std::size_t{1}, units - 1, units, units + 1, 2 * units,
             2 * units + 1, 14 * units, 14 * units + 1, 15 * units}) {
        INFO(size);
        letter const sent{"ann", 1, "hello", text_of(size), std::nullopt};
        letters.insert_or_replace(sent).value();
        auto const read = letters.get("ann", 1).value();
        CHECK((read.body == sent.body && !read.scan && read.subject == "hello"));
        auto const stored = stored_in(letters);
        CHECK(stored.at("body_n") == (size == 0 ? 1 : (size + units - 1) / units));
        CHECK(stored.size() == 2 + stored.at("body_n"));
    }
    for (std::size_t const size : {std::size_t{0}, bytes - 1, bytes, bytes + 1, 15 * bytes}) {
        INFO(size);
        letter const sent{"ann", 1, "hello", "short", binary_of(size)};
        letters.insert_or_replace(sent).value();
        CHECK((letters.get("ann", 1).value().scan == sent.scan));
    }
}

TEST_CASE("text is split between characters, at 32768 UTF-16 units") {
    auto const letters = new_letters();
    std::string const two = "\xC3\xA4";          // one unit
    std::string const four = "\xF0\x9F\x98\x80"; // two units
    for (std::size_t const shift : {std::size_t{0}, std::size_t{1}}) {
        std::string body = text_of(shift);
        while (body.size() < 200'000) { body.append(four).append(two).append(four); }
        letters.insert_or_replace({"ann", 1, "", body, {}}).value();
        CHECK(letters.get("ann", 1).value().body == body);
    }
}

TEST_CASE("a value that does not fit is refused before anything is sent") {
    auto const letters = new_letters();
    auto refused = letters.insert({"ann", 1, "", text_of(15 * units + 1), {}}).error();
    CHECK(refused.code == error_code::property_value_too_large);
    CHECK(refused.effect == entitable::effect::none);
    CHECK(refused.message.find("\"body\"") != std::string::npos);
    CHECK(refused.message.find("15 chunks of 32768 UTF-16 units") != std::string::npos);
    refused = letters.insert({"ann", 1, "", "", binary_of(15 * bytes + 1)}).error();
    CHECK(refused.code == error_code::property_value_too_large);
    CHECK(refused.message.find("\"scan\"") != std::string::npos);

    // The entity has 1 MiB: the keys and the other properties count.
    refused = letters.insert({"ann", 1, "", text_of(4 * units), binary_of(15 * bytes)}).error();
    CHECK(refused.code == error_code::entity_too_large);
    CHECK(refused.message.find("\"scan\"") != std::string::npos);
    CHECK(refused.message.find("1048576") != std::string::npos);
    // The largest by the service's measure, which counts text twice.
    refused = letters.insert({"ann", 1, "", text_of(9 * units), binary_of(8 * bytes)}).error();
    CHECK(refused.message.find("\"body\", has " + std::to_string(18 * units)) != std::string::npos);
    letter const probe{"ann", 1, "", "", binary_of(15 * bytes)};
    std::size_t const without = entitable::service_size(entitable::to_row(probe).value());
    std::size_t const left = (1048576 - without) / 2;
    REQUIRE(left < units);
    letter const full{"ann", 1, text_of(left), "", binary_of(15 * bytes)};
    letters.insert(full).value();
    CHECK((letters.get("ann", 1).value().scan == full.scan));
    CHECK(letters.replace({"ann", 1, text_of(left + 1), "", binary_of(15 * bytes)}, entitable::any_etag).error().code ==
        error_code::entity_too_large);
}

TEST_CASE("after a merge with a smaller value the chunk count shows which chunks are valid") {
    auto const letters = new_letters();
    using l = entitable::fields<letter>;
    letters.insert({"ann", 1, "s", text_of(5 * units), binary_of(3 * bytes)}).value();
    letters.merge(letter{"ann", 1, "s", text_of(2 * units), std::nullopt}, entitable::any_etag).value();
    CHECK(letters.get("ann", 1).value().body == text_of(2 * units));
    CHECK((letters.get("ann", 1).value().scan == binary_of(3 * bytes))); // absent: the stored value stays
    CHECK(stored_in(letters).count("body_4") == 1);                      // a merge removes nothing
    CHECK(stored_in(letters).at("body_n") == 2);

    letters.merge(entitable::at("ann", 1), l::body = "tiny", entitable::any_etag).value();
    CHECK(letters.get("ann", 1).value().body == "tiny");
    letters.merge(entitable::at("ann", 1), l::body = text_of(3 * units), l::scan = binary_of(1), entitable::any_etag)
        .value();
    CHECK(letters.get("ann", 1).value().body == text_of(3 * units));
    CHECK((letters.get("ann", 1).value().scan == binary_of(1)));
    CHECK(letters.merge(entitable::at("ann", 1), l::body = text_of(15 * units + 1), entitable::any_etag).error().code ==
        error_code::property_value_too_large);

    // Undeclared chunks are stale ones: a strict reader accepts them, and an update removes them.
    auto const strict = letters.with({.reading = entitable::reading::strict});
    CHECK(strict.get("ann", 1).value().body == text_of(3 * units));
    letters.update("ann", 1, [](letter& each) { each.body = "end", each.scan.reset(); }).value();
    CHECK(stored_in(letters) == (std::map<std::string, std::size_t>{{"subject", 1}, {"body", 3}, {"body_n", 1}}));
}

TEST_CASE("a row with inconsistent chunks is a mismatch, and the error names the property") {
    auto const letters = new_letters();
    entitable::row_table const rows{letters.store(), "letters"};
    auto const put = [&](std::vector<std::pair<std::string, entitable::value>> const& properties) {
        entitable::row_builder builder{"ann", "0000000001"};
        builder.add("subject", entitable::value_view{std::string_view{"s"}});
        for (auto const& [name, value] : properties) { builder.add(name, value.view()); }
        rows.insert_or_replace(entitable::entity{builder.build()}).value();
        return letters.get("ann", 1);
    };
    auto const text = [](char const* content) {
        return entitable::value{entitable::value_view{std::string_view{content}}};
    };
    auto const count = [](std::int32_t number) { return entitable::value{entitable::value_view{number}}; };
    CHECK(put({{"body", text("a")}, {"body_1", text("b")}, {"body_n", count(2)}}).value().body == "ab");
    CHECK(put({{"body", text("a")}, {"body_1", text("b")}, {"body_n", count(1)}}).value().body == "a");
    // A writer that does not know chunks leaves no count.
    CHECK(put({{"body", text("plain")}}).value().body == "plain");
    CHECK(put({}).error().message.find("\"body\" is absent") != std::string::npos);
    CHECK(put({{"body", text("a")}, {"body_n", count(2)}}).error().message.find("\"body_1\"") != std::string::npos);
    CHECK(put({{"body", text("a")}, {"body_n", count(0)}}).error().message.find("\"body_n\"") != std::string::npos);
    CHECK(put({{"body", text("a")}, {"body_n", count(16)}}).error().code == error_code::row_mismatch);
    CHECK(put({{"body", text("a")}, {"body_n", text("1")}}).error().code == error_code::row_mismatch);
    CHECK(put({{"body", count(1)}}).error().code == error_code::row_mismatch);
}

TEST_CASE("golden: the stored form of a chunked member has not changed") {
    auto const row = entitable::to_row(letter{"ann", 1, "s", text_of(units + 1), entitable::binary(2)}).value();
    CHECK(present_in(row) ==
        (std::map<std::string, std::size_t>{
            {"subject", 1}, {"body", units}, {"body_1", 1}, {"body_n", 2}, {"scan", 2}, {"scan_n", 1}}));
    // Each may be absent and has a place: 1 + 16 + 16 properties.
    CHECK(entitable::property_cursor{row.payload()}.left() == 33);
    entitable::property_cursor cursor{row.payload()};
    entitable::property_view each;
    std::string names;
    while (cursor.next(each)) { names.append(each.name).append(" "); }
    CHECK(names ==
        "subject body body_1 body_2 body_3 body_4 body_5 body_6 body_7 body_8 body_9 body_10 body_11 body_12 body_13 "
        "body_14 body_n scan scan_1 scan_2 scan_3 scan_4 scan_5 scan_6 scan_7 scan_8 scan_9 scan_10 scan_11 scan_12 "
        "scan_13 scan_14 scan_n ");
}

TEST_CASE("plain members become chunked members without rewriting the table") {
    entitable::memory_backend store;
    entitable::table<small_letter> const before{store, "letters"};
    before.create().value();
    before.insert({"ann", 1, "as before", "stays"}).value();
    entitable::table<letter> const after{store, "letters", {.reading = entitable::reading::lenient}};
    CHECK(after.get("ann", 1).value().body == "as before");
}
