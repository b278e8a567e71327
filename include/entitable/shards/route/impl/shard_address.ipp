// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/route/shard_address.hpp>
#include <entitable/shards/route/sharded.hpp>

#include <algorithm>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the virtual shards that a map records, without a function of the program.
inline result<virtual_shards> recorded_shards(any_store const& catalogue, std::string const& table) {
    lookup_map_state state{catalogue, table, virtual_shards::ranges(), lookup_map_options{}};
    ENTITABLE_TRY(auto const read, state.current({}, state.now()));
    if (read->by_ranges) { return virtual_shards::ranges(); }
    auto const number = static_cast<std::uint32_t>(read->header.number);
    for (virtual_shards const& each :
        {virtual_shards{number}, virtual_shards::by_first_component(number), virtual_shards::jump(number)}) {
        if (static_cast<std::int64_t>(each.fingerprint()) == read->header.fingerprint) { return each; }
    }
    return failure{error_code::invalid_input,
        text::joined({"the shard map ", table,
            " assigns partitions by a function of a program, which an address cannot name: use lookup_map::open"})};
}

/// Returns the address of a store of the map: the environment variable with its name.
inline std::string address_of_store(std::string_view name) {
    std::string address = text::joined({"env:ENTITABLE_STORE_", name});
    std::replace_if(address.begin() + 4, address.end(), [](char each) { return each == '-' || each == '.'; }, '_');
    return address;
}

ENTITABLE_DECL result<any_store> open_shard_address(store_address& address, std::span<store_kind const> kinds) {
    ENTITABLE_CHECK(address.check_options());
    std::string_view const place = address.place();
    std::size_t const slash = place.rfind('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == place.size()) {
        return failure{error_code::invalid_input, "an address of shards has the form shards:CATALOGUE/MAP"};
    }
    std::string catalogue_address;
    if (!append_url_unescaped(catalogue_address, place.substr(0, slash))) {
        return failure{error_code::invalid_input,
            "the catalogue after shards: has a % without two hexadecimal digits: write % as %25"};
    }
    ENTITABLE_TRY(auto catalogue, open_within_shards(catalogue_address, kinds));
    std::string const table{place.substr(slash + 1)};
    ENTITABLE_TRY(auto shards, recorded_shards(catalogue, table));
    ENTITABLE_TRY(auto map, lookup_map::open(std::move(catalogue), table, std::move(shards)));
    auto const open_store = [opens = std::vector<store_kind>(kinds.begin(), kinds.end())](
                                std::string_view name) { return open_within_shards(address_of_store(name), opens); };
    return any_store{sharded{std::move(map), open_store}};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
