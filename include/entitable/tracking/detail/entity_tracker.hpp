// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `entity_tracker`: what a unit of work knows, without the types of its entities: the identity map, the table of merge options,
/// conflicts. It sends nothing.

#include <entitable/client/table_core.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/tracking/detail/row_merge.hpp>
#include <entitable/tracking/detail/tracked_entity.hpp>

#include <unordered_set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Makes an object to read a row into.
using entity_maker = function_ref<std::unique_ptr<tracked_entity>()>;

/// A number of keys.
[[nodiscard]] inline std::size_t hash_of_keys(std::string_view partition_key, std::string_view row_key) noexcept {
    std::size_t const first = std::hash<std::string_view>{}(partition_key);
    return std::hash<std::string_view>{}(row_key) ^ (first * 31 + (first >> 7U));
}
/// Keys to look for.
struct sought_keys {
    std::string_view partition_key;
    std::string_view row_key;
    std::size_t hash{hash_of_keys(partition_key, row_key)};
};
/// An entity in the identity map, with the number of its keys, which never change.
struct identity {
    tracked_entity* of;
    std::size_t hash;
};
struct identity_hash {
    using is_transparent = void;
    std::size_t operator()(identity const& each) const noexcept { return each.hash; }
    std::size_t operator()(sought_keys const& keys) const noexcept { return keys.hash; }
};
struct same_identity {
    using is_transparent = void;
    bool operator()(identity const& one, identity const& other) const noexcept { return one.of == other.of; }
    /// Others in the same place of the map are told apart without a look at them, which is elsewhere in memory.
    bool operator()(sought_keys const& keys, identity const& each) const noexcept {
        return keys.hash == each.hash && keys.row_key == each.of->row_key() &&
            keys.partition_key == each.of->partition_key();
    }
    bool operator()(identity const& each, sought_keys const& keys) const noexcept { return (*this)(keys, each); }
};

/// A change that was lost, and that nobody looks for any more.
struct dropped_change {
    tracked_entity* of;
    error why;
};

/// One thread at a time. Objects stay where they are.
class entity_tracker {
public:
    explicit entity_tracker(table_core core) : core_(std::move(core)) {}

    [[nodiscard]] table_core const& core() const noexcept { return core_; }
    /// Those that are tracked, in the order of their coming; null where one has gone.
    [[nodiscard]] std::vector<std::unique_ptr<tracked_entity>> const& all() const noexcept { return list_; }
    /// How many are tracked.
    [[nodiscard]] std::size_t size() const noexcept { return index_.size(); }
    /// The one with these keys; null when there is none.
    [[nodiscard]] tracked_entity* at(std::string_view partition_key, std::string_view row_key) const {
        auto const found = index_.find(sought_keys{partition_key, row_key});
        return found == index_.end() ? nullptr : found->of;
    }
    /// The one with this object; else the one with the keys of it, which the object may have in error; else null.
    [[nodiscard]] tracked_entity* of(void const* address, result<row> const& keys) const;
    /// How it stands. It is encoded for that, unless it is plain.
    [[nodiscard]] entity_state state(tracked_entity const& of) const;

    // ---- verbs ----

    /// The object of it, which is tracked, or else kept only: then `problem` has it that the keys are taken.
    tracked_entity& add(std::unique_ptr<tracked_entity> fresh);
    tracked_entity& attach(std::unique_ptr<tracked_entity> known, etag_condition version);
    void remove(tracked_entity& of);
    /// Forgets it; the object ends.
    void detach(tracked_entity& of);
    /// Forgets it; the object stays until `clear`.
    void release(tracked_entity& of);
    /// Forgets all; all objects end.
    void clear();
    /// Refuses at the next save. The first one counts.
    void refuse(failure problem);
    /// What was refused; asked once.
    [[nodiscard]] result<void> take_problem() { return std::exchange(problem_, result<void>{}); }

    // ---- rows that were read ----

    /// Takes a row that was read: the object, new or tracked; with `no_tracking` one that is not tracked.
    [[nodiscard]] result<tracked_entity*> read(
        row_view found, etag const& version, merge_option how, entity_maker make);
    /// The same of one that is tracked.
    [[nodiscard]] result<void> merge(tracked_entity& into, row_view found, etag const& version, merge_option how);
    /// Takes it that the row of a tracked entity is not there.
    void gone(tracked_entity& of, merge_option how);
    /// The row in place of all that is known.
    [[nodiscard]] result<void> take(tracked_entity& into, row_view found, etag const& version);
    /// Three-way, from the base: into the object, or a conflict.
    [[nodiscard]] result<void> merge_properties(tracked_entity& into, row_view found, etag const& version);
    /// The row becomes the base; the object stays as it is.
    [[nodiscard]] result<void> rebase(tracked_entity& of, row_view onto, etag const& version);
    /// After a write: the object is as its row, which has this version.
    void written_as(tracked_entity& of, row base, bool complete, etag version);
    void conflict(tracked_entity& of, std::optional<row_view> theirs, etag version);

    /// Ends a conflict: mine or theirs. False when there is none.
    [[nodiscard]] result<bool> resolve(tracked_entity& of, keep which);
    /// Ends a conflict with the values that the object was given.
    [[nodiscard]] result<bool> resolve_by_value(tracked_entity& of);

    /// Lost changes that were given up since the last time.
    [[nodiscard]] std::vector<dropped_change> take_dropped() { return std::exchange(dropped_, {}); }

private:
    tracked_entity& keep_aside(std::unique_ptr<tracked_entity> object);
    tracked_entity& begin(std::unique_ptr<tracked_entity> object);
    [[nodiscard]] std::unique_ptr<tracked_entity> take_out(tracked_entity& of);

    table_core core_;
    std::vector<std::unique_ptr<tracked_entity>> list_;
    std::unordered_set<identity, identity_hash, same_identity> index_;
    std::vector<std::unique_ptr<tracked_entity>> aside_; ///< objects that are not tracked, or not any more
    std::vector<dropped_change> dropped_;
    result<void> problem_;
    mutable row scratch_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/tracking/impl/entity_tracker.ipp>
#endif
