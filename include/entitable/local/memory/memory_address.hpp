// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `memory_stores`: opens stores in memory by their address.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/address/open.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] result<any_store> open_memory_address(store_address& address, std::span<store_kind const> kinds);

} // namespace detail

/// Opens `memory:NAME`: the store with that name, which lives as long as the process; `memory:` is a new store. Option: `create`, which has
/// no effect, so that addresses can be exchanged.
inline constexpr store_kind memory_stores{store_component::memory, &detail::open_memory_address};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/memory/impl/memory_address.ipp>
#endif

#endif
