// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/wire/detail/answer_writer.hpp>
#include <entitable/cloud/wire/detail/json_writer.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>

#include <limits>

using namespace entitable;
using detail::metadata_level;

namespace {

/// A row of one of several kinds, some of which differ only in a name or a type.
row some_row(int number) {
    std::string const key = std::to_string(number);
    row_builder to{"p\"" + key, key};
    switch (number % 7) {
        case 0:
        case 1: // twice the same kind, alternating with an absent value
            to.add("Whole", value_view{number});
            to.add(
                "Gone", edm_type::int64, number % 2 == 0 ? std::optional{value_view{std::int64_t{5}}} : std::nullopt);
            to.add("Real", value_view{number % 3 == 0 ? std::numeric_limits<double>::infinity() : number * 0.25});
            break;
        case 2: to.add("Whole", value_view{std::int64_t{number}}); break;
        case 3: to.add("a\"b", value_view{date_time{date_time::unix_epoch + number}}); break;
        case 4:
            to.add("Id", value_view{edm_type::guid, std::string_view{"0123456789abcdef"}});
            to.add("Bytes", value_view{edm_type::binary, key});
            break;
        case 5: to.add("Text", value_view{std::string_view{key}}), to.add("Yes", value_view{true}); break;
        default: break; // no property
    }
    row const made = to.build();
    std::string payload{made.payload()};
    set_timestamp(payload, {date_time::unix_epoch + number * 3'333'333LL});
    return row{made.partition_key(), made.row_key(), payload};
}

} // namespace

TEST_CASE("an entity in a page is written as if it were alone, whatever precedes it") {
    page rows;
    for (int number = 0; number < 100; ++number) {
        row const each = some_row(number);
        rows.append(each);
        rows.append(some_row(number % 7 == 6 ? 1 : number)); // the same kind twice, or another one
    }
    for (auto const level : {metadata_level::none, metadata_level::minimal, metadata_level::full}) {
        detail::answer_style const style{"http://h/acct", "acct", level};
        std::string whole;
        CHECK(detail::append_answer_page(whole, rows, true, "T", {}, style, "~!policies!") == rows.empty());
        std::string one_by_one;
        for (std::size_t index = 0; index < rows.size(); ++index) {
            // The properties by name, each separately.
            projection names{"PartitionKey", "RowKey", "Timestamp"};
            property_cursor cursor{rows[index].payload};
            property_view property;
            while (cursor.next(property)) {
                if (property.present) { names.emplace_back(property.name); }
            }
            page alone;
            alone.append(rows[index]);
            CHECK_FALSE(detail::append_answer_page(one_by_one, alone, index == 0, "T", names, style, "~!policies!"));
        }
        CHECK(whole == one_by_one);
    }
}
