// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `entity_tracker`: the state of a unit of work, without the types of its entities: the identity map, the table of merge options,
/// conflicts. It sends nothing.

#include <entitable/client/table_core.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/row/row.hpp>
#include <entitable/work/tracking/detail/row_merge.hpp>
#include <entitable/work/tracking/detail/tracked_entity.hpp>

#include <string>
#include <unordered_set>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Makes an object for a row to be read into.
using entity_maker = function_ref<std::unique_ptr<tracked_entity>()>;

/// Hashes keys.
[[nodiscard]] inline std::size_t hash_of_keys(std::string_view partition_key, std::string_view row_key) noexcept {
    std::size_t const first = std::hash<std::string_view>{}(partition_key);
    return std::hash<std::string_view>{}(row_key) ^ (first * 31 + (first >> 7U));
}
/// Keys to look up.
struct sought_keys {
    std::string_view partition_key;
    std::string_view row_key;
    std::size_t hash{hash_of_keys(partition_key, row_key)};
};
/// An entity in the identity map, with the hash of its keys, which never change.
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
    /// Entities with a different hash are distinguished without reading them, which would cost a cache miss.
    bool operator()(sought_keys const& keys, identity const& each) const noexcept {
        return keys.hash == each.hash && keys.row_key == each.of->row_key() &&
            keys.partition_key == each.of->partition_key();
    }
    bool operator()(identity const& each, sought_keys const& keys) const noexcept { return (*this)(keys, each); }
};

/// A lost change whose outcome is no longer determined.
struct dropped_change {
    tracked_entity* of;
    error why;
};

/// Used by one thread at a time. Objects are never moved.
class entity_tracker {
public:
    explicit entity_tracker(table_core core) : core_(std::move(core)) {}

    [[nodiscard]] table_core const& core() const noexcept { return core_; }
    /// The tracked entities, in the order in which they were added; null for a removed entity.
    [[nodiscard]] std::vector<std::unique_ptr<tracked_entity>> const& all() const noexcept { return list_; }
    /// Number of tracked entities.
    [[nodiscard]] std::size_t size() const noexcept { return index_.size(); }
    /// Returns the entity with these keys; null if there is none.
    [[nodiscard]] tracked_entity* at(std::string_view partition_key, std::string_view row_key) const {
        auto const found = index_.find(sought_keys{partition_key, row_key});
        return found == index_.end() ? nullptr : found->of;
    }
    /// Returns the entity with this object, or else the entity with its keys (`keys` may be an error), or else null.
    [[nodiscard]] tracked_entity* of(void const* address, result<row> const& keys) const;
    /// Returns the state of an entity. Encodes the entity, unless the state is known without encoding.
    [[nodiscard]] entity_state state(tracked_entity const& of) const;

    // ---- verbs ----

    /// Adds an entity and returns its object. If its keys are already tracked, the object is only stored, and `problem` is set.
    tracked_entity& add(std::unique_ptr<tracked_entity> fresh);
    tracked_entity& attach(std::unique_ptr<tracked_entity> known, etag_condition version);
    void remove(tracked_entity& of, entitable::removal sums);
    /// Stops tracking an entity; destroys the object.
    void detach(tracked_entity& of);
    /// Stops tracking an entity; the object exists until `clear`.
    void release(tracked_entity& of);
    /// Stops tracking all entities; destroys all objects.
    void clear();
    /// Sets the error of the next save. The first error counts.
    void refuse(failure problem);
    /// Returns and clears that error.
    [[nodiscard]] result<void> take_problem() { return std::exchange(problem_, result<void>{}); }

    // ---- rows that were read ----

    /// Takes a row that was read and returns its object, new or tracked; with `no_tracking` an untracked object.
    [[nodiscard]] result<tracked_entity*> read(
        row_view found, etag const& version, merge_option how, entity_maker make);
    /// Does the same for a tracked entity.
    [[nodiscard]] result<void> merge(tracked_entity& into, row_view found, etag const& version, merge_option how);
    /// Records that the row of a tracked entity does not exist.
    void gone(tracked_entity& of, merge_option how);
    /// Replaces the whole state with the state of the row.
    [[nodiscard]] result<void> take(tracked_entity& into, row_view found, etag const& version);
    /// Three-way merge with the base: changes the object, or records a conflict.
    [[nodiscard]] result<void> merge_properties(tracked_entity& into, row_view found, etag const& version);
    /// Makes the row the base; does not change the object.
    [[nodiscard]] result<void> rebase(tracked_entity& of, row_view onto, etag const& version);
    /// After a write: the object equals its row, which has this version.
    void written_as(tracked_entity& of, row base, bool complete, etag version);
    void conflict(tracked_entity& of, std::optional<row_view> theirs, etag version);

    /// Resolves a conflict with mine or theirs; false if there is no conflict.
    [[nodiscard]] result<bool> resolve(tracked_entity& of, keep which);
    /// Resolves a conflict with the values assigned to the object.
    [[nodiscard]] result<bool> resolve_by_value(tracked_entity& of);

    /// Returns the lost changes that were abandoned since the last call.
    [[nodiscard]] std::vector<dropped_change> take_dropped() { return std::exchange(dropped_, {}); }

private:
    tracked_entity& keep_aside(std::unique_ptr<tracked_entity> object);
    tracked_entity& begin(std::unique_ptr<tracked_entity> object);
    [[nodiscard]] std::unique_ptr<tracked_entity> take_out(tracked_entity& of);

    table_core core_;
    std::vector<std::unique_ptr<tracked_entity>> list_;
    std::unordered_set<identity, identity_hash, same_identity> index_;
    std::vector<std::unique_ptr<tracked_entity>> aside_; ///< objects that are not, or no longer, tracked
    std::vector<dropped_change> dropped_;
    result<void> problem_;
    mutable row scratch_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/tracking/impl/entity_tracker.ipp>
#endif
