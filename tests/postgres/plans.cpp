// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The plan of the server for each statement: every look-up of rows or partitions uses the whole key, regardless of the statistics that the server
// has. A statement that reads a partition to write one of its rows returns the right answers, so only this test detects it.

#include <entitable/entitable.hpp>
#include <entitable/local/postgres/detail/pg_schema.hpp>
#include <entitable/postgres.hpp>

#include <support/catch.hpp>
#include <support/postgres_server.hpp>

#include <cstdio>
#include <vector>

using namespace entitable;
using namespace entitable_test;
using detail::pg_statement;

namespace {

struct mark {
    std::string place;
    std::int32_t number{};
};
ENTITABLE(mark, partition_key(place), row_key(number))

/// The output of psql.
std::string printed(std::string const& text) {
    std::string said;
    std::FILE* const from = ::popen(("psql -X -q -A -t \"$ENTITABLE_POSTGRES\" -c \"" + text + "\" 2>&1").c_str(), "r");
    REQUIRE(from != nullptr);
    char buffer[4096];
    while (std::size_t const got = std::fread(buffer, 1, sizeof buffer, from)) { said.append(buffer, got); }
    ::pclose(from);
    return said;
}

/// A `$` as a shell reads it between quotation marks.
std::string for_shell(std::string const& text) {
    std::string made;
    for (char const each : text) { made += each == '$' ? "\\$" : std::string(1, each); }
    return made;
}

} // namespace

namespace {

/// "-c a=b -c c=d" as statements.
std::string as_settings(std::string options) {
    std::string made;
    for (std::size_t at = options.find("-c "); at != std::string::npos; at = options.find("-c ", at)) {
        at += 3;
        std::size_t const end = std::min(options.find(' ', at), options.size());
        made += "SET " + options.substr(at, end - at) + "; ";
    }
    return made;
}

} // namespace

TEST_CASE("postgres: statements find rows by the whole key") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto const backend = postgres_backend::connect(postgres_server(), options).value();
    table<mark> const marks{backend, "marks"};
    marks.create().value();
    struct statement {
        pg_statement which;
        char const* values;
        char const* relation;
        char const* condition;
    };
    std::vector<statement> const all{
        {pg_statement::read_rows, "'t', 'p', '{a,b}'", " on entities r", "AND (row_key = k.row_key))"},
        {pg_statement::read_row, "1, 'p', 'a'", " on entities", "AND (row_key = "},
        {pg_statement::get, "'t', 'p', 'a'", " on entities r", "AND (row_key = "},
        {pg_statement::get_many, "'t', '{p,p}', '{a,b}'", " on entities r", "AND (row_key = k.r))"},
        {pg_statement::replace, "'t', 'p', 'a', 'v', 7, 8", " on entities", "AND (row_key = "},
        {pg_statement::remove, "'t', 'p', 'a', 8, 1, 2", " on entities", "AND (row_key = "},
        {pg_statement::trace, "'t', 'p', 'a'", " on entities r", "AND (row_key = "},
        {pg_statement::erase, "1, 'p', 'a'", " on entities", "AND (row_key = "},
        {pg_statement::erase_many, "1, 'p', '{a,b}'", " on entities r", "AND (row_key = k.row_key))"},
        {pg_statement::count_partition, "'t', 'p', 'a', 'b'", " on entities e", "AND (partition_key = "},
        {pg_statement::count_rows, "'t', 'p', 'a', 'b', 'a', 'b'", " on entities e", "AND (row_key < "},
        {pg_statement::scan_partition, "'t', 'p', 'a', 9", " on entities", "AND (row_key >= "},
        {pg_statement::scan_partition_until, "'t', 'p', 'a', 9, 'b'", " on entities", "AND (row_key <= "},
        {pg_statement::scan_from, "'t', 'p', 'a', 9", " on entities", "AND (ROW(partition_key, row_key) >= "},
        {pg_statement::scan_until, "'t', 'p', 'a', 9, 'q'", " on entities", "AND (partition_key <= "},
    };
    detail::pg_statements const statements{options.schema};
    auto const check_all = [&](char const* when) {
        for (statement const& each : all) {
            std::string const said = printed(as_settings(detail::pg_session_options(options)) + "PREPARE e AS " +
                for_shell(statements.text(each.which)) + "; EXPLAIN (COSTS OFF) EXECUTE e (" + each.values + ")");
            INFO(when << "\n" << said);
            std::string const scan =
                said.find("Index Only Scan") == std::string::npos ? "Index Scan" : "Index Only Scan";
            std::size_t const at = said.find(scan + " using entities_pkey" + each.relation);
            REQUIRE(at != std::string::npos);
            std::string const next = said.substr(said.find('\n', at) + 1);
            std::string const line = next.substr(0, next.find('\n'));
            CHECK(line.find("Index Cond: ((table_id = ") != std::string::npos);
            CHECK(line.find(each.condition) != std::string::npos);
            // Conditions of a write are tested on the row that was found; locks are taken by conditions on the table.
            bool const has_condition = each.which == pg_statement::replace || each.which == pg_statement::remove;
            CHECK((has_condition || said.find("Filter:") == std::string::npos));
            CHECK(said.find("Join Filter:") == std::string::npos);
        }
    };
    check_all("of new tables");
    for (std::int32_t place = 0; place < 3; ++place) {
        auto batch = marks.batch();
        for (std::int32_t number = 0; number < 50; ++number) { batch.insert({"p" + std::to_string(place), number}); }
        batch.submit().value();
    }
    printed("ANALYZE " + options.schema + ".entities");
    check_all("of small tables that the server knows");
}
