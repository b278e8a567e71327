// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The parts of a backup: which of them count, and how a run of a backup changes them while another one may be under way.

#include <entitable/client/table.hpp>
#include <entitable/fleet/backup_rows.hpp>
#include <entitable/fleet/detail/shard_visits.hpp>

#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The tables of a backup. No name of a backup has a digit and no name of a table begins with one, so "0" tells them apart.
struct backup_place {
    any_transport store;
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

/// One run of a backup. A later run of the same backup, by another process, changes the header first: from then on this one changes nothing.
struct backup_run {
    backup_place at;
    etag header; ///< as this run wrote it

    /// Whether no other run began since. A part is read before this and changed under its version behind it, and each run changes the header,
    /// then every part that it keeps: so no run that is late changes a part of a later one.
    [[nodiscard]] result<void> is_last() const;
};

/// The parts that are there, by shard and table.
[[nodiscard]] result<parts_by_shard> parts_of(backup_place const& at);
/// The error of a change under a condition: who else could have changed it makes, or drops, the same backup.
[[nodiscard]] failure other_process(error why);
/// Writes parts under their versions.
[[nodiscard]] result<void> write_parts(backup_place const& at, std::vector<stored_part> const& parts);
/// Whether an earlier run has copied all tables of a shard from where they are now, and the map has confirmed it. Parts without a source are of
/// programs that called a part whole before they asked the map.
[[nodiscard]] bool is_kept(parts_by_shard const& before, shard_visit const& shard);
/// Drops the tables of a part.
[[nodiscard]] result<void> drop_tables_of(backup_place const& at, backup_part const& part);
/// Drops what was copied of shards that are merged into others by now, and of tables that the map no longer has.
[[nodiscard]] result<void> drop_stale_parts(backup_run const& run, shard_map_copy const& map);
/// Changes the parts that may be kept, with nothing, so that a late change of an earlier run meets another version.
[[nodiscard]] result<void> take_over_parts(backup_run const& run);
/// Copies one table of one shard into a table that no other attempt has. Returns the part as it is to be written once the map has confirmed
/// that the shard was there while it was read.
[[nodiscard]] result<stored_part> copy_part(
    backup_run const& run, backup_part part, any_transport const& from, key_interval const& keys, clock& time);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/backup_parts.ipp>
#endif
