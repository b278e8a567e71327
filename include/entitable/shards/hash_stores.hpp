// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `hash_stores`: shards without a map. The hash of the partition key says in which store of a list a partition is, and a header row in each
/// store says that the list is the right one.
///
///     auto stores = hash_stores::open({"one", "two", "three"}, open_store).value();
///     sharded cloud{stores};

#include <entitable/shards/sharded.hpp>
#include <entitable/shards/store_headers.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of stores on a hash.
struct hash_stores_options {
    std::int64_t generation{
        1}; ///< 1 to 999,999,999: in the names of tables, so that a store may be in an old fleet and in a new one
    std::chrono::milliseconds check_every{
        std::chrono::seconds{60}};       ///< how often the header of a store in use is read, 1 ms to 8 h
    clock* time{&detail::lease_clock()}; ///< of these checks; outlives the stores
};

namespace detail {

struct hash_stores_state;

} // namespace detail

/// Stores in an order that never changes. Partition p is in the store `jump_hash(shard_hash(p), number)`; nothing but the header of a store is
/// stored anywhere.
///
/// - The header of a store is read before its first use, and every `hash_stores_options::check_every` from then on. Where it is missing, or has another
///   place, number of stores, fleet or version of the hash, each request to the store is refused with WrongStore, which names the store and what was
///   found; effect none.
/// - A store that does not answer fails the requests to it, and no others; but once in `check_every` one caller waits until the first store that
///   answers has listed its tables.
/// - A store of a map is not one of these: the tables of both would have the same names. Generations may share stores.
/// - Shards do not move, and the list does not grow in place: `plan_move` and rules answer NotSupported. To grow, make the next generation,
///   or other stores, copy while nobody writes, and `retire` the old one.
/// - The names of tables have 46 characters at most.
///
/// Thread safety: safe to use from several threads. A cheap handle: copies share everything.
class hash_stores {
public:
    /// Opens stores that were made, and heals nothing: their headers are read at once. WrongStore as above, also where two stores are of different
    /// fleets; InvalidInput for no name, 901, one that is no name or there twice; the error of the first store where none answers. One that does
    /// not answer is looked at when it is used. Cost: one request a store, at once.
    [[nodiscard]] static result<hash_stores> open(
        std::vector<std::string> stores, store_opener opener, hash_stores_options const& options = {});
    /// Writes the headers of a generation, and opens the stores. After an error the same call resumes. Cost: six requests a store at most.
    ///
    /// Errors: AlreadyMade where every store has its header: open them; WrongStore where some have one and others lack it, or a store has another
    /// header of this generation, a retired one, one of a greater generation, or belongs to a map: nothing is changed in it.
    [[nodiscard]] static result<hash_stores> make(
        std::vector<std::string> stores, store_opener opener, hash_stores_options const& options = {});

    /// Retires this generation for good: programs that still use it are refused within their `check_every`, and nobody can make it again. Tables
    /// stay. After an error the same call resumes. Errors: WrongStore where a store has the header of another list or fleet, before anything is changed, or
    /// belongs to a map; those of the stores.
    [[nodiscard]] result<void> retire() const;
    /// The same where the stores cannot be opened any more, since some are retired.
    [[nodiscard]] static result<void> retire(
        std::vector<std::string> stores, store_opener opener, hash_stores_options const& options = {});

    /// For `sharded`.
    [[nodiscard]] shared<detail::hash_stores_state> const& state() const noexcept { return state_; }
    /// What the stores look like as a map that nobody changes.
    [[nodiscard]] lookup_map const& map() const noexcept { return map_; }

private:
    hash_stores(shared<detail::hash_stores_state> state, lookup_map map)
        : state_(std::move(state)), map_(std::move(map)) {}

    shared<detail::hash_stores_state> state_;
    lookup_map map_;
};

ENTITABLE_END_NAMESPACE

#include <entitable/shards/detail/hash_stores_state.hpp>

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/impl/hash_stores.ipp>
#include <entitable/shards/impl/hash_stores_making.ipp>
#endif
