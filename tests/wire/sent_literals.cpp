// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The forms of literals that a server must accept, each with its source: a recorded exchange of the service, or its documentation.

#include <entitable/cloud/wire/detail/entity_reader.hpp>
#include <entitable/cloud/wire/detail/odata_reader.hpp>
#include <entitable/cloud/wire/detail/sent_literal.hpp>
#include <entitable/core/row/row.hpp>
#include <entitable/core/text.hpp>

#include <support/catch.hpp>

using namespace entitable;

namespace {

/// A literal with its annotated type, and what is stored.
struct accepted {
    std::string_view type; ///< without "Edm."; empty for no annotation
    std::string_view json;
    std::string_view stored; ///< the value's text, empty if it is refused
    std::string_view source;
};

constexpr accepted list[] = {
    {"DateTime", R"("2021-04-01T01:01:01.000000001Z")", "2021-04-01T01:01:01.0000000Z",
        "recorded, Go SDK TestAddAnnotatedEntity"},
    {"DateTime", R"("2021-04-01T01:01:01.12345678Z")", "2021-04-01T01:01:01.1234567Z", "recorded: digits are cut off"},
    {"DateTime", R"("2021-04-01T01:01:01.999999999Z")", "2021-04-01T01:01:01.9999999Z", "cut off, not rounded"},
    {"DateTime", R"("2021-04-01T01:01:01.1234567Z")", "2021-04-01T01:01:01.1234567Z", "documented form"},
    {"DateTime", R"("2021-04-01T01:01:01.123Z")", "2021-04-01T01:01:01.1230000Z", "recorded, JavaScript SDK"},
    {"DateTime", R"("2021-04-01T01:01:01")", "2021-04-01T01:01:01.0000000Z", "OData 2: no zone"},
    {"DateTime", R"("2021-04-01T01:01Z")", "2021-04-01T01:01:00.0000000Z", "OData 2: seconds are optional"},
    {"DateTime", R"("2021-04-01T01:01:01.12345678x")", "", "no digit behind the seventh"},
    {"DateTime", R"("2021-04-01T01:01:01.")", "", "no fraction"},
    {"DateTime", R"("2021-02-30T01:01:01.000000001Z")", "", "no such day"},
    {"", "2147483647", "2147483647", "documented: a number is an Int32"},
    {"", "1790000000000", "1790000000000.0", "AzureStorageExplorer 1382: a Double"},
    {"", "-2147483649", "-2147483649.0", "AzureStorageExplorer 1382: a Double"},
    {"", "18446744073709551615", "18446744073709551616.0", "the same, beyond Int64"},
    {"Int64", R"("1790000000000")", "1790000000000", "documented form"},
    {"Int64", "5", "", "documented: text"},
    {"Int32", R"("12345")", "12345", "recorded, JavaScript SDK"},
    {"Int32", "2147483648", "", "does not fit"},
    {"Double", R"("3.5")", "3.5", "azure-storage-node 149"},
    {"Double", "100", "100.0", "recorded, Python SDK"},
    {"Double", R"("NaN")", "NaN", "documented form"},
    {"Boolean", R"("False")", "false", "recorded, Python SDK"},
};

} // namespace

TEST_CASE("sent literals: each witnessed form is stored as the service stores it") {
    detail::entity_reader reader;
    for (accepted const& each : list) {
        CAPTURE(each.json, each.source);
        std::string const annotation =
            each.type.empty() ? std::string{} : text::joined({R"("A@odata.type":"Edm.)", each.type, R"(",)"});
        detail::sent_entity sent;
        auto const read = reader.read(
            text::joined({R"({"PartitionKey":"p","RowKey":"r",)", annotation, R"("A":)", each.json, "}"}), sent);
        CHECK(read.has_value() == !each.stored.empty());
        if (!read) { continue; }
        auto const found = row_view{"p", "r", sent.payload}.find("A");
        REQUIRE(found);
        if (found->type() == edm_type::date_time) {
            CHECK(found->as_date_time().to_string(false) == each.stored);
        } else if (found->type() == edm_type::float64 && each.stored != "NaN") {
            CHECK(each.stored.find('.') != std::string_view::npos);
            CHECK(found->as_float64() == std::stod(std::string{each.stored}));
        } else if (each.stored != "NaN") {
            CHECK(found->type() != edm_type::float64);
        }
    }
}

TEST_CASE("sent literals: filters have the forms that the service accepts") {
    auto const code = [](std::string_view text) {
        auto const read = detail::read_odata_filter(text);
        return read ? std::string{"good"} : read.error().server_message;
    };
    CHECK(code("A eq datetime'2021-04-01T01:01:01.000000001Z'") == "good");
    CHECK(code("A eq datetime'2021-04-01T01:01Z'") == "good");
    CHECK(code("A eq datetime'2021-04-01T01:01:01.00000000xZ'") == "InvalidInput");
    CHECK(code("A ge 1574726400000L") == "good");
    CHECK(code("A ge 1574726400000") == "InvalidInput"); // AzureStorageExplorer 1382, azure-storage-node 316
    CHECK(detail::read_odata_filter("A ge 1574726400000").error().message.find("ends with L") != std::string::npos);
    CHECK(code("A eq 2147483647") == "good");
    CHECK(code("A eq -2147483649") == "InvalidInput");
    CHECK(code("A eq True") == "InvalidInput"); // all parts of a filter are case-sensitive
    CHECK(code("A eq FALSE") == "InvalidInput");
    CHECK(code("A eq B") == "NotImplemented");
}
