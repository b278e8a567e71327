// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `feed_core`: a worker of a group, without the types of the table.
///
/// Writers insert an announcement (partition, number) before the transaction that gives the number to a change: see `log_writer`. A worker
/// that holds the lease of a lane
/// 1. reads the announcements of the lane;
/// 2. reads, for each partition, the changes after the position of the group, and hands them over;
/// 3. when they are processed: reads which groups are registered, and their positions. Not earlier: a group that registers later reads the
///    partition later than step 2, and so with these changes;
/// 4. in one transaction of the lane: the position under its version, the lease under its own, and the removal of each announcement whose
///    number was seen and is processed by all groups;
/// 5. removes changes that all groups have processed.
/// A number that is announced and not given for a while is voided under the version of the head, which refuses its late writer.
///
/// Invariant: for each change and each registered group, the group has processed the change, or the partition has an announcement with the
/// number of the change or a greater one, or `create` of the group has not announced the partition yet.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/changes_of.hpp>
#endif
#include <entitable/core/shared.hpp>
#include <entitable/work/feed/feed_options.hpp>
#if !defined(ENTITABLE_IMPORTED)
#include <entitable/work/once/once.hpp>
#endif

#include <map>
#include <optional>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A partition of a batch, and what is done when it is processed.
struct fed_partition {
    partition_changes changes;
    std::vector<announcement> announced;
    etag version;           ///< of the stored position; empty without one
    log_position before;    ///< the stored position
    std::int64_t trimmed{}; ///< sum of the numbers at the last trim
    bool has_news{};        ///< whether it is handed over
    bool has_more{};        ///< whether the log has more changes
};

/// The stored position of a group in a partition.
struct fed_position {
    log_position at;
    std::int64_t trimmed{};
    etag version; ///< empty without one
};

/// The group of a worker, and the lanes that it holds. Thread safety: one thread at a time.
class feed_core : public counted {
public:
    feed_core(shared<index_family> of, std::string group, feed_options options);

    [[nodiscard]] result<bool> create();
    [[nodiscard]] result<void> leave();
    /// Looks at each lane until one has changes; waits and looks again until the time is over. Returns the lane.
    [[nodiscard]] result<std::optional<std::size_t>> next(
        std::chrono::nanoseconds wait, std::vector<fed_partition>& to);
    /// Records that partitions of a lane are processed.
    [[nodiscard]] result<void> finish(std::size_t lane, std::vector<fed_partition> const& all, std::uint64_t turn);
    /// Gives the leases up.
    [[nodiscard]] result<void> release();
    [[nodiscard]] result<feed_status> status();

    [[nodiscard]] std::string const& group() const noexcept { return group_; }
    [[nodiscard]] std::string const& table() const noexcept { return family_->main.name(); }
    /// Number of the lease of a lane; another one after the lane was lost.
    [[nodiscard]] std::uint64_t turn_of(std::size_t lane) const noexcept { return lanes_[lane].turn; }

private:
    /// An announced number that no change has.
    struct undecided {
        steady_time since;
        std::int64_t seen{}; ///< the last number then
    };
    struct held_lane {
        bool held{};
        std::uint64_t turn{};
        etag version;             ///< of the lease; empty if it is not known
        steady_time renewed_at{}; ///< when the lease was written last
        steady_time not_before{}; ///< another worker holds the lane until then
        bool joined{};
        bool looked{};   ///< whether nothing is left of what the look of this round has found
        bool complete{}; ///< whether the last look has found everything
        std::map<std::string, fed_position> positions;
        std::map<std::string, undecided> open;        ///< by the row key of the announcement
        std::map<std::string, steady_time> unsettled; ///< partitions that other groups have not processed: not before
    };
    /// A registered group of a lane.
    struct registered {
        std::string name;
        bool joined{};
        std::string scanned;
    };
    /// The changes of a transaction of a lane.
    struct lane_changes {
        std::vector<mutation> positions;
        std::vector<fed_partition const*> of; ///< the partition of each position
        std::vector<mutation> removals;       ///< of announcements

