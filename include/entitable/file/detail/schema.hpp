// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The stored form of a file of tables, version 1 (docs/stored_formats.md), and how a file is made one or recognised as one.

#include <entitable/file/detail/connection.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

namespace file_format {

inline constexpr std::int64_t version = 1; ///< SQLite's user_version

} // namespace file_format

/// What of a file is decided when it is opened, and kept in it.
struct file_form {
    bool write_ahead_log{};    ///< else a rollback journal
    bool names_without_case{}; ///< the keys of tables are their names in lower case; else the names. Decided once
};

/// Whether this is a file of tables in the form that is wanted; false for one that `prepare_schema` can make so, and only that.
/// StoreForeign, StoreNewer. Writes nothing, and waits for no writer.
[[nodiscard]] result<bool> schema_fits(connection& on, file_form wanted, patience& waits);
/// The same whatever its journal is, to read it only; false for an empty file.
[[nodiscard]] result<bool> schema_can_be_read(connection& on, file_form wanted, patience& waits);
/// Makes an empty file a file of tables, and sets the journal. Errors as before. The caller holds the writer lock, and is the only
/// one who has the file open.
[[nodiscard]] result<void> prepare_schema(connection& on, file_form wanted, patience& waits);

/// Inside of a transaction that removes a table: changes the schema and changes it back, so that each connection in each
/// process plans its statements again, and with that forgets the numbers of tables it knew.
[[nodiscard]] stepped end_known_tables(connection& on);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/file/impl/schema.ipp>
#endif
