// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Untyped reference tables: copies that are filled, verified and then activated by a change of one row.

#include <entitable/client/mapping/macro.hpp>
#include <entitable/shards/fleet/fleet.hpp>
#include <entitable/shards/fleet/rows_content.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The copy of a reference table that a store serves, as stored. Format: docs/stored_formats.md.
struct reference_pointer {
    std::string reference{"reference"}; ///< the partition
    std::string who;                    ///< "master" at the source, "copy" in a store
    std::int64_t version{};             ///< 0: none yet
    std::string stored;                 ///< the table that contains the rows
    std::int64_t rows{};                ///< number of rows
    std::int64_t digest{};              ///< digest of the rows: `rows_content`
    std::string making;                 ///< "a;b": tables that are being filled
    std::string retired;                ///< "a;b": tables that were served before
    std::string dropping;               ///< "a;b": tables no longer used
};
ENTITABLE(reference_pointer, partition_key(reference), row_key(who),
    properties(version, stored, rows, digest, making, retired, dropping))

namespace detail {

/// A reference table in one store.
struct reference_place {
    any_store store;
    std::string name; ///< the reference table's name
    std::string who;  ///< process named in the pointer
};

/// Reads the pointer; returns a pointer with version 0 if it is absent.
[[nodiscard]] result<reference_pointer> read_pointer(reference_place const& at);

/// Publishes the source as a new version, if its content has changed. Returns the version. The source is read twice:
/// UpdateConditionNotSatisfied if it changes in between, or if another process publishes concurrently.
[[nodiscard]] result<reference_pointer> make_version(
    any_store const& source, std::string const& source_table, std::string const& name, clock& time);
/// Brings a store to the published version; with `from_scratch` the version is copied even if the store has it. Returns the version of the
/// store.
[[nodiscard]] result<std::int64_t> fill_reference(
    any_store const& source, std::string const& name, any_store const& there, bool from_scratch, clock& time);
/// Whether a store serves the rows of the published version.
struct reference_state {
    std::int64_t version{}; ///< the version that the store serves; 0: none
    bool is_current{};      ///< whether this is the published version
    bool is_sound{};        ///< the rows of the copy have the digest recorded when they were written
};
[[nodiscard]] result<reference_state> check_reference(
    any_store const& source, std::string const& name, any_store const& there);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/reference_core.ipp>
#endif