        [[nodiscard]] std::size_t size() const noexcept { return 1 + positions.size() + removals.size(); }
    };

    /// What a look at a lane has found.
    struct lane_look {
        std::vector<fed_partition> partitions;
        std::set<std::string> present;         ///< announced partitions
        std::map<std::string, undecided> open; ///< announcements that are still there
        std::size_t news{};                    ///< number of partitions that are handed over
    };
    /// What `status` reads of a lane.
    struct lane_state {
        std::vector<announcement> announced;
        std::map<std::pair<std::string, std::uint32_t>, std::int64_t> heads; ///< numbers of the last changes
        date_time told;
    };
    /// Partitions of the table, in the order of their keys.
    struct some_partitions {
        std::vector<std::string> keys;
        std::string last; ///< up to here the table was read
        bool more{};
    };

    [[nodiscard]] call new_call() const;
    [[nodiscard]] result<void> check_options() const;
    [[nodiscard]] once_row lease_row(std::size_t lane) const;
    [[nodiscard]] std::string position_key(std::string_view group, std::string_view partition_key) const;
    [[nodiscard]] failure lost(std::size_t lane) const;
    [[nodiscard]] failure missing() const;
    [[nodiscard]] failure trimmed_away(std::string_view partition_key) const;
    void forget(std::size_t lane);

    /// Renews or claims the lease of a lane if necessary. False if another worker holds the lane, or this one holds enough.
    [[nodiscard]] result<bool> hold(std::size_t lane);
    /// Writes the lease under its version. False if it has to be claimed again.
    [[nodiscard]] result<bool> renew(std::size_t lane, steady_time now);
    /// Begins to count a lane among those of this worker. False if the worker holds enough.
    [[nodiscard]] result<bool> begin_turn(std::size_t lane);
    [[nodiscard]] result<bool> claim_lane(std::size_t lane, steady_time now);
    /// Notes that a claim was refused, and until when. Returns the error unless another worker holds the lane.
    [[nodiscard]] result<bool> without_lane(std::size_t lane, failure&& refused, steady_time now);

    /// Looks at each lane that this round has left, and returns the first one with changes.
    [[nodiscard]] result<std::optional<std::size_t>> look_around(std::vector<fed_partition>& to);
    [[nodiscard]] result<bool> look(std::size_t lane, std::vector<fed_partition>& to);
    [[nodiscard]] result<void> prepare_look(std::size_t lane);
    /// Reads the announcements of a lane and looks at their partitions, until enough are to be handed over.
    [[nodiscard]] result<lane_look> look_at_announced(std::size_t lane);
    [[nodiscard]] result<void> add_partition(std::size_t lane, fed_partition&& ended, lane_look& to);
    /// Whether this group has processed a partition that other groups still have time for.
    [[nodiscard]] bool waits_for_others(std::size_t lane, fed_partition const& one);
    [[nodiscard]] result<void> look_at(std::size_t lane, fed_partition& one);
    /// Fills in the stored position, which is read once.
    [[nodiscard]] result<void> take_position(std::size_t lane, fed_partition& one);
    /// The position after which a partition is read.
    [[nodiscard]] result<log_position> start_in(std::size_t lane, fed_partition const& one) const;
    [[nodiscard]] result<void> decide(std::size_t lane, fed_partition const& one);

    [[nodiscard]] result<fed_position> position_of(
        std::size_t lane, std::string_view group, std::string_view partition_key) const;
    [[nodiscard]] result<std::vector<registered>> groups_of(std::size_t lane) const;
    [[nodiscard]] query_entities rows_with(std::size_t lane, std::string const& prefix) const;
    [[nodiscard]] result<void> for_each_of(std::size_t lane, std::string const& prefix,
        function_ref<result<bool>(row_view)> visit, date_time* told = nullptr) const;
    [[nodiscard]] result<std::vector<log_position>> others(
        std::size_t lane, std::vector<registered> const& groups, std::string_view partition_key) const;

