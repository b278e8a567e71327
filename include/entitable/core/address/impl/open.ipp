// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/address/open.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What an address of a component names, and what the program needs to open it.
inline failure component_not_linked(store_component component) {
    std::string_view const named[] = {"a store in memory, and entitable::memory_stores is",
        "a file, and the component file (entitable::file_stores) is",
        "a PostgreSQL database, and the component postgres (entitable::postgres_stores) is",
        "an Azure account, and the component azure (entitable::azure_stores) is",
        "the stores of a shard map, and entitable::shard_stores is"};
    return failure{error_code::not_supported,
        text::joined({"the address names ", named[static_cast<std::size_t>(component)],
            " not among the kinds of stores that this program opens"})};
}

/// Opens an address, or one within an address of shards.
inline result<any_store> open_address(std::string_view address, std::span<store_kind const> kinds, bool within_shards) {
    ENTITABLE_TRY(auto parsed, store_address::parse(address));
    if (within_shards && parsed.component() == store_component::shards) {
        return failure{error_code::invalid_input, "an address of shards contains another address of shards"};
    }
    auto const found = std::find_if(
        kinds.begin(), kinds.end(), [&](store_kind const& each) { return each.component == parsed.component(); });
    if (found == kinds.end()) { return component_not_linked(parsed.component()); }
    return found->open(parsed, kinds);
}

ENTITABLE_DECL result<any_store> open_within_shards(std::string_view address, std::span<store_kind const> kinds) {
    return open_address(address, kinds, true);
}

} // namespace detail

ENTITABLE_DECL result<any_store> open(std::string_view address, std::span<store_kind const> kinds) {
    return detail::open_address(address, kinds, false);
}

ENTITABLE_END_NAMESPACE
