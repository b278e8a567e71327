// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Keys in the form of PostgreSQL: UTF-16, high byte first, so that two keys of maximum length fit in an index entry (about 2,700 bytes)
/// and memcmp gives the service's order.

#include <entitable/core/config.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends a stored key (`stored_key`: UTF-8 with FE and FF for EE and EF) as UTF-16. Returns false for bytes that are not a valid key, and
/// appends only their valid beginning, which sorts before them.
bool append_utf16_key(std::string_view stored, std::string& to);
/// Converts back, overwriting `to`. Returns false for bytes that `append_utf16_key` does not produce.
bool assign_stored_key(std::string_view utf16, std::string& to);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/postgres/impl/pg_key.ipp>
#endif
