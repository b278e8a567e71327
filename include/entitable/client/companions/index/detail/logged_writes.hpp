// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Writes of a table whose change log is all that it maintains, and reads of the log.

#include <entitable/client/companions/index/detail/index_family.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Makes changes of entities without indexes and sums, with the entry of the log, in one transaction: each under its own condition, without
/// reading it. Returns the outcome of each change, in order.
[[nodiscard]] result<transact::response> write_logged(index_family const& family, transact request);
/// Adds an entry for rows that were changed without one.
[[nodiscard]] result<void> log_again(
    index_family const& family, std::string const& partition_key, std::vector<std::string> const& entities);

/// Reads the changes of a partition after a position: see `changes_of`.
[[nodiscard]] result<logged_changes> read_logged_changes(index_family const& family, std::string_view partition_key,
    log_position const& after, changes_options const& options);
/// Reads the head of a lane; nullopt if there is none.
[[nodiscard]] result<std::optional<log_head>> read_head_of(
    index_family const& family, std::string_view partition_key, std::uint32_t lane, call const& context);
/// Returns the position before the first change of any partition.
[[nodiscard]] result<log_position> first_position(index_family const& family);
/// Gives a number that was announced and not taken to a void entry, and with it the numbers between: no late writer can take them. Does
/// nothing if the number was taken; another writer may be faster. Errors: only those of the reads.
[[nodiscard]] result<void> void_number(
    index_family const& family, std::string const& partition_key, std::uint32_t lane, std::int64_t number);
/// Removes the changes of a partition up to a position: see `trim_changes`.
[[nodiscard]] result<std::uint64_t> trim_log(
    index_family const& family, std::string_view partition_key, log_position const& up_to, trim_options const& options);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/logged_reads.ipp>
#include <entitable/client/companions/index/impl/logged_writes.ipp>
#endif
