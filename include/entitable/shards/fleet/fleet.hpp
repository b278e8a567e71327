// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `fleet`: operations on all stores of a map.
///
///     fleet all{cloud};
///     auto freed = all.each([](std::string_view store, any_store const& there) -> result<std::size_t> { ... });
///     if (!freed->good()) { all.resume(*freed, again); } // only the stores that failed

#include <entitable/core/function_ref.hpp>
#include <entitable/shards/fleet/outcomes.hpp>
#include <entitable/shards/route/sharded.hpp>

#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a fleet.
struct fleet_options {
    std::size_t in_flight{16};           ///< stores processed concurrently, each on its own thread; at least one
    std::vector<std::string> stores{};   ///< stores in addition to the stores of the map: new stores without shards
    clock* time{&detail::lease_clock()}; ///< used for waiting for leases; must outlive the fleet
};

namespace detail {

/// Calls `body(index)` for each index, several concurrently, and returns after all calls have ended. If a call throws, rethrows after all calls have
/// ended.
void in_parallel(std::size_t count, std::size_t in_flight, function_ref<void(std::size_t)> body);

} // namespace detail

/// All stores of a map. A cheap handle.
///
/// Thread safety: safe to use from several threads. It runs threads only while one of its functions is being called.
class fleet {
public:
    /// Sends nothing yet.
    explicit fleet(sharded cloud, fleet_options options = {})
        : cloud_(std::move(cloud)), options_(std::move(options)) {}

    [[nodiscard]] sharded const& cloud() const noexcept { return cloud_; }           ///< the tables over all stores
    [[nodiscard]] fleet_options const& options() const noexcept { return options_; } ///< from the constructor
    /// Returns the names of all stores, sorted: those currently in the map, and those of the options. Errors: those of the map.
    [[nodiscard]] result<std::vector<std::string>> stores() const;
    /// Returns the store with this name. Errors: those of the function that opens stores.
    [[nodiscard]] result<any_store> store(std::string_view name) const;

    /// Calls `body(name, store)` for every store, several concurrently, and collects the results: `result<T>`. A store that cannot be
    /// opened has that error as its result. If a body throws, rethrows after all calls have ended. Errors: those of the map, returned
    /// before the first call.
    template <class Body>
    [[nodiscard]] auto each(Body const& body) const {
        using answer = typename std::invoke_result_t<Body const&, std::string_view, any_store const&>::value_type;
        auto names = stores();
        if (!names) { return result<fleet_outcomes<answer>>{std::move(names).as_failure()}; }
        std::vector<store_outcome<answer>> all;
        for (std::string& name : *names) {
            all.push_back({std::move(name), failure{error_code::cancelled, "no request was sent"}});
        }
        fleet_outcomes<answer> outcomes{std::move(all)};
        resume(outcomes, body);
        return result<fleet_outcomes<answer>>{std::move(outcomes)};
    }
    /// Calls `body` again only for the stores that failed.
    template <class T, class Body>
    void resume(fleet_outcomes<T>& outcomes, Body const& body) const {
        std::vector<store_outcome<T>*> left;
        for (store_outcome<T>& each : outcomes.stores()) {
            if (!each.outcome) { left.push_back(&each); }
        }
        detail::in_parallel(left.size(), options_.in_flight, [&](std::size_t at) {
            auto const there = store(left[at]->store);
            if (!there) {
                left[at]->outcome = failure{there.error()};
                return;
            }
            left[at]->outcome = body(std::string_view{left[at]->store}, *there);
        });
    }

private:
    sharded cloud_;
    fleet_options options_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/fleet.ipp>
#endif
