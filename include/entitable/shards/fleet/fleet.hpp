// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `fleet`: operates the stores of a map as a unit. `fleet_outcomes<T>`: the results of an operation on each store. `set_access`: makes the
/// shards of a store read-only or offline; other stores are not affected.
///
///     fleet all{cloud};
///     auto freed = all.each([](std::string_view store, any_store const& there) -> result<std::size_t> { ... });
///     if (!freed->good()) { all.resume(*freed, again); } // only the stores that failed

#include <entitable/core/function_ref.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/text.hpp>
#include <entitable/shards/route/sharded.hpp>

#include <algorithm>
#include <string>
#include <type_traits>
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

/// The access of clients to the shards of a store.
enum class store_access : std::uint8_t {
    open,      ///< reads and writes are allowed
    read_only, ///< reads are allowed; writes return ShardMoving
    offline,   ///< reads and writes return ShardMoving
};

/// The reason, as text, and the expected end.
struct access_reason {
    std::string reason{};             ///< part of the errors that clients receive
    std::optional<date_time> until{}; ///< stored in the map
};

/// Changes the access to all shards currently in a store, and returns their number once every client complies; closing
/// therefore waits for the lease. After an error or a crash the same call resumes.
///
/// Errors: those of the map; ShardMoving if a shard of the store is being moved, or shards keep moving to the store: changes already made
/// stay.
[[nodiscard]] result<std::size_t> set_access(
    fleet const& of, std::string_view store, store_access access, access_reason const& reason = {});

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/fleet.ipp>
#endif
