// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "fleet_address.hpp"

#include <entitable/client/table.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <charconv>

namespace tool {

namespace {

/// Decodes %41 in the address of a catalogue.
std::optional<std::string> percent_decoded(std::string_view given) {
    std::string made;
    for (std::size_t at = 0; at < given.size(); ++at) {
        if (given[at] != '%') {
            made += given[at];
            continue;
        }
        unsigned byte = 0;
        if (given.size() - at < 3) { return std::nullopt; }
        auto const read = std::from_chars(given.data() + at + 1, given.data() + at + 3, byte, 16);
        if (read.ec != std::errc{} || read.ptr != given.data() + at + 3) { return std::nullopt; }
        made += static_cast<char>(static_cast<unsigned char>(byte));
        at += 2;
    }
    return made;
}

} // namespace

entitable::result<fleet_place> fleet_place_of(std::string const& address) {
    ENTITABLE_TRY(auto const parsed, entitable::store_address::parse(address));
    std::string const& place = parsed.place();
    std::size_t const slash = place.rfind('/');
    if (parsed.component() != entitable::store_component::shards || slash == std::string::npos || slash == 0 ||
        slash + 1 == place.size()) {
        return refuse("the address of a shard map has the form shards:CATALOGUE/MAP");
    }
    auto catalogue = percent_decoded(std::string_view{place}.substr(0, slash));
    if (!catalogue) {
        return refuse("the catalogue after shards: has a % without two hexadecimal digits; write % as %25");
    }
    return fleet_place{*std::move(catalogue), place.substr(slash + 1)};
}

std::string address_of_shard_store(std::string_view name) {
    std::string address = entitable::text::joined({"env:ENTITABLE_STORE_", name});
    std::replace_if(address.begin() + 4, address.end(), [](char each) { return each == '-' || each == '.'; }, '_');
    return address;
}

entitable::result<entitable::any_store> open_shard_store(std::string_view name) {
    return open_store(address_of_shard_store(name));
}

entitable::result<entitable::fleet> open_fleet(std::string const& address, std::vector<std::string> new_stores) {
    ENTITABLE_TRY(auto const place, fleet_place_of(address));
    ENTITABLE_TRY(auto const catalogue, open_store(place.catalogue));
    ENTITABLE_TRY(
        auto const header, entitable::table<entitable::shard_map_header>(catalogue, place.map).get("map", "header"));
    auto const number = static_cast<std::uint32_t>(header.number);
    std::optional<entitable::virtual_shards> shards;
    if (header.strategy == "ranges") {
        shards = entitable::virtual_shards::ranges();
    } else {
        for (auto const& each : {entitable::virtual_shards{number},
                 entitable::virtual_shards::by_first_component(number), entitable::virtual_shards::jump(number)}) {
            if (!shards && static_cast<std::int64_t>(each.fingerprint()) == header.fingerprint) { shards = each; }
        }
    }
    if (!shards) {
        return refuse("the shard map " + place.map +
            " assigns partitions by a function of a program, which this command cannot know");
    }
    ENTITABLE_TRY(auto map, entitable::lookup_map::open(catalogue, place.map, *shards));
    entitable::fleet_options options;
    options.stores = std::move(new_stores);
    return entitable::fleet{entitable::sharded{std::move(map), open_shard_store}, std::move(options)};
}

std::optional<std::string> path_of_file(std::string const& address) {
    auto const parsed = entitable::store_address::parse(address);
    if (!parsed || parsed->component() != entitable::store_component::file) { return std::nullopt; }
    return parsed->place();
}

} // namespace tool
