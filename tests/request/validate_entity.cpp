// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "refusals.hpp"
#include <entitable/core/request/validate.hpp>

#include <support/catch.hpp>
#include <support/utf8.hpp>

#include <limits>
#include <string>

using namespace entitable;
using namespace entitable_test;

namespace {

constexpr profile limits = storage_profile();

result<void> checked(value_view content) { return validate_entity(entity_with("field", content), limits); }
value_view bytes_of(std::string const& bytes) { return {edm_type::binary, std::string_view{bytes}}; }

row with_properties(std::size_t count) {
    row_builder builder{"p", "r"};
    for (std::size_t index = 0; index < count; ++index) { builder.add("n" + std::to_string(index), std::int32_t{0}); }
    return builder.build();
}

} // namespace

TEST_CASE("an entity has at most 252 properties") {
    CHECK(validate_entity(with_properties(0), limits));
    CHECK(validate_entity(with_properties(252), limits));
    check_refused(validate_entity(with_properties(253), limits), error_code::too_many_properties, "253", "252");
}

TEST_CASE("absent properties are not counted") {
    row_builder builder{"p", "r"};
    for (int index = 0; index < 300; ++index) {
        builder.add("n" + std::to_string(index), edm_type::string, std::nullopt);
    }
    CHECK(validate_entity(builder.build(), limits));
}

TEST_CASE("names that differ only in letter case are different, and equal names are refused") {
    row_builder builder{"p", "r"};
    builder.add("Birthday", true);
    builder.add("birthday", true);
    CHECK(validate_entity(builder.build(), limits));
    builder.add("Birthday", false);
    check_refused(
        validate_entity(builder.build(), limits), error_code::duplicate_properties_specified, "Birthday", "twice");
}

