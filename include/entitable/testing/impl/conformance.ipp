// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/testing/conformance.hpp>
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

ENTITABLE_DECL std::vector<behaviour> behaviours() {
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

ENTITABLE_DECL std::vector<std::string> try_behaviour(
    behaviour const& tried, handles const& store, std::string prefix) {
    trial t{store, std::move(prefix)};
    tried.run(t);
    std::vector<std::string> failures;
    for (std::string const& each : t.failures()) { failures.push_back(text::joined({tried.name, ": ", each})); }
    if (!failures.empty() && !tried.contract.empty()) {
        failures.front() += text::joined({"\n    contract: ", tried.contract});
    }
    return failures;
}

ENTITABLE_DECL std::vector<std::string> run(function_ref<handles()> make, std::string const& prefix) {
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
