// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The state shared by all handles of hashed stores: the list of stores and their fleet.

#include <entitable/core/shared.hpp>
#include <entitable/shards/map/detail/watched_stores.hpp>

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
ENTITABLE_END_NAMESPACE
