// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/wire/detail/json_writer.hpp>
#include <entitable/testing/rows.hpp>

#include <support/vectors.hpp>

#include <charconv>
#include <cmath>
#include <limits>

using namespace entitable;
using namespace entitable_test;

namespace {

std::string property(value_view value) {
    std::string out;
    detail::append_json_property(out, "V", value);
    return out;
}

double from_bits(std::string const& hexadecimal) {
    std::uint64_t const bits = std::stoull(hexadecimal, nullptr, 16);
    double number{};
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

/// The value of a vector, whose bytes are stored in `held`.
value_view value_of(simdjson::dom::element each, std::string& held) {
    std::string const type = text_of(each, "type");
    simdjson::dom::element const value = each["value"].value();
    if (type == "Int32") { return static_cast<std::int32_t>(std::stol(text_of(each, "value"))); }
    if (type == "Int64") { return static_cast<std::int64_t>(std::stoll(text_of(each, "value"))); }
    if (type == "Double") { return from_bits(text_of(value, "ieee754")); }
    if (type == "Boolean") { return bool{value}; }
    if (type == "DateTime") { return date_time{std::stoll(text_of(value, "unix_100ns")) + date_time::unix_epoch}; }
    if (type == "Guid") {
        guid const id = guid::parse(text_of(each, "value")).value();
        held.assign(id.bytes.begin(), id.bytes.end());
        return {edm_type::guid, std::string_view{held}};
    }
    if (type == "Binary") {
        held.clear();
        std::string const digits = text_of(value, "hex");
        for (std::size_t at = 0; at < digits.size(); at += 2) {
            held += static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16));
        }
        return {edm_type::binary, std::string_view{held}};
    }
    held = text_of(each, "value");
    return std::string_view{held};
}

} // namespace

TEST_CASE("every type is written as JSON") {
    CHECK(property(3.0) == R"("V@odata.type":"Edm.Double","V":3.0)");
    CHECK(property(1e300) == R"("V@odata.type":"Edm.Double","V":1e+300)");
    CHECK(property(5e-324) == R"("V@odata.type":"Edm.Double","V":5e-324)");
    CHECK(property(0.1) == R"("V@odata.type":"Edm.Double","V":0.1)");
    CHECK(property(std::nan("")) == R"("V@odata.type":"Edm.Double","V":"NaN")");
    CHECK(property(-std::numeric_limits<double>::infinity()) == R"("V@odata.type":"Edm.Double","V":"-Infinity")");
    CHECK(property(0) == R"("V":0)");
    CHECK(property(INT32_MIN) == R"("V":-2147483648)");
    CHECK(property(INT64_MIN) == R"("V@odata.type":"Edm.Int64","V":"-9223372036854775808")");
    CHECK(property(false) == R"("V":false)");
    CHECK(property("") == R"("V":"")");
    CHECK(property(date_time{0}) == R"("V@odata.type":"Edm.DateTime","V":"1601-01-01T00:00:00.0000000Z")");
    CHECK(property("\x01\n\r\t\"\\/\x7F\xC3\xA9") == "\"V\":\"\\u0001\\n\\r\\t\\\"\\\\/\x7F\xC3\xA9\"");
    CHECK(property(std::string_view{"\0", 1}) == "\"V\":\"\\u0000\"");
}

TEST_CASE("a number with few digits is written as the shortest text that reads back") {
    std::size_t wrong = 0;
    auto const check = [&](double number) {
        char text[40];
        std::string expected{text, std::to_chars(text, text + sizeof text, number).ptr};
        expected += expected.find_first_of(".e") == std::string::npos ? ".0" : "";
        wrong += property(number) == "\"V@odata.type\":\"Edm.Double\",\"V\":" + expected ? 0 : 1;
    };
    for (int number = -12'000; number < 12'000; ++number) {
        check(number * 0.001);
        check(number / 1000.0);
        check(std::nextafter(number / 1000.0, 1e9));
        check(number * 10.0);
        check(number * 0.0001);
    }
    for (double const edge : {99'999.999, 99'999.9995, 100'000.0, 100'000.001, -99'999.999, -100'000.0, 0.0, -0.0}) {
        check(edge);
        check(std::nextafter(edge, 0.0));
    }
    CHECK(wrong == 0);
}

TEST_CASE("a character is escaped at any position") {
    for (std::size_t size = 1; size < 26; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            for (auto const& [character, escaped] : {std::pair{'"', "\\\""}, {'\\', "\\\\"}, {'\x1F', "\\u001f"}}) {
                std::string text(size, 'x');
                text[at] = character;
                std::string expected(size, 'x');
                expected.replace(at, 1, escaped);
                std::string out;
                detail::append_json_string(out, text);
                REQUIRE(out == "\"" + expected + "\"");
            }
        }
    }
}

TEST_CASE("a name is escaped in its annotation and before its value") {
    std::string const longer(2000, 'n');
    for (auto const& [name, escaped] : {std::pair<std::string, std::string>{"a\"b", "a\\\"b"}, {longer, longer}}) {
        std::string out;
        detail::append_json_property(out, name, 0.5);
        CHECK(out == "\"" + escaped + "@odata.type\":\"Edm.Double\",\"" + escaped + "\":0.5");
    }
}

TEST_CASE("an entity is written on one line without absent values and the Timestamp") {
    row_builder builder{"p'", "\"r\""};
    builder.add("N", value_view{1});
    builder.add("Absent", edm_type::int64, std::nullopt);
    builder.add("L", edm_type::int64, value_view{std::int64_t{5}});
    std::string out;
    detail::append_json_entity(out, builder.build());
    CHECK(out == R"({"PartitionKey":"p'","RowKey":"\"r\"","N":1,"L@odata.type":"Edm.Int64","L":"5"})");
}

TEST_CASE("vectors: values are written in JSON") {
    vectors const all{"property_encoding.json"};
    if (!all) { return; }
    std::size_t count = 0;
    for (auto const each : all.list("write")) {
        CAPTURE(text_of(each, "id"));
        std::string held;
        std::string const written = property(value_of(each, held));
        std::string expected = text_of(each, "json");
        // The same number in another notation: the vectors have it as .NET writes it.
        if (std::size_t const at = expected.find('E', expected.rfind(':'));
            at != std::string::npos && text_of(each, "type") == "Double" && expected.back() != '"') {
            std::size_t const number = expected.rfind(':') + 1;
            CHECK(std::strtod(written.c_str() + number, nullptr) == std::strtod(expected.c_str() + number, nullptr));
            expected.resize(number);
            CHECK(written.starts_with(expected));
        } else {
            CHECK(written == expected);
        }
        ++count;
    }
    CHECK(count >= 63);
}
