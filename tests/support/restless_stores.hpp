// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Shards of a queue that move, are split and merged between the requests of its programs, some of them behind a request that was applied.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/shards.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/around.hpp>
#include <support/maps.hpp>

#include <functional>
#include <map>
#include <optional>

namespace entitable_test {

/// Stores with one clock, and somebody who changes the shards after a number of requests by the programs. Three lanes at most are in shards
/// of their own.
struct restless_stores {
    entitable::testing::manual_clock& time;
    std::size_t each;  ///< after so many requests
    std::size_t phase; ///< the first time after so many
    entitable::memory_backend catalogue;
    std::map<std::string, entitable::any_store> stores{};
    std::size_t seen{};
    std::size_t changes{};
    std::int32_t upper{1}; ///< the shard of the lanes from the second one on
    std::optional<std::int32_t> third{};
    bool busy{};
    std::function<entitable::any_store(entitable::any_store)> on_the_way{}; ///< around each store, for programs

    [[nodiscard]] entitable::any_store store(std::string_view name) {
        entitable::local_options by_clock;
        by_clock.time = &time;
        return stores.emplace(name, entitable::any_store{entitable::memory_backend{by_clock}}).first->second;
    }
    [[nodiscard]] entitable::sharded open(entitable::store_opener const& opener) {
        return cloud_of(catalogue, "shardmap", entitable::virtual_shards::ranges({"lane001"}), {"alpha", "beta"},
            {std::chrono::milliseconds{1}, &time}, opener);
    }
    [[nodiscard]] entitable::any_store watched(std::string_view name) {
        auto const hook = [this](bool behind) {
            return [this, behind](std::string_view, bool) {
                if (!busy && (behind ? seen : ++seen) % each == phase && (changes % 2 == 0) == behind) { change(); }
            };
        };
        return entitable::any_store{
            around{on_the_way ? on_the_way(store(name)) : store(name), hook(false), hook(true)}};
    }
    /// The next one of some moves, splits and merges.
    void change() {
        busy = true;
        entitable::sharded const mover =
            open([this](std::string_view name) -> entitable::result<entitable::any_store> { return store(name); });
        entitable::move_options how;
        how.time = &time;
        how.short_lease = std::chrono::milliseconds{1};
        std::string const to = "store" + std::to_string(changes);
        switch (changes++ % 4) {
            case 0: entitable::plan_move(mover, 0, to, how).value().run().value(); break;
            case 1: third = entitable::split_shard(mover, upper, "lane002").value(); break;
            case 2: entitable::plan_move(mover, *third, to, how).value().run().value(); break;
            default: entitable::plan_merge(mover, upper, *third, to, how).value().run().value(); break;
        }
        busy = false;
    }
};

} // namespace entitable_test
