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

result<void> checked(std::string_view key) { return validate_key(key, "RowKey", limits); }

} // namespace

TEST_CASE("keys may be empty and contain any character that is not forbidden") {
    for (auto const& good : {std::string{}, std::string{" "}, std::string{"O'Hara"}, std::string{"a',RowKey='b"},
             std::string{"50%"}, std::string{"%2F"}, std::string{"%25"}, std::string{"a+b"}, std::string{"a b"},
             std::string{"~@,;:!*()&=$<>|^`{}[]\""}, std::string{"''"}, std::string{"."}, std::string{".."}, utf8(0xA0),
             utf8(0xE9), utf8(0x640), utf8(0xD7FF), utf8(0xE000), utf8(0xFFFF), utf8(0x1F600), utf8(0x10FFFF)}) {
        CAPTURE(good);
        CHECK(checked(good));
    }
}

TEST_CASE("among the first 256 code points, exactly the forbidden characters are refused") {
    for (char32_t point = 0; point < 0x100; ++point) {
        bool const forbidden = point == '/' || point == '\\' || point == '#' || point == '?' || point < 0x20 ||
            (point >= 0x7F && point <= 0x9F);
        auto const result = checked("ab" + utf8(point) + "c");
        CAPTURE(static_cast<int>(point));
        CHECK(result.has_value() == !forbidden);
        if (!result) {
            check_refused(result, error_code::out_of_range_input, "RowKey", "at byte 2", text::printable(utf8(point)));
        }
    }
    check_refused(checked(std::string{"\0", 1}), error_code::out_of_range_input, "at byte 0", "\\x00");
}

TEST_CASE("a byte is accepted or refused regardless of its position and the length of the key") {
    for (std::size_t size = 1; size <= 25; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            std::size_t wrong = 0;
            for (unsigned byte = 0; byte < 0x100; ++byte) {
                for (char const other : {' ', '~', 'a'}) {
                    std::string key(size, other);
                    key[at] = static_cast<char>(static_cast<unsigned char>(byte));
                    bool const good = byte >= 0x20 && byte < 0x7F &&
                        std::string_view{"/\\#?"}.find(key[at]) == std::string_view::npos;
                    wrong += checked(key).has_value() == good ? 0U : 1U;
                }
            }
            CAPTURE(size, at);
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("a key that contains an HTTP request is refused at its first control character") {
    auto const result = checked("x HTTP/1.1\r\nDELETE y");
    check_refused(result, error_code::out_of_range_input, "at byte 6", "\"/\"");
    check_refused(checked("x\r\nDELETE y"), error_code::out_of_range_input, "at byte 1", "\\x0d");
    check_kept_apart(checked("x\r\nDELETE y"), "DELETE");
}

TEST_CASE("a key has at most 512 UTF-16 units") {
    CHECK(checked(std::string(512, 'k')));
    CHECK(checked(repeated(utf8(0xE9), 512)));
    CHECK(checked(repeated(utf8(0x65E5), 512)));
    CHECK(checked(repeated(utf8(0x1F600), 256)));
    check_refused(
        checked(std::string(513, 'k')), error_code::key_value_too_large, "RowKey", "513", "512", "UTF-16 units");
    check_refused(checked(repeated(utf8(0x65E5), 513)), error_code::key_value_too_large, "513", "512");
    check_refused(checked(repeated(utf8(0x1F600), 257)), error_code::key_value_too_large, "514", "512");
    check_refused(checked(repeated(utf8(0x1F600), 256) + "k"), error_code::key_value_too_large, "513", "512");
}

TEST_CASE("a key that is not UTF-8 is refused with the position of the first invalid byte") {
    for (std::string const broken :
        {"\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xED\xBF\xBF", "\xFF", "\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
        CAPTURE(text::printable(broken));
        check_refused(checked(broken), error_code::invalid_input, "RowKey", "UTF-8", "byte 0");
        check_refused(checked("ab" + broken), error_code::invalid_input, "byte 2");
    }
}

TEST_CASE("a refused key is user data: it is in the detail, truncated, and not in the message") {
    check_kept_apart(checked("secret/key"), "secret");
    check_kept_apart(checked("secret" + std::string(600, 'k')), "secret");
    check_kept_apart(checked("secret\xFF"), "secret");
    CHECK_THAT(checked("secret" + std::string(600, 'k')).error().detail, EndsWith("..."));
}

TEST_CASE("every request with keys validates both and names the invalid one") {
    auto const both = [](auto make) {
        check_refused(validate(make("a/b", "r"), limits), error_code::out_of_range_input, "PartitionKey");
        check_refused(validate(make("p", "a/b"), limits), error_code::out_of_range_input, "RowKey");
        CHECK(validate(make("", ""), limits));
    };
    both([](auto partition, auto key) { return get_entity{"table", partition, key, {}}; });
    both([](auto partition, auto key) {
        return write_entity{"table", mutation::insert(row_builder{partition, key}.build())};
    });
    both([](auto partition, auto key) {
        return write_entity{"table", mutation::remove(row{partition, key, {}}, any_etag)};
    });
    both([](auto partition, auto key) {
        return transact{"table", {mutation::remove(row{partition, key, {}}, any_etag)}};
    });
}

TEST_CASE("the limits of keys come from the profile") {
    profile tight;
    tight.max_key_units = 3;
    CHECK(validate_key("abc", "RowKey", tight));
    check_refused(validate_key("abcd", "RowKey", tight), error_code::key_value_too_large, "4", "3");
}

TEST_CASE("a profile may limit the bytes of each key separately") {
    profile tight;
    tight.max_partition_key_size = 4;
    tight.max_row_key_size = 2;
    CHECK(validate_key(utf8(0x1F600), "PartitionKey", tight));
    CHECK(validate_key(utf8(0xE9), "RowKey", tight));
    auto const code = error_code::key_value_too_large;
    check_refused(validate_key("abcde", "PartitionKey", tight), code, "PartitionKey", "5", "4", "bytes");
    check_refused(validate_key("abc", "RowKey", tight), code, "RowKey", "3", "2", "bytes");
    CHECK(validate_key(std::string(255, 'k'), "RowKey", cosmos_profile()));
    check_refused(validate_key(std::string(256, 'k'), "RowKey", cosmos_profile()), code, "256", "255");
}

TEST_CASE("a profile may refuse empty keys, as Cosmos DB does") {
    for (std::string const which : {"PartitionKey", "RowKey"}) {
        CHECK(validate_key("", which, storage_profile()));
        check_refused(validate_key("", which, cosmos_profile()), error_code::properties_need_value, which, "empty");
        CHECK(validate_key(" ", which, cosmos_profile()));
    }
}

TEST_CASE("names of properties follow the profile in length and reserved names") {
    auto const with = [](std::string const& name, profile const& by) {
        return validate_entity(entity_with(name, value_view{1}), by);
    };
    CHECK(with(std::string(255, 'n'), storage_profile()));
    check_refused(with(std::string(256, 'n'), storage_profile()), error_code::property_name_too_long, "256", "255");
    CHECK(with(std::string(1000, 'n'), cosmos_profile()));
    check_refused(with(std::string(1001, 'n'), cosmos_profile()), error_code::property_name_too_long, "1001", "1000");
    for (std::string const name : {"ID", "id", "rid", "ResourceId", "Etag"}) {
        CHECK(with(name, storage_profile()));
        check_refused(with(name, cosmos_profile()), error_code::property_name_invalid, name);
    }
    CHECK(with("etag", cosmos_profile()));
    CHECK(with("etag", storage_profile()));
}
