// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Planted defects that the simulation must detect.

#include "simulation.hpp"

#include <support/catch.hpp>
#include <support/long.hpp>

using namespace entitable_test;
using entitable_test::ContainsSubstring;

namespace {

/// The first problem in up to this number of runs.
std::string found(defects wrong, std::uint64_t runs = 50) {
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
        testing::manual_clock time{date_time::from_date(2026, 1, 1)};
        local_options options;
        options.time = &time;
        auto const told = simulation<memory_backend>{seed, memory_backend{options}, time, "Table", wrong}.run(200);
        if (!told.problem.empty()) { return told.problem; }
    }
    return "nothing";
}

} // namespace

TEST_CASE("planted: nothing is reported for a correct client") { CHECK(found({}, rounds(8, 50, 50)) == "nothing"); }

TEST_CASE("planted: an ETag is dropped on merge") {
    CHECK_THAT(found({.drops_etag = true}), ContainsSubstring("twice")); // applied, or drawn: the counter is merged too
}

TEST_CASE("planted: a retry reports the 409 caused by its own insert, the 404 caused by its own removal or the 412 "
          "caused by its own update") {
    CHECK_THAT(found({.reports_own = true}), ContainsSubstring("failed and applied"));
}

TEST_CASE("planted: an unknown effect is reported as none") {
    CHECK_THAT(found({.forgets_unknown = true}), ContainsSubstring("failed and applied"));
}

TEST_CASE("planted: an operation id is used for a different call") {
    CHECK_THAT(found({.reuses_id = true}), ContainsSubstring("an operation id named another write"));
}

TEST_CASE("planted: Retry-After is not capped") {
    CHECK_THAT(found({.waits_any_wish = true}), ContainsSubstring("more than 150 s of virtual time"));
}

TEST_CASE("planted: a number is returned although the answer to its write was lost") {
    CHECK_THAT(found({.old_number = true}), ContainsSubstring("given twice"));
}
