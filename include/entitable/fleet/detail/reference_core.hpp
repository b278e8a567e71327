// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reference tables without their type: copies that are filled, compared and then, by one row, put in the place of the copy before.

#include <entitable/fleet/fleet.hpp>
#include <entitable/fleet/rows_content.hpp>
#include <entitable/mapping/macro.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Which copy of a reference table a store serves, as it is stored. Format: docs/stored_formats.md.
struct reference_pointer {
    std::string reference{"reference"}; ///< the partition
    std::string who;                    ///< "master" beside the source, "copy" in a store
    std::int64_t version{};             ///< 0: none yet
    std::string stored;                 ///< the table that has the rows
    std::int64_t rows{};                ///< how many
    std::int64_t digest{};              ///< of them: `rows_content`
    std::string making;                 ///< "a;b": tables that are being filled
    std::string retired;                ///< "a;b": tables that were served before
    std::string dropping;               ///< "a;b": tables that nobody uses any more
};
ENTITABLE(reference_pointer, partition_key(reference), row_key(who),
    properties(version, stored, rows, digest, making, retired, dropping))

namespace detail {

/// What is at a store.
struct reference_place {
    any_transport store;
    std::string name; ///< of the reference table
    std::string who;  ///< as in the pointer
};

/// The pointer; one with version 0 where there is none.
[[nodiscard]] result<reference_pointer> read_pointer(reference_place const& at);

/// Publishes what the source has: a new version, where it is another content than the last one. Returns the version. The source is read twice:
/// UpdateConditionNotSatisfied where it changes in between, or where another process publishes at the same time.
[[nodiscard]] result<reference_pointer> make_version(
    any_transport const& source, std::string const& source_table, std::string const& name, clock& time);
/// Brings a store to the version that is published; `anew` copies it even where the store has it. Returns the version of the store.
[[nodiscard]] result<std::int64_t> fill_reference(
    any_transport const& source, std::string const& name, any_transport const& there, bool anew, clock& time);
/// Whether the rows that a store serves are those of the published version.
struct reference_state {
    std::int64_t version{}; ///< that the store serves; 0: none
    bool is_current{};      ///< it is the published one
    bool is_sound{};        ///< its rows are as they were written
};
[[nodiscard]] result<reference_state> check_reference(
    any_transport const& source, std::string const& name, any_transport const& there);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/reference_core.ipp>
#endif
