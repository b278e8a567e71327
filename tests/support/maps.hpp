// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Maps of shards for tests: opened if they exist, otherwise created; and maps in version 1 of the format, without an identity.

#include <entitable/entitable.hpp>
#include <entitable/shards.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace entitable_test {

/// A program that does not know whether it is the first one: opens the map or creates it.
inline entitable::lookup_map map_of(entitable::any_store const& catalogue, std::string const& table,
    entitable::virtual_shards const& shards, std::vector<std::string> const& stores,
    entitable::store_opener const& open_store, entitable::lookup_map_options const& options = {}) {
    auto made = entitable::lookup_map::make(catalogue, table, shards, stores, open_store, options);
    if (!made && made.error().code == entitable::error_code::already_made) {
        return entitable::lookup_map::open(catalogue, table, shards, options).value();
    }
    return std::move(made).value();
}
/// The same, and the table over the stores.
inline entitable::sharded cloud_of(entitable::any_store const& catalogue, std::string const& table,
    entitable::virtual_shards const& shards, std::vector<std::string> const& stores,
    entitable::lookup_map_options const& options, entitable::store_opener const& open_store) {
    return entitable::sharded{map_of(catalogue, table, shards, stores, open_store, options), open_store};
}
inline entitable::sharded cloud_of(entitable::any_store const& catalogue, std::string const& table,
    entitable::virtual_shards const& shards, std::vector<std::string> const& stores,
    entitable::store_opener const& open_store) {
    return cloud_of(catalogue, table, shards, stores, {}, open_store);
}

/// The tables of a store except the one that identifies its owner.
inline std::set<std::string> tables_in(entitable::any_store const& store) {
    entitable::call context;
    auto const listed = store.execute(entitable::list_tables{}, context).value().tables;
    std::set<std::string> all{listed.begin(), listed.end()};
    all.erase("entitableshards");
    return all;
}

/// Writes a map as programs did before maps had an identity, and opens it. Its stores are not read, so several names may be one store.
inline entitable::lookup_map map_without_identity(entitable::any_store const& catalogue, std::string const& table,
    entitable::virtual_shards const& shards, std::vector<std::string> const& stores,
    entitable::lookup_map_options const& options = {}) {
    using namespace entitable;
    call context;
    static_cast<void>(catalogue.execute(create_table{table}, context));
    auto const put = [&](std::string const& row_key, auto const& fill) {
        row_builder made{"map", row_key};
        fill([&](std::string_view name, auto const& value) {
            if constexpr (std::is_convertible_v<decltype(value), std::string_view>) {
                made.add(name, value_view{std::string_view{value}});
            } else {
                made.add(name, value_view{value});
            }
        });
        call own;
        static_cast<void>(catalogue.execute(write_entity{table, mutation::insert(made.build())}, own));
    };
    auto const& bounds = shards.bounds();
    auto const number = static_cast<std::int32_t>(shards.number());
    auto const lease = static_cast<std::int64_t>(options.lease.count());
    for (std::size_t shard = 0; shard < shards.number(); ++shard) {
        std::string row_key = "shard";
        text::append_decimal(row_key, shard, 4);
        put(row_key, [&](auto const& add) {
            add("low", shards.by_ranges() && shard > 0 ? bounds[shard - 1] : std::string{});
            add("high", shards.by_ranges() && shard < bounds.size() ? bounds[shard] : std::string{});
            add("state", "open");
            add("store", stores[shard % stores.size()]);
            add("epoch", std::int64_t{1});
            add("lease_ms", lease);
            add("open_lease_ms", lease);
            add("attempt_owner", "");
            add("attempt_store", "");
            add("attempt_epoch", std::int64_t{0});
            add("retired", "");
            add("reason", "");
            add("until", date_time{});
            add("nonce", "");
        });
    }
    put("header", [&](auto const& add) {
        add("strategy", shards.by_ranges() ? "ranges" : "function");
        add("hash_version", std::int32_t{1});
        add("fingerprint", static_cast<std::int64_t>(shards.fingerprint()));
        add("number", number);
        add("version", std::int64_t{1});
        add("next_epoch", std::int64_t{2});
        add("tables", "");
        add("nonce", "");
    });
    return lookup_map::open(catalogue, table, shards, options).value();
}

} // namespace entitable_test
