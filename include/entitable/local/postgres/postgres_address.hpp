// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `postgres_stores`: opens databases of PostgreSQL by their address.

#include <entitable/core/address/open.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] result<any_store> open_postgres_address(store_address& address, std::span<store_kind const> kinds);

} // namespace detail

/// Opens a URI of libpq. Options in its query, in addition to those of libpq: `create` (`true`, `false`), `schema`, `connections` (1 to 1000), as in
/// `postgres_options`.
inline constexpr store_kind postgres_stores{store_component::postgres, &detail::open_postgres_address};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/postgres/impl/postgres_address.ipp>
#endif
