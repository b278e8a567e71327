// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Memory stores behind names, and a sharded transport over them.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/shards.hpp>
#include <entitable/testing/fault.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/maps.hpp>

#include <map>
#include <memory>

namespace sharding {

using namespace entitable;

/// Stores in memory, made when they are asked for.
struct world {
    memory_backend catalogue;
    std::shared_ptr<std::map<std::string, any_store>> stores = std::make_shared<std::map<std::string, any_store>>();

    [[nodiscard]] store_opener opener() const {
        return [stores = stores](std::string_view name) -> result<any_store> {
            auto const at = stores->find(std::string{name});
            return at != stores->end() ? at->second
                                       : stores->emplace(std::string{name}, any_store{memory_backend{}}).first->second;
        };
    }
    [[nodiscard]] sharded open(virtual_shards shards, lookup_map_options const& options = {}) const {
        return entitable_test::cloud_of(catalogue, "shardmap", shards, {"alpha", "beta", "gamma"}, options, opener());
    }
};

} // namespace sharding
