// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The conformance suite: the behaviours of every transport, as functions that need no test framework. For the author of a backend:
///
///     auto const failed = testing::conformance::run([] { return my_backend{}; });
///     for (auto const& each : failed) std::puts(each.c_str());
///     return failed.empty() ? 0 : 1;
///
/// Differences between services are read from the profile of the transport. Pages may be empty and of any size, and a deleted table may
/// reserve its name for a while: the suite accepts everything that `transport` allows. Some behaviours use two threads.
///
/// The behaviours take long to compile. If the library is compiled separately, `entitable/src/testing.hpp` contains their bodies: include
/// it once in the test program that runs them.

#include <entitable/core/function_ref.hpp>
#include <entitable/testing/conformance/trial.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// Returns all behaviours, in the order in which failures should be fixed.
[[nodiscard]] ENTITABLE_DECL std::vector<behaviour> behaviours();

/// Tries one behaviour on a transport, or on two handles of one store. Returns the failures, each as "behaviour: expectation, result", with
/// a line for the request; the first failure also has a line for the contract. The tables of the behaviour remain; their names begin with
/// `prefix`, which has at most 20 letters and digits and begins with a letter.
[[nodiscard]] ENTITABLE_DECL std::vector<std::string> try_behaviour(
    behaviour const& tried, handles const& store, std::string prefix = "conform");

/// Tries all behaviours. `make` returns a transport for each behaviour, or two handles of one store; it may return the same store every
/// time if that store has no tables whose names begin with `prefix`.
[[nodiscard]] ENTITABLE_DECL std::vector<std::string> run(
    function_ref<handles()> make, std::string const& prefix = "conform");

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/testing/impl/conformance.ipp>
#endif
