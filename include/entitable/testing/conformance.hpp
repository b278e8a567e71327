// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The conformance suite: what every transport does, as functions that need no test framework. For the author of a backend:
///
///     auto const failed = testing::conformance::run([] { return my_backend{}; });
///     for (auto const& each : failed) std::puts(each.c_str());
///     return failed.empty() ? 0 : 1;
///
/// What differs between services is read from the profile of the transport. Pages may be empty and of any size, and a deleted
/// table may keep its name for a while: the suite takes all that `transport` allows. Two behaviours use two threads.

#include <entitable/core/function_ref.hpp>
#include <entitable/testing/conformance/calls.hpp>
#include <entitable/testing/conformance/handles.hpp>
#include <entitable/testing/conformance/keys.hpp>
#include <entitable/testing/conformance/limits.hpp>
#include <entitable/testing/conformance/paging.hpp>
#include <entitable/testing/conformance/queries.hpp>
#include <entitable/testing/conformance/system_rows.hpp>
#include <entitable/testing/conformance/tables.hpp>
#include <entitable/testing/conformance/transactions.hpp>
#include <entitable/testing/conformance/values.hpp>
#include <entitable/testing/conformance/writes.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// All behaviours, in the order in which they are best mended.
[[nodiscard]] inline std::vector<behaviour> behaviours() {
    std::vector<behaviour> all;
    auto const add = [&all](auto const& some) { all.insert(all.end(), std::begin(some), std::end(some)); };
    add(behaviours_of_tables);
    add(behaviours_of_writes);
    add(behaviours_of_values);
    add(behaviours_of_transactions);
    add(behaviours_of_keys);
    add(behaviours_of_queries);
    add(behaviours_of_paging);
    add(behaviours_of_limits);
    add(behaviours_of_calls);
    add(behaviours_of_handles);
    add(behaviours_of_system_rows);
    return all;
}

/// Tries one behaviour on a transport, or on two handles of one store. Returns what is wrong, each as "behaviour: what was
/// expected, what came instead", with a line for the request, and with the first a line for the contract. Tables are left behind;
/// their names begin with `prefix`, letters and digits with a letter first, 20 at most.
[[nodiscard]] inline std::vector<std::string> try_behaviour(
    behaviour const& tried, handles const& store, std::string prefix = "conform") {
    trial t{store, std::move(prefix)};
    tried.run(t);
    std::vector<std::string> failures;
    for (std::string const& each : t.failures()) {
        failures.push_back(text::joined({tried.name, ": ", each}));
    }
    if (!failures.empty() && !tried.contract.empty()) {
        failures.front() += text::joined({"\n    contract: ", tried.contract});
    }
    return failures;
}

/// Tries all behaviours. `make` gives a transport for each, or two handles of one store; it may give the same store every time, if
/// that has no tables whose names begin with `prefix`.
[[nodiscard]] inline std::vector<std::string> run(function_ref<handles()> make, std::string const& prefix = "conform") {
    std::vector<std::string> failures;
    std::size_t number = 0;
    for (behaviour const& each : behaviours()) {
        auto const found = try_behaviour(each, make(), prefix + std::to_string(++number));
        failures.insert(failures.end(), found.begin(), found.end());
    }
    return failures;
}

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
