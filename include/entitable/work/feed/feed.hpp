// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `feed`: a group of programs that follows the changes of a table, over any number of partitions.
///
///     feed changes{orders, "search"};                     // orders: table<order, announced>
///     changes.create().value();
///     while (auto batch = changes.next(std::chrono::hours{1}).value()) {
///         for (partition_changes const& each : batch->partitions()) { ... each.changes ... }
///         batch->done().value();
///     }

#include <entitable/work/feed/detail/feed_core.hpp>
#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/row_table.hpp>
#include <entitable/work/messaging/detail/system_changes.hpp>
#endif

ENTITABLE_BEGIN_NAMESPACE

/// Changes of some partitions, until they are processed. Refers to its feed, which may be moved. Thread safety: that of its feed.
class feed_batch {
public:
    /// The partitions with changes, each once, in no particular order.
    [[nodiscard]] std::vector<partition_changes> const& partitions() const noexcept { return partitions_; }
    /// The lane, from 0: workers of a group process different lanes at the same time.
    [[nodiscard]] std::size_t lane() const noexcept { return lane_; }

    /// Saves that the changes are processed: the group does not get them again. Cost: one request for the names of the groups, one
    /// transaction, and one read for each partition and other group; two requests for a partition whose log is trimmed.
    ///
    /// Errors: LaneLost if another worker of the group holds the lane now: it gets the changes again, so that they are processed twice;
    /// GroupMissing if the group has left; those of the store. After an error with effect unknown the call may be repeated.
    [[nodiscard]] result<void> done() const {
        return core_ ? core_->finish(lane_, all_, turn_) : result<void>{detail::moved_from("feed_batch")};
    }
    /// For an effect in a partition of another table: returns those of the changes that the partition does not have, and adds to the
    /// transaction that it has them. So each change has its effect once, however often it is handed over. Call it in each body for a
    /// partition of `partitions()`, before other changes; if neither changes nor a full read are returned, add nothing.
    ///
    /// A changed row must be read from its table within the body. Cost: one read, and one operation of the transaction. Errors: LaneLost as
    /// above; those of a read.
    template <class... E>
    [[nodiscard]] result<partition_changes> done_with(transaction<E...>& changes, partition_changes const& of) const {
        if (!core_) { return detail::moved_from("feed_batch"); }
        return detail::changes_for_target(
            detail::system_changes::scope_of(changes), core_->table(), core_->group(), of);
    }

private:
    friend class feed;
    feed_batch(shared<detail::feed_core> core, std::size_t lane, std::vector<detail::fed_partition> all)
        : core_(std::move(core)), lane_(lane), turn_(core_->turn_of(lane)), all_(std::move(all)) {
        partitions_.reserve(all_.size());
        for (detail::fed_partition& each : all_) {
            partitions_.push_back(each.changes);
            each.changes.changes.clear();
        }
    }

    shared<detail::feed_core> core_;
    std::size_t lane_;
    std::uint64_t turn_;
    std::vector<detail::fed_partition> all_;
    std::vector<partition_changes> partitions_;
};

/// A worker of a group that follows the changes of a table with `announced`. Groups are independent: each gets all changes. Workers of one
/// group share the lanes of the feed, so each change is processed by one of them.
///
/// - Changes of a partition are handed over in the order of their numbers (for each lane of its log), without gaps, and at least once for
///   each group. Changes of different partitions have no order.
/// - A change names rows. It does not contain them: a read returns that state or a later one.
/// - Changes by writers that bypass the table are missing (`table<E>`, `unmaintained`, requests to the store).
/// - A partition is handed over as a whole (`partition_changes::needs_full_read`) when the group joins, and if its log was trimmed behind the
///   position of the group or started again. `feed_options::full_reads` declines that.
/// - The groups trim the logs: only changes that all of them have processed. A group that is not used any more must `leave`: until then no log
///   is trimmed, and announcements stay. `check_lag` finds it.
/// - A copy of the table has no groups: they are created again. So are those of a store that was restored from a backup, since positions of
///   later changes would hide changes.
///
/// Thread safety: one thread at a time; several workers of a group need an object each. After a move it returns InvalidInput.
class feed {
public:
    /// `group`: 1 to 50 letters, digits, hyphens and underscores. Sends nothing.
    template <class First, class Second, class... More>
    feed(reader<First, Second, More...> const& table, std::string group, feed_options options = {})
        : core_(shared<detail::feed_core>::make(
              family_of<detail::feed_lanes_of<First, Second, More...>>(table), std::move(group), std::move(options))) {
        static_assert(detail::feed_lanes_of<First, Second, More...> != 0,
            "the changes of this table are not announced: use table<order, announced>");
    }

