// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `shard_stores`: opens the stores of a shard map by its address.

#include <entitable/core/address/open.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] result<any_store> open_shard_address(store_address& address, std::span<store_kind const> kinds);

} // namespace detail

/// Opens `shards:CATALOGUE/MAP`: the map in the table MAP of CATALOGUE, which is `env:NAME` or a percent-encoded address. The store S of the
/// map is opened by the address in the environment variable ENTITABLE_STORE_S, in which each character of S other than letters, digits and
/// `_` is replaced by `_`. The map must use ranges or a hash; a map by a function of the program is opened by `lookup_map::open`.
///
/// Errors: InvalidInput for a map by a function, or by a hash with own shards for tenants; those of the catalogue and of `lookup_map::open`.
inline constexpr store_kind shard_stores{store_component::shards, &detail::open_shard_address};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/route/impl/shard_address.ipp>
#endif
