// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tests the suite: a backend with one defect after another, and the behaviour that finds it.

#include "spoiled_backend.hpp"
#include <entitable/memory.hpp>
#include <entitable/testing/conformance.hpp>
#include <entitable/testing/conformance/limits.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>

#include <algorithm>
#include <cstdio>

using namespace entitable;
using namespace entitable_test;
namespace conformance = testing::conformance;

namespace {

conformance::behaviour behaviour_named(std::string_view name) {
    for (conformance::behaviour const& each : conformance::behaviours()) {
        if (each.name == name) { return each; }
    }
    FAIL("there is no behaviour " << name);
    return {};
}

/// Whether a behaviour fails on a fresh backend with the defect.
bool finds(conformance::behaviour const& each, defect what) {
    // Threads that share one processor may not meet for a while.
    int const tries = each.name.starts_with("two threads") || each.name == "a transaction is seen as a whole" ? 10 : 1;
    bool found = false;
    for (int tried = 0; tried < tries && !found; ++tried) {
        found = !conformance::try_behaviour(each, spoiled_backend{what}).empty();
    }
    return found;
}

/// The behaviours that find a defect, one after the other.
std::string found_by(defect what) {
    std::string names;
    for (conformance::behaviour const& each : conformance::behaviours()) {
        if (finds(each, what)) {
            names += names.empty() ? "" : ", ";
            names += each.name;
        }
    }
    return names;
}

} // namespace

TEST_CASE("conformance: each defect is found by the behaviour it violates") {
    bool const all = rounds(0, 1) == 1; // other behaviours that find it
    for (named_defect const& each : defects) {
        bool const found = finds(behaviour_named(each.behaviour), each.what);
        std::string const behaviours = found && !all ? std::string{each.behaviour} : found_by(each.what);
        std::printf("%-42s is found by: %s\n", std::string{each.name}.c_str(), behaviours.c_str());
        CAPTURE(each.name, each.behaviour, behaviours);
        CHECK(found);
    }
}

TEST_CASE("conformance: a wrapper without a defect passes, even with its own pages and ETags") {
    std::set<std::string_view> slow; // equal for all three
    for (conformance::behaviour const& each : conformance::behaviours_of_limits) { slow.insert(each.name); }
    for (defect const none : {defect::none, defect::none_own_pages, defect::none_own_etags}) {
        for (conformance::behaviour const& each : conformance::behaviours()) {
            if (none != defect::none && slow.count(each.name) != 0) { continue; }
            for (std::string const& failure : conformance::try_behaviour(each, spoiled_backend{none})) {
                FAIL_CHECK(failure.substr(0, 2000));
            }
        }
    }
}

TEST_CASE("conformance: each behaviour names its contract and finds a defect") {
    std::set<std::string_view> names;
    for (conformance::behaviour const& each : conformance::behaviours()) {
        CAPTURE(each.name);
        CHECK(names.insert(each.name).second);
        CHECK(each.contract.ends_with(")")); // the contract names its source
        // Those about system rows test the library over a correct backend.
        CHECK((each.name.find("system rows") != std::string_view::npos ||
            std::any_of(std::begin(defects), std::end(defects),
                [&](named_defect const& one) { return one.behaviour == each.name; })));
    }
}

TEST_CASE("conformance: a failure reports the behaviour, the request, the expected answer, the actual answer, and the "
          "contract once") {
    auto const failures = conformance::try_behaviour(
        behaviour_named("insert needs a free key"), spoiled_backend{defect::insert_overwrites}, "Shown");
    REQUIRE(failures.size() == 2);
    CHECK(failures[0] ==
        "insert needs a free key: insert a second time: expected EntityAlreadyExists, got success\n"
        "    request: write_entity insert \"p\" / \"r\" of Shownt1\n"
        "    contract: EntityAlreadyExists, and the stored entity is unchanged (Insert Entity)");
    CHECK_THAT(failures[1],
        StartsWith("insert needs a free key: after a refused insert: the contents differ:\n"
                   "~ Shownt1 \"p\" / \"r\" "));
    CHECK_THAT(failures[1], ContainsSubstring("A: Edm.Int32 1 -> Edm.Int32 2\n"));
    CHECK_THAT(failures[1], ContainsSubstring("\n    request: "));
    CHECK_THAT(failures[1], !ContainsSubstring("contract:"));
}

TEST_CASE("conformance: two handles to different stores are detected") {
    auto const failures = conformance::run([] { return conformance::handles{memory_backend{}, memory_backend{}}; });
    REQUIRE_FALSE(failures.empty());
    CHECK_THAT(failures.front(), StartsWith("copies share one store"));
}