    /// A feed of a table whose types the program does not know: the lanes are those that the stored declaration names. Cost: one request.
    ///
    /// Errors: DeclarationMissing if no program has declared that the changes of the table are announced; those of the store.
    [[nodiscard]] static result<feed> of_stored(row_table const& table, std::string group, feed_options options = {});

    /// Registers the group, and announces all partitions of the table to it, so that it reads them once. True if this call completed it;
    /// false if it was registered before. Continues after an interruption. Workers may begin earlier.
    ///
    /// Cost: one request for each lane; one for each 1,000 rows or each partition, whichever are fewer; and one for each 100 partitions.
    /// Errors: TableNotFound if the table was not created with `announced`; those of the store.
    [[nodiscard]] result<bool> create() const { return core_ ? core_->create() : moved(); }
    /// Removes the group and its positions. Workers of the group end with GroupMissing. Continues after an interruption.
    [[nodiscard]] result<void> leave() const { return core_ ? core_->leave() : moved(); }

    /// Returns changes of some partitions, or nothing after the time is over. Looks at each lane at least once, and claims
    /// lanes that no other worker of the group holds.
    ///
    /// The changes of a batch are returned again unless it is done. So process one batch after another.
    ///
    /// Cost: one request for each lane and look; two for each partition with changes, the first time (later one); a claim is one or two
    /// requests, and is renewed once in half of `feed_options::lease`, or by `done`. Errors: GroupMissing before `create`; LogTrimmed without
    /// `feed_options::full_reads`; InvalidInput and OutOfRangeInput for wrong options; those of the store.
    [[nodiscard]] result<std::optional<feed_batch>> next(std::chrono::nanoseconds wait = {}) const {
        if (!core_) { return moved(); }
        std::vector<detail::fed_partition> all;
        auto found = core_->next(wait, all);
        if (!found) { return std::move(found).as_failure(); }
        result<std::optional<feed_batch>> made{std::in_place};
        if (*found) { *made = feed_batch{core_, **found, std::move(all)}; }
        return made;
    }
    /// Gives the lanes to other workers of the group, before they would get them by the end of the lease.
    [[nodiscard]] result<void> release() const { return core_ ? core_->release() : moved(); }

    /// Returns how far each group is. Cost: two requests for each lane, one for each announced
    /// partition and group, and one for each partition that a group has not processed.
    [[nodiscard]] result<feed_status> status() const { return core_ ? core_->status() : moved(); }
    /// Returns the error GroupBehind, which names the group, if changes of any group are not processed that were announced longer ago than
    /// `most`. Cost: that of `status`.
    [[nodiscard]] result<void> check_lag(std::chrono::nanoseconds most = std::chrono::hours{7 * 24}) const;

private:
    explicit feed(shared<detail::feed_core> core) : core_(std::move(core)) {}

    template <std::size_t Lanes, class Table>
    [[nodiscard]] static shared<detail::index_family> family_of(Table const& table) {
        if constexpr (Lanes == 0) {
            return {};
        } else {
            return table.logged_family();
        }
    }
    [[nodiscard]] static failure moved() { return detail::moved_from("feed"); }

    shared<detail::feed_core> core_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/feed/impl/feed.ipp>
#endif
