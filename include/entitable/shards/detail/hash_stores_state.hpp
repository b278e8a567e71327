// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What all handles of stores on a hash share: the stores that were opened, and when the header of each was looked at.

#include <entitable/core/clock.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/shards/store_opener.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Where the headers of a store are.
inline constexpr std::string_view hash_headers_table = "entitableshards";

struct hash_stores_state : counted {
    hash_stores_state(std::vector<std::string> of, store_opener with, std::int64_t at, std::chrono::nanoseconds every,
        clock& clock_of_leases);

    std::vector<std::string> names;
    store_opener open;
    std::int64_t generation;
    std::chrono::nanoseconds check_every;
    clock& time;

    /// Opens a store, and does not look at its header. InvalidInput where the list has no such place.
    [[nodiscard]] result<any_transport> store(std::size_t place);
    /// The same for these places, with the header looked at where that is due: all at once.
    [[nodiscard]] std::vector<result<any_transport>> checked(
        std::vector<std::size_t> const& places, call const& caller);
    /// The place of a store in the list; its end where it is not there.
    [[nodiscard]] std::size_t place_of(std::string_view name) const noexcept;
    /// Whether what was read in the table of headers is the header of this place; the fleet of the first one is that of all.
    [[nodiscard]] result<void> judge(std::size_t place, result<query_entities::response> const& found);
    /// Logical tables, from the first store that answers.
    [[nodiscard]] result<std::vector<std::string>> tables(call const& caller);

    std::string fleet; ///< of the first header that was read; empty before

private:
    struct watched {
        std::optional<any_transport> through;
        std::optional<steady_time> checked_at;
        bool checking{};
    };

    std::mutex lock_;
    std::vector<watched> stores_;
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
