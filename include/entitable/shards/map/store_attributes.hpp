// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `store_attributes`: where a store is, and when it is maintained, as data in the map. Rebalancing and reference tables use them.

#include <entitable/client/mapping/macro.hpp>
#include <entitable/shards/map/shard_map.hpp>

#include <chrono>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// A day of the week, or every day.
enum class window_day : std::uint8_t {
    monday,    ///< Mondays
    tuesday,   ///< Tuesdays
    wednesday, ///< Wednesdays
    thursday,  ///< Thursdays
    friday,    ///< Fridays
    saturday,  ///< Saturdays
    sunday,    ///< Sundays
    daily,     ///< every day
};

/// A time in which a store is maintained, every week or every day, in UTC. It may extend beyond midnight.
struct maintenance_window {
    window_day day{window_day::daily}; ///< the day on which it begins
    std::chrono::minutes begin{};      ///< from midnight, less than 24 hours
    std::chrono::minutes length{60};   ///< at least a minute; at most a day if it is daily, otherwise at most a week

    /// Whether a time is within the window.
    [[nodiscard]] bool contains(date_time now) const noexcept;
    /// Whether the figures are within their limits.
    [[nodiscard]] bool good() const noexcept;
};

/// The attributes of a store, as stored in the table of the map. Format: docs/stored_formats.md.
///
///     put_attributes(map, store_attributes::of("east", "germanywestcentral", {{window_day::sunday, 1h, 4h}}))
struct store_attributes {
    std::string map{"map"}; ///< the partition of all rows of a map
    std::string store;      ///< name of the store
    std::string region;     ///< a name of yours, at most 63 characters as in names of stores; empty if unknown
    std::string windows;    ///< "sun 01:00 240;daily 23:30 60": day, begin in UTC, minutes

    /// Makes attributes from their values.
    [[nodiscard]] static store_attributes of(
        std::string store, std::string region, std::vector<maintenance_window> const& windows = {});
    /// Returns the windows. Errors: InvalidInput if the text is malformed.
    [[nodiscard]] result<std::vector<maintenance_window>> maintenance() const;
};
ENTITABLE(store_attributes, partition_key(map), row_key(literal("attributes"), store), properties(region, windows))

/// The attributes of all stores that have some. A plain value.
class store_attribute_list {
public:
    store_attribute_list() = default; ///< no attributes
    /// Holds the given attributes.
    explicit store_attribute_list(std::vector<store_attributes> all) : all_(std::move(all)) {}

    [[nodiscard]] std::vector<store_attributes> const& all() const noexcept { return all_; } ///< sorted by store
    /// Returns the region of a store; empty if unknown.
    [[nodiscard]] std::string_view region_of(std::string_view store) const noexcept;
    /// Returns the stores of a region, for placement rules.
    [[nodiscard]] std::vector<std::string> stores_in(std::string_view region) const;
    /// Whether a store is within one of its windows at this time. A malformed window counts as none.
    [[nodiscard]] bool in_maintenance(std::string_view store, date_time now) const;
    /// Sorts names of stores: those of the first region first, then those of the second, and so on, others last; in each group stores
    /// outside their windows first, and otherwise by name.
    [[nodiscard]] std::vector<std::string> nearest_first(
        std::vector<std::string> stores, std::vector<std::string> const& regions, date_time now) const;

private:
    std::vector<store_attributes> all_;
};

/// Reads the attributes of a map's stores. Errors: MapUnavailable.
[[nodiscard]] result<store_attribute_list> attributes_of(lookup_map const& map);
/// Stores the attributes of a store, replacing earlier ones. Later plans use them. InvalidInput for an invalid name, region or window.
[[nodiscard]] result<void> put_attributes(lookup_map const& map, store_attributes const& attributes);
/// Removes the attributes of a store; ResourceNotFound if it has none.
[[nodiscard]] result<void> remove_attributes(lookup_map const& map, std::string_view store);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/map/impl/store_attributes.ipp>
#endif