    /// Writes changes and the lease in one transaction; without those removals that others have made.
    [[nodiscard]] result<void> send(std::size_t lane, lane_changes&& changes);
    [[nodiscard]] transact with_lease(std::size_t lane, lane_changes const& changes) const;
    /// Changes what was refused, so that it can be sent again; returns the error if it cannot.
    [[nodiscard]] result<void> prepare_again(std::size_t lane, error const& refused, lane_changes& changes);
    /// Keeps the versions that a transaction has given to the lease and the positions.
    void remember(std::size_t lane, lane_changes const& changes, transact::response const& made, steady_time now);
    /// Forgets what a transaction may have changed: the next request shows whether it was applied.
    void forget_versions(std::size_t lane, lane_changes const& changes);
    /// Leaves out the removal of an announcement that another group has removed. Errors: LaneLost.
    [[nodiscard]] result<void> leave_out_removed(std::size_t lane, error const& refused, lane_changes& changes);
    [[nodiscard]] result<void> save(
        std::size_t lane, std::vector<fed_partition> const& all, std::vector<registered> const& groups);
    /// Sends the changes if one more does not fit.
    [[nodiscard]] result<void> make_room(std::size_t lane, lane_changes& due);
    [[nodiscard]] result<void> add_position(std::size_t lane, fed_partition const& one, lane_changes& due);
    /// Adds the removal of each announcement that all groups have processed.
    [[nodiscard]] result<void> add_removals(
        std::size_t lane, fed_partition const& one, std::vector<log_position> const& theirs, lane_changes& due);
    [[nodiscard]] result<void> trim(
        std::size_t lane, fed_partition const& one, std::vector<log_position> const& positions);

    [[nodiscard]] result<std::optional<registered>> registration(std::size_t lane) const;
    /// Registers the group in a lane. Returns the registration that was there before, if any.
    [[nodiscard]] result<std::optional<registered>> insert_registration(std::size_t lane);
    /// Removes the lease with the registration, so that no worker saves a position later.
    [[nodiscard]] result<void> remove_registration(std::size_t lane);
    [[nodiscard]] result<void> remove_positions(std::size_t lane);
    [[nodiscard]] result<void> announce_all(std::string scanned);
    [[nodiscard]] result<some_partitions> partitions_after(std::string const& scanned) const;
    [[nodiscard]] result<void> announce_some(std::vector<std::string> const& partitions);
    [[nodiscard]] result<void> mark(std::size_t lane, bool joined, std::string_view scanned);

    [[nodiscard]] result<lane_state> state_of(std::size_t lane) const;
    /// Adds to the status of a group what it has not processed in a lane.
    [[nodiscard]] result<void> add_unprocessed(std::size_t lane, lane_state& of, group_status& group) const;
    /// Number of the last change in the partition and log lane of an announcement; read once.
    [[nodiscard]] result<std::int64_t> last_number_of(lane_state& of, announcement const& one) const;

    shared<index_family> family_;
    std::string group_;
    std::string name_; ///< of the table of announcements
    feed_options options_;
    fresh_ids ids_;
    std::string claim_;
    std::vector<held_lane> lanes_;
    std::size_t next_lane_{};
    std::uint64_t idle_rounds_{}; ///< rounds of looks since changes were found
};

/// Whether a position is not before a number in a lane of a log.
[[nodiscard]] inline bool has_reached(
    log_position const& position, guid const& log, std::uint32_t lane, std::int64_t number) noexcept {
    return position.log == log && lane < position.numbers.size() && position.numbers[lane] >= number;
}

/// Returns those of the changes that the partition of a transaction does not have, and adds to the transaction that it has them.
[[nodiscard]] result<partition_changes> changes_for_target(
    transaction_scope& all, std::string const& table, std::string const& group, partition_changes const& of);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/feed/impl/feed_core.ipp>
#include <entitable/work/feed/impl/feed_groups.ipp>
#include <entitable/work/feed/impl/feed_look.ipp>
#include <entitable/work/feed/impl/feed_positions.ipp>
#endif
