// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The conformance suite on the file backend.

#include <entitable/file.hpp>
#include <entitable/testing/conformance.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

void conforms(file_options const& options) {
    temporary_folder const folder;
    std::size_t files = 0;
    auto const make = [&]() -> any_store { return file_backend{folder / (std::to_string(files++) + ".db"), options}; };
    for (std::string const& failure : testing::conformance::run(make)) { FAIL_CHECK(failure.substr(0, 2000)); }
    CHECK(files > 20);
}

} // namespace

TEST_CASE("conformance: file_backend") { conforms({}); }

TEST_CASE("conformance: file_backend with a rollback journal and relaxed durability") {
    file_options options;
    options.journal = file_journal::rollback;
    options.durability = durability::relaxed;
    conforms(options);
}

TEST_CASE("conformance: one file_backend passes all behaviours, in nasty mode with small pages") {
    temporary_folder const folder;
    file_options options;
    options.local.page_bytes = 1;
    options.local.page_examined = 3;
    options.local.nasty.emplace().seed = 7;
    conforms(options);
    file_backend const store{folder / "one.db"};
    for (std::string const& failure : testing::conformance::run([&]() -> any_store { return store; })) {
        FAIL_CHECK(failure.substr(0, 2000));
    }
    auto const report = store.verify();
    REQUIRE(report);
    CHECK(report->sound());
}