TEST_CASE("a text has at most 32768 UTF-16 units") {
    CHECK(checked(std::string_view{std::string(32'768, 'x')}));
    CHECK(checked(std::string_view{repeated(utf8(0x65E5), 32'768)}));
    CHECK(checked(std::string_view{repeated(utf8(0x1F600), 16'384)}));
    auto const code = error_code::property_value_too_large;
    check_refused(checked(std::string_view{std::string(32'769, 'x')}), code, "field", "32769", "32768", "UTF-16 units");
    check_refused(checked(std::string_view{repeated(utf8(0x65E5), 32'769)}), code, "32769", "32768");
    check_refused(checked(std::string_view{repeated(utf8(0x1F600), 16'385)}), code, "32770", "32768");
}

TEST_CASE("a binary has at most 65536 bytes") {
    CHECK(checked(bytes_of(std::string(65'536, '\xFF'))));
    check_refused(checked(bytes_of(std::string(65'537, '\xFF'))), error_code::property_value_too_large, "field",
        "65537", "65536", "bytes");
}

TEST_CASE(
    "a text that is not UTF-8 is refused with the position of the first invalid byte, and a binary is never refused") {
    auto const result = checked("secret\xC0\xAF");
    check_refused(result, error_code::invalid_input, "field", "UTF-8", "byte 6");
    CHECK_THAT(result.error().to_string(), !ContainsSubstring("secret"));
    check_refused(checked("\xED\xA0\x80"), error_code::invalid_input, "byte 0");
    CHECK(checked(bytes_of("\xC0\xAF")));
    CHECK(checked(std::string_view{"\0\x01\x7F", 3}));
}

TEST_CASE("every double is valid, including the three that JSON does not have") {
    CHECK(checked(std::numeric_limits<double>::quiet_NaN()));
    CHECK(checked(std::numeric_limits<double>::infinity()));
    CHECK(checked(-std::numeric_limits<double>::infinity()));
    CHECK(checked(std::numeric_limits<double>::max()));
    CHECK(checked(-0.0));
    CHECK(checked(std::numeric_limits<std::int32_t>::min()));
    CHECK(checked(std::numeric_limits<std::int64_t>::min()));
}

TEST_CASE("a time is between 1601 and 9999") {
    CHECK(checked(date_time{}));
    CHECK(checked(date_time{date_time::max_ticks}));
    check_refused(checked(date_time{-1}), error_code::out_of_range_input, "field", "1601", "9999");
    check_refused(checked(date_time{date_time::max_ticks + 1}), error_code::out_of_range_input, "field");
    check_refused(checked(date_time{std::numeric_limits<std::int64_t>::min()}), error_code::out_of_range_input);
}

TEST_CASE("an entity has at most 1 MiB, measured as the service does") {
    auto const of_size = [](std::size_t bytes) {
        row_builder builder{"p", "r"};
        std::size_t left = bytes - 8;
        for (int index = 10; left > 0; ++index) {
            std::size_t const overhead = 8 + 2 * 3 + 4;
            std::size_t const size = left - overhead > 60'000 ? 60'000 : left - overhead;
            builder.add("n" + std::to_string(index), bytes_of(std::string(size, 'x')));
            left -= overhead + size;
        }
        return builder.build();
    };
    REQUIRE(service_size(of_size(1'048'576)) == 1'048'576);
    CHECK(validate_entity(of_size(1'048'576), limits));
    check_refused(
        validate_entity(of_size(1'048'577), limits), error_code::entity_too_large, "1048577", "1048576", "bytes");
}

TEST_CASE("invalid row bytes are refused") {
    check_refused(validate_entity(row{"p", "r", ""}, limits), error_code::row_malformed);
    auto const whole = with_properties(3);
    for (std::size_t size = 0; size < whole.payload().size(); ++size) {
        row const cut{"p", "r", whole.payload().substr(0, size)};
        CHECK(validate_entity(cut, limits).error().code == error_code::row_malformed);
    }
}

TEST_CASE("a removal needs only the keys, and every other write a whole entity") {
    row const keys{"p", "r", ""};
    CHECK(validate(write_entity{"table", mutation::remove(keys, any_etag)}, limits));
    auto const too_many = with_properties(253);
    CHECK(validate(write_entity{"table", mutation::remove(too_many, any_etag)}, limits));
    for (auto const& change :
        {mutation::insert(too_many), mutation::replace(too_many, any_etag), mutation::merge(too_many, any_etag),
            mutation::insert_or_replace(too_many), mutation::insert_or_merge(too_many)}) {
        CAPTURE(to_string(change.kind));
        check_refused(validate(write_entity{"table", change}, limits), error_code::too_many_properties);
    }
}

TEST_CASE("the limits of entities come from the profile") {
    profile tight;
    tight.max_properties = 1;
    check_refused(validate_entity(with_properties(2), tight), error_code::too_many_properties, "2", "1");
    tight = {};
    tight.max_name_units = 4;
    check_refused(validate_entity(entity_with("field", true), tight), error_code::property_name_too_long, "5", "4");
    tight = {};
    tight.max_string_units = 2;
    check_refused(validate_entity(entity_with("field", "abc"), tight), error_code::property_value_too_large, "3", "2");
    tight = {};
    tight.max_entity_size = 22;
    CHECK(validate_entity(entity_with("f", true), tight).has_value());
    CHECK(validate_entity(entity_with("field", true), tight).error().code == error_code::entity_too_large);
}

TEST_CASE("an ETag that no service issued is refused if the condition matters") {
    row const keys{"p", "r", ""};
    auto const removing = [&](std::string const& version) {
        return validate(write_entity{"table", mutation::remove(keys, etag{version})}, limits);
    };
    CHECK(removing("W/\"0x5B168C7B6E589D2\""));
    for (std::string const bad : {"", "junk", "\"a\"\r\nX-Header: b", "W/\"open"}) {
        CAPTURE(bad);
        check_refused(removing(bad), error_code::invalid_input, "ETag");
    }
    check_refused(removing(std::string(10'240, 'e')), error_code::invalid_input, "ETag");
    auto insert = mutation::insert(with_properties(1));
    insert.condition = etag{"junk"};
    CHECK(validate(write_entity{"table", insert}, limits));
}
