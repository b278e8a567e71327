// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Which keys a query asks for: an interval of partition keys and an interval of row keys, both in the
/// service's order of keys.

#include <entitable/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// One end of an interval of keys.
struct key_bound {
    /// How the end bounds: not at all, with its key, without its key.
    enum class kind : std::uint8_t {
        open,      ///< no bound
        inclusive, ///< the key is in
        exclusive, ///< the key is out
    };

    kind end{kind::open}; ///< how it bounds
    std::string key;      ///< meaningless where it is open

    /// The end at `key`, which belongs to the interval.
    [[nodiscard]] static key_bound including(std::string key) {
        return {kind::inclusive, static_cast<std::string&&>(key)};
    }
    /// The end at `key`, which does not belong to the interval.
    [[nodiscard]] static key_bound excluding(std::string key) {
        return {kind::exclusive, static_cast<std::string&&>(key)};
    }

    friend bool operator==(key_bound const&, key_bound const&) = default;
};

/// The keys between two bounds; by default all keys.
struct key_interval {
    key_bound lower; ///< the first keys
    key_bound upper; ///< the last keys

    /// Exactly `key`.
    [[nodiscard]] static key_interval only(std::string const& key) {
        return {key_bound::including(key), key_bound::including(key)};
    }
    /// The keys that end with `last`.
    [[nodiscard]] static key_interval until(key_bound last) {
        key_interval made; // not made from a list: GCC 12 warns of one whose first bound is empty
        made.upper = static_cast<key_bound&&>(last);
        return made;
    }
    /// Every key.
    [[nodiscard]] bool is_all() const noexcept {
        return lower.end == key_bound::kind::open && upper.end == key_bound::kind::open;
    }
    /// Exactly one key.
    [[nodiscard]] bool is_point() const noexcept {
        return lower.end == key_bound::kind::inclusive && upper.end == key_bound::kind::inclusive &&
            lower.key == upper.key;
    }
    /// No key at all.
    ENTITABLE_LAZY [[nodiscard]] bool is_empty() const noexcept;
    /// Whether `key` lies in it. Keys are compared by UTF-16 code unit, as the service does.
    ENTITABLE_LAZY [[nodiscard]] bool contains(std::string_view key) const noexcept;
    /// The number of comparisons it takes in a filter of the service.
    ENTITABLE_LAZY [[nodiscard]] std::size_t comparisons() const noexcept;
    /// For a person: `RowKey >= "a" && RowKey < "b"`; empty for all keys.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string(std::string_view name) const;

    friend bool operator==(key_interval const&, key_interval const&) = default;
};

/// The rows whose partition key and row key both lie in their interval.
struct key_range {
    key_interval partition; ///< of the partition keys
    key_interval row;       ///< of the row keys

    [[nodiscard]] bool is_empty() const noexcept { return partition.is_empty() || row.is_empty(); } ///< no row at all
    [[nodiscard]] bool is_point() const noexcept { return partition.is_point() && row.is_point(); } ///< exactly one row
    /// Whether the row with these keys lies in it.
    [[nodiscard]] bool contains(std::string_view partition_key, std::string_view row_key) const noexcept {
        return partition.contains(partition_key) && row.contains(row_key);
    }
    /// The number of comparisons it takes in a filter of the service.
    [[nodiscard]] std::size_t comparisons() const noexcept { return partition.comparisons() + row.comparisons(); }
    /// For a person: `PartitionKey == "p" && RowKey >= "a"`; "all keys" for all rows.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const;

    friend bool operator==(key_range const&, key_range const&) = default;
};

/// The order of two lower bounds: negative when `left` lets in keys that `right` does not.
ENTITABLE_LAZY [[nodiscard]] int compare_lower(key_bound const& left, key_bound const& right) noexcept;
/// The order of two upper bounds: negative when `right` lets in keys that `left` does not.
ENTITABLE_LAZY [[nodiscard]] int compare_upper(key_bound const& left, key_bound const& right) noexcept;
/// The keys that are in both.
ENTITABLE_LAZY [[nodiscard]] key_interval intersection(key_interval const& left, key_interval const& right);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/request/impl/key_range.ipp>
#endif
