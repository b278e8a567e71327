// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The checkpoint of a migration: the token of the page from which it continues, and its counts.

#include <entitable/core/load/detail/bulk_position.hpp>
#include <entitable/core/result.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Position of a migration between two of its steps.
struct migration_position {
    std::string token;    ///< token of the query
    std::uint64_t read{}; ///< rows before it
    bulk_counts counts;

    /// Formats the checkpoint: version 1 in docs/stored_formats.md.
    [[nodiscard]] std::string text(std::string_view table, std::string_view input) const;
};

/// Parses a checkpoint. Errors: CheckpointInvalid if it is damaged, newer, or belongs to a different table or input.
[[nodiscard]] result<migration_position> read_migration_position(
    std::string_view text, std::string_view table, std::string_view input);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/load/impl/migration_position.ipp>
#endif
