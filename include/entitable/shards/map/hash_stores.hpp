// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `hash_stores`: shards without a map. The hash of the partition key picks the store of a partition from a list, and a header row in each
/// store confirms that the list is correct.
///
///     auto stores = hash_stores::open({"one", "two", "three"}, open_store).value();
///     sharded cloud{stores};

#include <entitable/core/shared.hpp>
#include <entitable/shards/map/detail/watched_stores.hpp>
#include <entitable/shards/map/shard_map.hpp>
#include <entitable/shards/map/store_headers.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct store_rows;

struct hash_stores_state : counted {
    hash_stores_state(std::vector<std::string> of, store_opener with, std::int64_t at, std::chrono::nanoseconds every,
        clock& clock_of_leases);

    std::vector<std::string> names;
    std::int64_t generation;
    std::chrono::nanoseconds check_every;
    watched_stores stores;

    /// Opens a store without checking its header. InvalidInput if the place is out of range.
    [[nodiscard]] result<any_store> store(std::size_t place);
    /// Opens several stores, and concurrently checks the headers whose check is due.
    [[nodiscard]] std::vector<result<any_store>> checked(std::vector<std::size_t> const& places, call const& caller);
    /// Returns the place of a store in the list; the list's size if it is absent.
    [[nodiscard]] std::size_t place_of(std::string_view name) const noexcept;
    /// Checks that a store's rows contain the header for this place, which may still be being written. The first store's fleet becomes the
    /// fleet of all.
    [[nodiscard]] result<void> judge(std::size_t place, store_rows const& rows, bool being_made);
    /// Lists the logical tables, from the first store that responds.
    [[nodiscard]] result<std::vector<std::string>> tables(call const& caller);

    std::string fleet; ///< identity in the first header that was read; empty until then

private:
    std::mutex lock_;
};

/// Serves readers of a map as if a map existed; changes return NotSupported.
class hash_catalogue {
public:
    using is_transport = void; ///< opts in to `transport`

    explicit hash_catalogue(shared<hash_stores_state> stores) noexcept : stores_(std::move(stores)) {}

    [[nodiscard]] entitable::profile profile() const noexcept { return storage_profile(); }
    [[nodiscard]] result<get_entity::response> execute(get_entity const& request, call& context) const;
    [[nodiscard]] result<query_entities::response> execute(query_entities const& request, call& context) const;
    [[nodiscard]] result<write_entity::response> execute(write_entity const& request, call& context) const;
    [[nodiscard]] result<transact::response> execute(transact const& request, call& context) const;

private:
    shared<hash_stores_state> stores_;
};

} // namespace detail

/// Options of hashed stores.
struct hash_stores_options {
    std::int64_t generation{
        1}; ///< 1 to 999,999,999; part of table names, so that a store can belong to an old and to a new fleet
    std::chrono::milliseconds check_every{
        std::chrono::seconds{60}};       ///< how often the header of a store in use is read, 1 ms to 8 h
    clock* time{&detail::lease_clock()}; ///< used to schedule these checks; must outlive the stores
};

namespace detail {

struct hash_stores_state;

} // namespace detail

/// Stores in an order that never changes. Partition p is in the store `jump_hash(shard_hash(p), number)`; only the header of each store is
/// persisted.
///
/// - The header of a store is read before its first use, and every `hash_stores_options::check_every` from then on. If it is missing, or
///   has a different place, number of stores, fleet or hash version, each request to the store is refused with
///   WrongStore, which names the store and the header found; the effect is none.
/// - A store that does not respond fails only the requests to it. However, once per `check_every`, one caller waits until the first store
///   that responds has listed its tables.
/// - A store of a map cannot be a hashed store: the tables of the map and of the hashed stores would have the same names. Generations
///   may share stores.
/// - Shards do not move, and the list does not grow in place: `plan_move` and rules return NotSupported. To grow, make
///   the next generation, in the same stores or in others, copy the rows while no program writes, and `retire` the old
///   generation.
/// - Table names must have at most 46 characters.
///
/// Thread safety: safe to use from several threads. A cheap handle: copies share all state.
class hash_stores {
public:
    /// Opens existing stores without repairing anything; their headers are read concurrently. WrongStore as above, and
    /// if two stores are of different fleets; InvalidInput for an empty list, more than 900 names, an invalid or
    /// repeated name; the error of the first store if no store responds. A store that does not respond is checked when
    /// it is used. Cost: one request per store, sent concurrently.
    [[nodiscard]] static result<hash_stores> open(
        std::vector<std::string> stores, store_opener opener, hash_stores_options const& options = {});
    /// Writes the headers of a generation, and opens the stores. After an error, the same call resumes. Cost: at most six requests per
    /// store.
    ///
    /// Errors: AlreadyMade if every store has its header: open them; WrongStore if only some stores have a header, or if a store has a
    /// different or retired header of this generation, a header of a higher generation, or belongs to a map: such a store is not changed.
    [[nodiscard]] static result<hash_stores> make(
        std::vector<std::string> stores, store_opener opener, hash_stores_options const& options = {});

    /// Retires this generation permanently: programs that still use it are refused within their `check_every`, and it cannot be recreated.
    /// Its tables are not dropped. After an error, the same call resumes. Errors: those of the stores; WrongStore if a store has the header
    /// of a different list or fleet (nothing is changed then), or belongs to a map.
    [[nodiscard]] result<void> retire() const;
    /// Retires a generation whose stores can no longer be opened because some are retired.
    [[nodiscard]] static result<void> retire(
        std::vector<std::string> stores, store_opener opener, hash_stores_options const& options = {});

    /// Used by `sharded`.
    [[nodiscard]] shared<detail::hash_stores_state> const& state() const noexcept { return state_; }
    /// Returns the stores as a read-only map.
    [[nodiscard]] lookup_map const& map() const noexcept { return map_; }

private:
    hash_stores(shared<detail::hash_stores_state> state, lookup_map map)
        : state_(std::move(state)), map_(std::move(map)) {}

    shared<detail::hash_stores_state> state_;
    lookup_map map_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/map/impl/hash_stores.ipp>
#include <entitable/shards/map/impl/hash_stores_making.ipp>
#endif
