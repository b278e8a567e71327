// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// A fleet over stores in memory, each with faults of its own.

#include <entitable/entitable.hpp>
#include <entitable/fleet.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/maps.hpp>

#include <map>
#include <memory>
#include <mutex>

namespace fleets {

using namespace entitable;

struct item {
    std::string group;
    std::int32_t number{};
    std::string text;
    std::int32_t size{};
    friend bool operator==(item const&, item const&) = default;
};
ENTITABLE(item, partition_key(group), row_key(width(number, 4)), properties(text, size))

using faulty_store = testing::faulty<any_store>;

/// Stores in memory, made when they are asked for. Leases are of no length unless a test wants otherwise.
struct world {
    memory_backend catalogue;
    struct stores_made {
        std::mutex lock;
        std::map<std::string, faulty_store> all;
    };
    std::shared_ptr<stores_made> stores = std::make_shared<stores_made>();

    [[nodiscard]] faulty_store store(std::string_view name) const {
        std::lock_guard<std::mutex> const guard{stores->lock};
        auto const at = stores->all.find(std::string{name});
        return at != stores->all.end()
            ? at->second
            : stores->all.emplace(std::string{name}, faulty_store{any_store{memory_backend{}}}).first->second;
    }
    [[nodiscard]] sharded open(virtual_shards shards,
        std::vector<std::string> const& names = {"alpha", "beta", "gamma"},
        lookup_map_options const& options = {std::chrono::milliseconds{0}}) const {
        return entitable_test::cloud_of(
            catalogue, "shardmap", shards, names, options, [self = *this](std::string_view name) -> result<any_store> {
                if (name.starts_with("closed")) { return failure{error_code::store_failed, "it is closed"}; }
                return any_store{self.store(name)};
            });
    }
};

/// A table with some rows.
inline table<item> fill(sharded const& cloud, std::int32_t rows = 120, std::string const& name = "items") {
    table<item> const items{cloud, name};
    items.create().value();
    for (std::int32_t number = 0; number < rows; ++number) {
        items.insert({"g" + std::to_string(number % 40), number, "text " + std::to_string(number), number}).value();
    }
    return items;
}

} // namespace fleets
