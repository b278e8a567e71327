// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/load/detail/migration_position.hpp>

#include <support/catch.hpp>

using namespace entitable;

TEST_CASE("stored format: the checkpoint of a migration, version 1") {
    std::string const text = "entitable migration 1\n"
                             "table books\n"
                             "input 50%25\n"
                             "token 1!0123456789abcdef!0!40!a%2Fb\n"
                             "read 40\n"
                             "written 38\n"
                             "already_there 1\n"
                             "refused 1\n"
                             "bytes 9000\n"
                             "sum 469ebdd90f51e805\n";
    detail::migration_position const position{"1!0123456789abcdef!0!40!a%2Fb", 40, {38, 1, 0, 1, 9000}};
    CHECK(position.text("books", "50%") == text);
    auto const read = detail::read_migration_position(text, "books", "50%").value();
    CHECK(read.token == position.token);
    CHECK(read.read == 40);
    CHECK(read.counts.written == 38);
    CHECK(read.counts.already_there == 1);
    CHECK(read.counts.refused == 1);
    CHECK(read.counts.bytes == 9000);
    for (std::size_t at = 0; at < text.size(); ++at) { // each byte counts
        std::string damaged = text;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        CHECK(detail::read_migration_position(damaged, "books", "50%").error().code == error_code::checkpoint_invalid);
    }
}
