// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `file_stores`: opens files by their address.

#include <entitable/core/address/open.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] result<any_store> open_file_address(store_address& address, std::span<store_kind const> kinds);

} // namespace detail

/// Opens `file:PATH`, with the characters `?` and `%` of PATH percent-encoded, or a path that ends in `.db`, as it stands. Options of
/// `file:`: `create` (`true`, `false`), `durability` (`full`, `relaxed`), `journal` (`automatic`, `write_ahead_log`, `rollback`),
/// `busy_timeout_ms`, as in `file_options`.
inline constexpr store_kind file_stores{store_component::file, &detail::open_file_address};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/file_address.ipp>
#endif
