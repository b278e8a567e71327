// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A filter on many rows gives the same as `satisfies` for each row: rows of alternating layouts, absent and repeated properties, every type,
// damaged and truncated rows.

#include <entitable/core/request/filter.hpp>
#include <entitable/core/row/detail/payload.hpp>
#include <entitable/core/row/row.hpp>
#include <entitable/local/detail/row_filter.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace entitable;

namespace {

constexpr edm_type types[] = {edm_type::string, edm_type::boolean, edm_type::int32, edm_type::int64, edm_type::float64,
    edm_type::date_time, edm_type::guid, edm_type::binary};

struct random_rows {
    std::mt19937 random;

    std::size_t below(std::size_t limit) { return random() % limit; }
    edm_type type() { return types[below(2) == 0 ? 0 : below(std::size(types))]; }
    std::string name() { return std::string(1, static_cast<char>('a' + below(4))); }
    value value_of(edm_type type) {
        switch (type) {
            case edm_type::string:
                return value{value_view{std::string_view{"ppqqppqqpqpq"}.substr(below(4), below(8))}};
            case edm_type::boolean: return value{value_view{below(2) == 0}};
            case edm_type::int32: return value{value_view{static_cast<std::int32_t>(below(3))}};
            case edm_type::int64: return value{value_view{static_cast<std::int64_t>(below(3))}};
            case edm_type::float64: return value{value_view{static_cast<double>(below(3))}};
            case edm_type::date_time: return value{value_view{date_time{static_cast<std::int64_t>(below(3))}}};
            case edm_type::guid: {
                std::string bytes(16, '\0');
                bytes.back() = static_cast<char>(below(3));
                return value{value_view{edm_type::guid, std::string_view{bytes}}};
            }
            default: return value{value_view{edm_type::binary, std::string_view{"bytes"}.substr(0, below(5))}};
        }
    }
    /// The names, types and presence bits of a layout, and its rows.
    std::vector<std::string> rows(std::size_t count) {
        struct column {
            std::string name;
            edm_type type;
            bool nullable;
        };
        std::vector<column> columns(below(6));
        for (column& each : columns) { each = {name(), type(), below(3) == 0}; }
        std::vector<std::string> made;
        for (; count > 0; --count) {
            std::string descriptor;
            std::string values;
            for (column const& each : columns) {
                value const held = value_of(each.type);
                bool const present = !each.nullable || below(3) != 0;
                detail::append_property(
                    descriptor, values, {each.name, each.type, present, held.view()}, each.nullable);
            }
            made.push_back(detail::make_payload(static_cast<std::uint16_t>(columns.size()), descriptor, values));
        }
        return made;
    }
    filter condition() {
        filter made;
        std::size_t const comparisons = 1 + below(3);
        for (std::size_t index = 0; index < comparisons; ++index) {
            bool const on_key = below(6) == 0;
            filter_node node{static_cast<filter_operator>(below(6)), on_key ? "RowKey" : name(),
                value_of(on_key ? edm_type::string : type())};
            made.nodes.push_back(std::move(node));
            if (below(3) == 0) { made.nodes.push_back({filter_operator::negation, {}, {}}); }
            if (index > 0) {
                made.nodes.push_back({below(2) == 0 ? filter_operator::all_of : filter_operator::any_of, {}, {}});
            }
        }
        return made;
    }
};

} // namespace

TEST_CASE("a filter on many rows accepts the same rows as one comparison by name for each") {
    random_rows rows{std::mt19937{20261127}};
    std::size_t accepted = 0;
    for (int round = 0; round < 2'000; ++round) {
        filter const condition = rows.condition();
        detail::row_filter many{condition};
        for (int layout = 0; layout < 4; ++layout) {
            for (std::string& payload : rows.rows(1 + rows.below(6))) {
                if (rows.below(8) == 0) { payload.resize(rows.below(payload.size() + 1)); }
                if (rows.below(4) == 0) { payload.resize(payload.size() - (std::min)(payload.size(), rows.below(6))); }
                if (rows.below(8) == 0 && payload.size() > 2) { payload[2] = static_cast<char>(rows.below(6)); }
                if (rows.below(4) == 0 && !payload.empty()) {
                    payload[rows.below(payload.size())] = static_cast<char>(rows.below(256));
                }
                payload.shrink_to_fit(); // so that the address sanitizer finds reads behind the end
                row_view const row{"partition", "pq", payload};
                bool const wanted = satisfies(row, condition);
                CAPTURE(round, layout, condition.to_string());
                REQUIRE(many.accepts(row) == wanted);
                accepted += wanted ? 1 : 0;
            }
        }
    }
    CHECK(accepted > 5'000);
    CHECK(accepted < 25'000);
}
