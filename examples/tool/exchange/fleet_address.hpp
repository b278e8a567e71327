// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The fleet at an address `shards:CATALOGUE/MAP`.

#include "../commands.hpp"
#include <entitable/core/address/store_address.hpp>
#include <entitable/fleet.hpp>

namespace tool {

/// The parts of an address `shards:CATALOGUE/MAP`.
struct fleet_place {
    std::string catalogue; ///< address of the store that contains the map
    std::string map;       ///< table of the map
};

/// Reads such an address. Errors: the refusal for another address.
[[nodiscard]] entitable::result<fleet_place> fleet_place_of(std::string const& address);

/// Address of a store of a map, as `entitable::open` derives it: the environment variable ENTITABLE_STORE_NAME.
[[nodiscard]] std::string address_of_shard_store(std::string_view name);
/// Opens the stores of maps.
[[nodiscard]] entitable::result<entitable::any_store> open_shard_store(std::string_view name);

/// Opens all stores of a map. `new_stores` take part without having a shard yet. Errors: those of the map.
[[nodiscard]] entitable::result<entitable::fleet> open_fleet(
    std::string const& address, std::vector<std::string> new_stores = {});

/// Path of the file at an address; nullopt for other stores.
[[nodiscard]] std::optional<std::string> path_of_file(std::string const& address);

} // namespace tool
