// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Repeats a call after an error, with the error at each request in turn.

#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/faulty.hpp>

#include <support/catch.hpp>

#include <cstdint>
#include <string>

namespace entitable_test {

using faulty_store = entitable::testing::faulty<entitable::memory_backend>;

/// The faults: nothing was applied; it was applied, and the answer was lost.
inline entitable::testing::fault fault_of(bool applied) {
    return applied ? entitable::testing::fault::lost_after() : entitable::testing::fault::busy();
}

/// Calls `trial(store, plan)` on fresh stores. `plan()` makes the next request with that number fail, from 1 up, until there is none. `run`
/// prepares the store, calls `plan`, and checks that a repeated call returns an error or everything.
template <class Trial>
void with_each_request_failing(Trial const& trial, std::uint64_t most = 400) {
    for (bool const applied : {false, true}) {
        for (std::uint64_t number = 1;; ++number) {
            REQUIRE(number < most);
            INFO("request " << number << (applied ? " is lost" : " is refused"));
            faulty_store const store{entitable::memory_backend{}};
            trial(store, [&] { store.plan({fault_of(applied), number}); });
            if (!store.all_fired()) { break; }
        }
    }
}

/// Repeats a call until it succeeds and returns its answer; fails the test if it never does.
template <class Ask>
auto asked_until_success(Ask const& ask) {
    for (int asked = 0;; ++asked) {
        auto answer = ask();
        if (answer) { return answer; }
        INFO(answer.error().to_string());
        REQUIRE(asked < 5);
    }
}

} // namespace entitable_test
