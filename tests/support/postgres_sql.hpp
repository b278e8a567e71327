// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Statements that a test sends to the server by psql.

#include <support/catch.hpp>
#include <support/postgres_server.hpp>
#include <support/temporary_folder.hpp>

#include <cstdio>
#include <fstream>
#include <string>

namespace entitable_test {

/// The output of psql for statements in a schema, without line ends at its end.
inline std::string sql(entitable::postgres_options const& options, std::string const& text) {
    temporary_folder const folder;
    std::ofstream{folder / "text.sql"} << "SET client_min_messages = warning; SET search_path = " << options.schema
                                       << ";\n"
                                       << text;
    std::FILE* const from = ::popen(
        ("psql -X -q -A -t -v ON_ERROR_STOP=1 \"$ENTITABLE_POSTGRES\" -f " + (folder / "text.sql") + " 2>&1").c_str(),
        "r");
    REQUIRE(from != nullptr);
    std::string said;
    char buffer[4096];
    while (std::size_t const got = std::fread(buffer, 1, sizeof buffer, from)) { said.append(buffer, got); }
    INFO(said);
    REQUIRE(::pclose(from) == 0);
    while (!said.empty() && said.back() == '\n') { said.pop_back(); }
    return said;
}

} // namespace entitable_test
