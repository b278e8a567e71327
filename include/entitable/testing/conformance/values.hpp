// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours of values: each type at its limits and in the forms that stores and wire formats tend to change.

#include <entitable/testing/conformance/trial.hpp>

#include <limits>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// Returns a row with a value of each type; `variant` 0 holds zeros, 1 ordinary values, 2 and 3 the limits of the types.
[[nodiscard]] inline row row_of_all_types(std::string_view partition_key, std::string_view row_key, int variant) {
    bool const ordinary = variant == 1;
    bool const least = variant == 2;
    guid id;
    id.bytes.fill(static_cast<unsigned char>(ordinary ? 0x42 : variant == 3 ? 0xFF : 0));
    std::string const id_bytes{reinterpret_cast<char const*>(id.bytes.data()), id.bytes.size()};
    std::string const text = ordinary ? "J\xC3\xBCrgen O'Hara \xF0\x9F\x98\x80" : variant == 3 ? "\x01\n\t\"\\" : "";
    std::int32_t const number = ordinary ? -7 : least ? INT32_MIN : variant == 3 ? INT32_MAX : 0;
    std::int64_t const large = ordinary ? 5'000'000'000 : least ? INT64_MIN : variant == 3 ? INT64_MAX : 0;
    double const real = ordinary ? 3.0 : least ? -1.7976931348623157e308 : variant == 3 ? 5e-324 : 0.0;
    std::int64_t const ticks = ordinary ? 131'974'500'001'234'567 : variant == 3 ? date_time::max_ticks : 0;
    return make_row(partition_key, row_key,
        {{"String", text}, {"Int32", number}, {"Int64", large}, {"Double", real}, {"Boolean", ordinary},
            {"DateTime", date_time{ticks}}, {"Guid", value_view{edm_type::guid, std::string_view{id_bytes}}},
            {"Binary", value_view{edm_type::binary, std::string_view{text}}}});
}

/// Returns values that stores and wire formats tend to change: a different number, a shorter text, reordered bytes.
[[nodiscard]] inline std::vector<named_value> values_often_changed(std::size_t max_string_units) {
    using limits = std::numeric_limits<double>;
    std::string every_byte;
    for (int byte = 0; byte < 256; ++byte) { every_byte += static_cast<char>(byte); }
    std::string_view const bytes{every_byte};
    return {
        // Integers that a double cannot represent, and small integers that must not change their type.
        {"Int64Odd", std::int64_t{9'007'199'254'740'993}},
        {"Int64OddBelow", std::int64_t{-9'007'199'254'740'993}},
        {"Int64Small", std::int64_t{1}},
        {"Int64Beyond32", std::int64_t{2'147'483'648}},
        {"Int32One", 1},
        {"True", true},
        {"False", false},
        // Doubles that JSON cannot express, that need 17 digits, or that look like integers.
        {"Infinity", limits::infinity()},
        {"InfinityBelow", -limits::infinity()},
        {"NaN", limits::quiet_NaN()},
        {"Tenth", 0.1},
        {"Digits17", 1.0000000000000002},
        {"Third", 1.0 / 3},
        {"Large", 1e300},
        {"Whole", 123456789012345680.0},
        {"Four", 4.0},
        {"Normal", 2.2250738585072014e-308},
        {"Denormal", 2.2250738585072009e-308},
        // Text.
        {"Nul", std::string("a\0b\0", 4)},
        {"Blanks", "  before and after  "},
        {"LineEnds", "1\r\n2\n3\r4"},
        {"Decomposed", "e\xCC\x81"},
        {"Composed", "\xC3\xA9"},
        {"LikeNumber", "007"},
        {"LikeTime", "2020-01-01T00:00:00Z"},
        {"LikeNothing", "null"},
        {"Markup", "<a b='1'>&amp;</a>]]>"},
        {"Noncharacter", "\xEF\xBF\xBE"},
        {"Long", times(std::min<std::size_t>(1'000, max_string_units - 3), "x") + "end"},
        // Times, which are ticks of 100 ns since 1601.
        {"FirstTick", date_time{1}},
        {"Before1970", date_time{date_time::unix_epoch - 1}},
        {"In1970", date_time{date_time::unix_epoch}},
        {"Tick", date_time{131'974'500'001'234'567}},
        {"LastTick", date_time{date_time::max_ticks}},
        // Bytes in order, including bytes that terminate text.
        {"Guid", value_view{edm_type::guid, bytes.substr(0, 16)}},
        {"GuidHigh", value_view{edm_type::guid, bytes.substr(240)}},
        {"EveryByte", value_view{edm_type::binary, bytes}},
        {"Zeros", value_view{edm_type::binary, std::string_view{"\0\0\0", 3}}},
    };
}

inline void every_type_comes_back(trial& t) {
    std::string const table = t.new_table();
    for (int variant = 0; variant < 4; ++variant) {
        std::string const text = "variant " + std::to_string(variant);
        row const entity = row_of_all_types("types", "r" + std::to_string(variant), variant);
        t.yes(t.write(table, mutation::insert(entity)), text);
        t.holds(table, entity, text);
        // Stores the values by a merge into a missing entity, and by a merge over values of other types.
        row const other = row_of_all_types("types", "m" + std::to_string(variant), variant);
        t.put(table, make_row("types", other.row_key(), {{"String", 1}, {"Int32", "text"}, {"Boolean", 1.5}}));
        t.yes(t.write(table, mutation::merge(other, any_etag)), text + ", merged");
        t.holds(table, other, text + ", merged");
    }
    row const zero = make_row("types", "zero", {{"D", -0.0}});
    t.put(table, zero);
    t.holds(table, zero, "the sign of zero");
}

inline void no_value_is_changed(trial& t) {
    std::string const table = t.new_table();
    auto const all = values_often_changed(t.limits().max_string_units);
    contents expected;
    for (std::size_t from = 0; from < all.size();) {
        std::size_t const until = (std::min)(all.size(), from + t.limits().max_properties);
        auto const with_values = [&](std::string_view key) {
            row_builder entity{"p", text::joined({key, padded(from)})};
            for (std::size_t index = from; index < until; ++index) { entity.add(all[index].name, all[index].held); }
            row made = entity.build();
            expected.tables[table].emplace(std::pair{"p", std::string{made.row_key()}}, made);
            return made;
        };
        row const alone = with_values("alone");
        row const merged = with_values("merged");
        t.yes(t.write(table, mutation::insert(alone)), "an insert");
        t.put(table, make_row("p", merged.row_key()));
        t.yes(t.send(transact{table, {mutation::insert(with_values("together")), mutation::merge(merged, any_etag)}}),
            "a transaction");
        t.holds(table, alone, "read alone");
        from = until;
    }
    t.expect(same_contents(expected, t.now(table)), "read by a query");
}

inline constexpr behaviour behaviours_of_values[] = {
    {"values of every type round-trip", every_type_comes_back,
        "eight types, each with all its values, including zero and empty (Understanding the Table service data model)"},
    {"no value is changed", no_value_is_changed,
        "every read returns the written value, bit by bit and with its type (row.hpp)"},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
