// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/csv.hpp>
#include <entitable/entitable.hpp>
#include <entitable/json_lines.hpp>

#include <support/catch.hpp>

#include <sstream>

using namespace entitable;

namespace {

struct line {
    std::string name;
    std::int32_t number{};
};
ENTITABLE(line, partition_key(name), row_key(number))

/// Whether the range is one error, InvalidInput.
template <class Reader>
bool is_one_error(Reader& reader) {
    std::size_t errors = 0;
    for (auto& each : reader) {
        if (each || each.error().code != error_code::invalid_input) { return false; }
        ++errors;
    }
    return errors == 1;
}

} // namespace

TEST_CASE("moved from: csv_reader is a range of one error") {
    std::istringstream in{"name,number\na,1\n"};
    auto reader = read_csv<line>(in).value();
    csv_reader<line> taken = std::move(reader);
    CHECK(taken.begin()->value().name == "a");
    CHECK(is_one_error(reader)); // NOLINT: the state after a move is tested
    CHECK(reader.report().records == 0);
    CHECK(reader.unknown_columns().empty());
    CHECK(reader.missing_columns().empty());
    CHECK(taken.report().records == 1);
}

TEST_CASE("moved from: json_lines_reader is a range of one error") {
    std::istringstream in{"{\"name\":\"a\",\"number\":1}\n"};
    auto reader = read_json_lines<line>(in);
    json_lines_reader<line> taken = std::move(reader);
    CHECK(taken.begin()->value().name == "a");
    CHECK(is_one_error(reader)); // NOLINT: the state after a move is tested
    CHECK(reader.report().records == 0);
    CHECK(taken.report().records == 1);
}
