// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The tokens of local backends: text of printable ASCII, version 1 (docs/stored_formats.md):
///
///     1!<16 hexadecimal digits>!<key>[!<key>]
///
/// The keys are the keys of the next row to read, or of the next table, as hexadecimal digits of the stored bytes. Without the second key
/// the position is the first row of the partition. The digits before them are a checksum over the query and the keys: a token that was
/// truncated, changed or taken from a different query is refused, never misread. A token contains no data of the process that made it, and
/// does not expire.

#include <entitable/core/request/part_hash.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The position that a token represents, in stored bytes.
struct position {
    std::string partition;
    std::optional<std::string> row;
};

/// Takes the place of a query's `fingerprint` for lists of tables.
inline constexpr std::uint64_t fingerprint_of_tables = 0x7461'626c'6573'0001;

ENTITABLE_LAZY [[nodiscard]] std::string make_continuation(std::uint64_t fingerprint, position const& next);

/// Parses a token. Errors: ContinuationInvalid unless `make_continuation` made it for the same query.
ENTITABLE_LAZY [[nodiscard]] result<position> read_continuation(std::uint64_t fingerprint, std::string_view token);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/impl/continuation.ipp>
#endif
