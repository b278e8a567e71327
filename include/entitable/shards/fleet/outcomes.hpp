// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `fleet_outcomes<T>`: the results of an operation on each store of a fleet. A fleet operates many stores under one
/// map as a unit.

#include <entitable/core/result.hpp>
#include <entitable/core/text.hpp>

#include <algorithm>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The result of an operation on one store.
template <class T>
struct store_outcome {
    std::string store; ///< its name
    result<T> outcome; ///< outcome of the operation on this store
};

/// One result for each store, sorted by name. A plain value; one thread at a time.
template <class T>
class fleet_outcomes {
public:
    fleet_outcomes() = default; ///< outcomes without stores
    /// Holds the given results.
    explicit fleet_outcomes(std::vector<store_outcome<T>> all) : stores_(std::move(all)) {}

    [[nodiscard]] std::vector<store_outcome<T>> const& stores() const noexcept {
        return stores_;
    } ///< the outcomes of all stores
    [[nodiscard]] std::vector<store_outcome<T>>& stores() noexcept { return stores_; } ///< the outcomes of all stores
    /// Whether all stores succeeded.
    [[nodiscard]] bool good() const noexcept { return failed().empty(); }
    /// Returns the names of the stores that failed.
    [[nodiscard]] std::vector<std::string> failed() const {
        std::vector<std::string> names;
        for (store_outcome<T> const& each : stores_) {
            if (!each.outcome) { names.push_back(each.store); }
        }
        return names;
    }
    /// Succeeds if all stores succeeded; otherwise returns the first error, with the name of its store and the number of failed stores.
    [[nodiscard]] result<void> whole() const {
        for (store_outcome<T> const& each : stores_) {
            if (!each.outcome) {
                error named = each.outcome.error();
                named.message = text::joined({"the store ", each.store, " (", std::to_string(failed().size()), " of ",
                    std::to_string(stores_.size()), " stores failed): ", named.message});
                return failure{std::move(named)};
            }
        }
        return {};
    }
    /// Returns the results as text, one line per store: "alpha: done" or "beta: StoreBusy (...): ...".
    [[nodiscard]] std::string to_string() const {
        std::string out;
        for (store_outcome<T> const& each : stores_) {
            out += text::joined(
                {each.store, ": ", each.outcome ? std::string{"done"} : each.outcome.error().to_string(), "\n"});
        }
        return out;
    }

private:
    std::vector<store_outcome<T>> stores_;
};

ENTITABLE_END_NAMESPACE
