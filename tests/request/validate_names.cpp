// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "refusals.hpp"
#include <entitable/core/request/validate.hpp>

#include <support/catch.hpp>
#include <support/utf8.hpp>

#include <string>

using namespace entitable;
using namespace entitable_test;

namespace {

constexpr profile limits = storage_profile();

} // namespace

TEST_CASE("a table name has 3 to 63 characters") {
    CHECK(validate_table_name("abc"));
    CHECK(validate_table_name(std::string(63, 'a')));
    check_refused(validate_table_name(""), error_code::out_of_range_input, "0 characters", "3 to 63");
    check_refused(validate_table_name("ab"), error_code::out_of_range_input, "2 characters", "3 to 63");
    check_refused(validate_table_name(std::string(64, 'a')), error_code::out_of_range_input, "64 characters");
    CHECK(validate_table_name(std::string(10'000, 'a')).error().detail.size() < 100);
}

TEST_CASE("a table name may have any letter or digit at any place, and no other byte") {
    for (std::size_t const size : {3U, 7U, 8U, 9U, 16U, 63U}) {
        for (std::size_t at = 0; at < size; ++at) {
            for (int byte = 0; byte < 256; ++byte) {
                std::string name(size, 'q');
                name[at] = static_cast<char>(byte);
                bool const letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
                bool const digit = byte >= '0' && byte <= '9';
                bool const allowed = letter || (digit && at > 0);
                if (validate_table_name(name).has_value() != allowed) { FAIL(size << " " << at << " " << byte); }
            }
        }
    }
}

TEST_CASE("a table name consists of letters and digits and begins with a letter") {
    for (std::string const good : {"runners", "Orders2026", "a00", "Zzz", "con", "nul", "CON", "tables1", "table"}) {
        CAPTURE(good);
        CHECK(validate_table_name(good));
    }
    auto const bad = GENERATE_COPY(values<std::string>({"1abc", "9runners", "run-ners", "run_ners", "run ners",
        "run.ners", " abc", "abc ", "../x", "a/b", "a\\b", "a?b", "a#b", "abc$", "$MetricsHour", "@abc", "[abc", "`abc",
        "{abc", "/abc", ":abc", std::string{"ab\0c", 4}, std::string{"abc\0", 4}, "ab\nc", "caf" + utf8(0xE9),
        utf8(0x130) + "stanbul", "t" + utf8(0x131) + "mes", utf8(0xFF21) + "bc", "abc\xFF"}));
    CAPTURE(text::printable(bad));
    check_refused(validate_table_name(bad), error_code::invalid_resource_name, "table name");
}

TEST_CASE("the reserved table name is refused, whatever its letter case") {
    for (char const* const name : {"tables", "Tables", "TABLES", "tAbLeS"}) {
        check_refused(validate_table_name(name), error_code::invalid_resource_name, "reserved", name);
    }
}

TEST_CASE("every request refuses an invalid table name before anything else") {
    auto const check = [](auto request) {
        request.table = "a-b";
        check_refused(validate(request, limits), error_code::invalid_resource_name, "a-b");
        request.table = "abc";
        CHECK(validate(request, limits));
    };
    check(create_table{});
    check(delete_table{});
    check(get_entity{});
    check(query_entities{});
    check(write_entity{{}, mutation::insert(row_builder{"p", "r"}.build())});
    check(transact{{}, {mutation::insert(row_builder{"p", "r"}.build())}});
}

TEST_CASE("a property name is an identifier of at most 255 UTF-16 units") {
    auto const named = [](std::string const& name) { return validate_entity(entity_with(name, true), limits); };
    for (auto const& good : {std::string{"a"}, std::string{"_"}, std::string{"_1"}, std::string{"camelCase9"},
             std::string(255, 'n'), "caf" + utf8(0xE9), utf8(0x65E5), repeated(utf8(0xE9), 255),
             repeated(utf8(0x20000), 127), std::string{"partitionkey"}, std::string{"TIMESTAMP"}}) {
        CAPTURE(good);
        CHECK(named(good));
    }
    for (auto const& bad :
        {std::string{}, std::string{"1st"}, std::string{"a-b"}, std::string{"a b"}, std::string{"odata.etag"},
            std::string{"a/b"}, std::string{"a\0b", 3}, std::string{"a'b"}, std::string{"\xC0\xAF"},
            std::string{"a\xFF"}, std::string{"PartitionKey"}, std::string{"RowKey"}, std::string{"Timestamp"}}) {
        CAPTURE(text::printable(bad));
        check_refused(named(bad), error_code::property_name_invalid, "property name", text::printable(bad));
    }
    check_refused(named(std::string(256, 'n')), error_code::property_name_too_long, "256", "255", "UTF-16 units");
    check_refused(named(repeated(utf8(0x20000), 128)), error_code::property_name_too_long, "256", "255");
    check_refused(named(std::string(100'000, 'n')), error_code::property_name_too_long, "65535", "255");
}
