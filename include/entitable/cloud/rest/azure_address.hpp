// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `azure_stores`: opens accounts of the service by their address.

#include <entitable/core/address/open.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] result<any_store> open_azure_address(store_address& address, std::span<store_kind const> kinds);

} // namespace detail

/// Opens a connection string, or the address of an account: with a shared access signature if its query contains one, otherwise with
/// `default_identity()`. Option in the query: `create`, which has no effect, so that addresses can be exchanged. Sends no request.
inline constexpr store_kind azure_stores{store_component::azure, &detail::open_azure_address};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/rest/impl/azure_address.ipp>
#endif
