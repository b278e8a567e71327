// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The stored form of a file of tables, version 1 (docs/stored_formats.md); creates and recognises such files.

#include <entitable/local/file/detail/connection.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

namespace file_format {

inline constexpr std::int64_t version = 1; ///< SQLite's user_version

} // namespace file_format

/// Settings fixed when a file is created or opened, and stored in it.
struct file_form {
    bool write_ahead_log{};    ///< write-ahead log; otherwise a rollback journal
    bool names_without_case{}; ///< tables are found by their names in lower case; fixed at creation
};

/// Whether this is a file of tables in the requested form; false for a file that `prepare_schema` can convert. Errors: StoreForeign,
/// StoreNewer. Writes nothing, and waits for no writer.
[[nodiscard]] result<bool> schema_fits(connection& on, file_form wanted, wait_budget& waits);
/// Checks the same for read-only use, with any journal; false for an empty file.
[[nodiscard]] result<bool> schema_can_be_read(connection& on, file_form wanted, wait_budget& waits);
/// Converts an empty file to a file of tables, and sets the journal. Errors as above. The caller holds the writer lock, and no other store
/// has the file open.
[[nodiscard]] result<void> prepare_schema(connection& on, file_form wanted, wait_budget& waits);

/// In a transaction that removes a table: changes the schema and changes it back, so that each connection in each process prepares its
/// statements again, and discards its cached table numbers.
[[nodiscard]] stepped end_known_tables(connection& on);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/schema.ipp>
#endif
