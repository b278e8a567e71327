// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `fleet`: operations on all stores of a map.
///
///     fleet all{cloud};
///     auto freed = all.each([](std::string_view store, any_transport const& there) -> result<std::size_t> { ... });
///     if (!freed->complete()) { all.resume(*freed, again); } // the stores that failed, and no others

#include <entitable/core/function_ref.hpp>
#include <entitable/fleet/outcomes.hpp>
#include <entitable/shards/sharded.hpp>

#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a fleet.
struct fleet_options {
    std::size_t in_flight{16};         ///< stores that are worked on at once, each on a thread of its own; one at least
    std::vector<std::string> stores{}; ///< besides those that the map names: new ones, which hold no shard yet
    clock* time{&detail::lease_clock()}; ///< by which leases are waited for; outlives the fleet
};

namespace detail {

/// Calls `body(index)` for each index, several at once, and returns when all have returned. What one of them throws is thrown when all have.
void in_parallel(std::size_t count, std::size_t in_flight, function_ref<void(std::size_t)> body);

} // namespace detail

/// All stores of a map. A cheap handle.
///
/// Thread safety: safe to use from several threads. It uses threads of its own only while one of its functions runs.
class fleet {
public:
    /// Sends nothing yet.
    explicit fleet(sharded cloud, fleet_options options = {})
        : cloud_(std::move(cloud)), options_(std::move(options)) {}

    [[nodiscard]] sharded const& cloud() const noexcept { return cloud_; }           ///< the tables over all stores
    [[nodiscard]] fleet_options const& options() const noexcept { return options_; } ///< as they were given
    /// The names of all stores, in order: those that the map names now, and those of the options. Errors: those of the map.
    [[nodiscard]] result<std::vector<std::string>> stores() const;
    /// The store of a name. Errors: those of the function that opens stores.
    [[nodiscard]] result<any_transport> store(std::string_view name) const;

    /// Calls `body(name, store)` for every store, several at once, and keeps what each returns: a `result<T>`. The outcome of a store that cannot
    /// be opened is that error. What a body throws is thrown when all have ended. Errors: those of the map, before anything is called.
    template <class Body>
    [[nodiscard]] auto each(Body const& body) const {
        using answer = typename std::invoke_result_t<Body const&, std::string_view, any_transport const&>::value_type;
        auto names = stores();
        if (!names) {
            return result<fleet_outcomes<answer>>{std::move(names).as_failure()};
        }
        std::vector<store_outcome<answer>> all;
        for (std::string& name : *names) {
            all.push_back({std::move(name), failure{error_code::cancelled, "not asked"}});
        }
        fleet_outcomes<answer> outcomes{std::move(all)};
        resume(outcomes, body);
        return result<fleet_outcomes<answer>>{std::move(outcomes)};
    }
    /// Calls `body` again for the stores that have failed, and for no others.
    template <class T, class Body>
    void resume(fleet_outcomes<T>& outcomes, Body const& body) const {
        std::vector<store_outcome<T>*> left;
        for (store_outcome<T>& each : outcomes.stores()) {
            if (!each.outcome) {
                left.push_back(&each);
            }
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
#include <entitable/fleet/impl/fleet.ipp>
#endif
