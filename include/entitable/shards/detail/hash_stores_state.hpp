// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What all handles of stores on a hash share: the list of the stores, and whose fleet they are.

#include <entitable/core/shared.hpp>
#include <entitable/shards/detail/watched_stores.hpp>

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

    /// Opens a store, and does not look at its header. InvalidInput where the list has no such place.
    [[nodiscard]] result<any_transport> store(std::size_t place);
    /// The same for these places, with the header looked at where that is due: all at once.
    [[nodiscard]] std::vector<result<any_transport>> checked(
        std::vector<std::size_t> const& places, call const& caller);
    /// The place of a store in the list; its end where it is not there.
    [[nodiscard]] std::size_t place_of(std::string_view name) const noexcept;
    /// Whether the rows of a store have the header of this place, perhaps one that is being made; the fleet of the first one is that of all.
    [[nodiscard]] result<void> judge(std::size_t place, store_rows const& rows, bool being_made);
    /// Logical tables, from the first store that answers.
    [[nodiscard]] result<std::vector<std::string>> tables(call const& caller);

    std::string fleet; ///< of the first header that was read; empty before

private:
    std::mutex lock_;
};

/// Answers what readers of a map ask, as if there were one; changes of it are NotSupported.
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
