// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reads and changes a map, as resumable operations that use one transport.

#include <entitable/core/request/operation.hpp>
#include <entitable/shards/map/shard_map.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads a map. MapUnavailable if it cannot be read, ShardMapInvalid if it is malformed.
class shard_map_reading {
public:
    /// `now` is taken before the first request is sent: leases count from it.
    shard_map_reading(std::string const& table, steady_time now);

    [[nodiscard]] operation_step next() const noexcept;
    void answer(result<query_entities::response> found, steady_time now);
    void answer(result<get_entity::response> header, steady_time now);
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    [[nodiscard]] result<shard_map_ref> finish() { return *std::move(outcome_); }

private:
    result<void> take(page const& rows);
    void begin(steady_time now);
    void end();

    query_entities pages_;
    get_entity header_; ///< read again if the map had several pages, to detect a change between the pages
    shard_map_ref made_;
    std::size_t read_{};
    std::size_t attempts_{};
    bool headed_{};
    bool checks_{};
    std::optional<result<shard_map_ref>> outcome_;
};

/// One change of a map: its header and rows, in one transaction under their ETags, with a nonce in it. A change whose
/// response was lost is settled by a read: if the nonce is there, the change was applied; if the ETag is unchanged, the
/// same request is sent again; otherwise the change starts over. An applied change is therefore repeated only if others
/// have since changed the header and all of these rows: `edit` must detect that.
class shard_map_change {
public:
    /// Receives the current map, any number of times. Returns false if there is nothing to change.
    using edit_type = std::function<result<bool>(shard_map_copy const&, shard_map_draft&)>;
    /// The nonce must be unique among changes.
    shard_map_change(std::string const& table, std::string nonce, edit_type edit, steady_time now);

    [[nodiscard]] operation_step next() const noexcept;
    void answer(result<query_entities::response> found, steady_time now);
    void answer(result<get_entity::response> header, steady_time now);
    void answer(result<transact::response> changed, steady_time now);
    void abandon(error const& reason);
    [[nodiscard]] result<void> finish() { return *std::move(outcome_); }

private:
    void read(steady_time now);
    void look(steady_time now);
    void draw_up();
    [[nodiscard]] bool is_applied(shard_map_copy const& map) const;

    std::string table_;
    std::string nonce_;
    edit_type edit_;
    std::optional<shard_map_reading> reading_;
    shard_map_ref base_; ///< the copy that the request was built from
    transact request_;
    std::string sent_nonce_;
    std::vector<std::int32_t> sent_rows_; ///< the rows that carry the nonce
    steady_time not_before_{(steady_time::min)()};
    std::size_t drafts_{};
    std::size_t sendings_{};
    bool unsettled_{}; ///< an earlier send of the request may have been applied
    error last_;
    std::optional<result<void>> outcome_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
