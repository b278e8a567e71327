// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Keys as PostgreSQL holds them: UTF-16, the high byte first, so that two of the longest fit into an entry of an index (about
/// 2,700 bytes) and memcmp gives the service's order.

#include <entitable/core/config.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends a key of a store (`stored_key`: UTF-8 with FE and FF for EE and EF) as UTF-16. False for bytes that are no such key; then
/// what could be read is appended, which stands before them in the order.
bool append_utf16_key(std::string_view stored, std::string& to);
/// The way back, into `to`, which is overwritten. False for bytes that `append_utf16_key` does not make.
bool assign_stored_key(std::string_view utf16, std::string& to);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/postgres/impl/pg_key.ipp>
#endif
