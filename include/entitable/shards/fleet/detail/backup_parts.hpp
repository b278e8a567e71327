// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The parts of a backup: which of them are valid, and how a run of a backup changes them while another run may be active.

#include <entitable/client/table.hpp>
#include <entitable/shards/fleet/detail/shard_visits.hpp>
#include <entitable/shards/fleet/fleet_backup.hpp>

#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The tables of a backup. Backup names have no digits and table names do not begin with a digit, so "0" separates them.
struct backup_place {
    any_store store;
    std::string name;

    [[nodiscard]] std::string about() const { return text::joined({name, "0backup"}); }
    [[nodiscard]] table<backup_header> headers() const { return {store, about()}; }
    [[nodiscard]] table<backup_part> parts() const { return {store, about()}; }
    [[nodiscard]] std::string stored(backup_part const& part) const {
        return shard_table_name(text::joined({name, "0", part.table}), part.shard, part.attempt);
    }
};

/// A part and its version.
struct stored_part {
    backup_part part;
    etag version;
};
using parts_by_shard = std::map<std::pair<std::int32_t, std::string>, stored_part>;

/// One run of a backup. A later run of the same backup, by another process, first changes the header. After that, this run changes nothing.
struct backup_run {
    backup_place at;
    etag header; ///< ETag of the header that this run wrote

    /// Whether this run is still the latest run. A part is read before this check and changed under its version after it. Each run first
    /// changes the header, then every part that it keeps: a late run therefore never changes a part of a later run.
    [[nodiscard]] result<void> is_last() const;
};

/// Reads the existing parts, by shard and table.
[[nodiscard]] result<parts_by_shard> parts_of(backup_place const& at);
/// Returns the error of a conditional change that failed: another process is creating or dropping the same backup.
[[nodiscard]] failure other_process(error why);
/// Writes parts under their versions.
[[nodiscard]] result<void> write_parts(backup_place const& at, std::vector<stored_part> const& parts);
/// Whether an earlier run has copied all tables of a shard from their current place, confirmed by the map. Parts without a source were
/// written by programs that marked a part as whole before they checked the map.
[[nodiscard]] bool is_kept(parts_by_shard const& before, shard_visit const& shard);
/// Drops the tables of a part.
[[nodiscard]] result<void> drop_tables_of(backup_place const& at, backup_part const& part);
/// Drops the copies of shards that have since been merged into others, and of tables that are no longer in the map.
[[nodiscard]] result<void> drop_stale_parts(backup_run const& run, shard_map_copy const& map);
/// Rewrites the parts that may be kept without changes, so that a late change of an earlier run fails its version check.
[[nodiscard]] result<void> take_over_parts(backup_run const& run);
/// Copies one table of one shard into a table unique to this attempt. Returns the part to be written once the map has confirmed that the
/// shard stayed in place during the read.
[[nodiscard]] result<stored_part> copy_part(
    backup_run const& run, backup_part part, any_store const& from, key_interval const& keys, clock& time);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/backup_parts.ipp>
#endif
