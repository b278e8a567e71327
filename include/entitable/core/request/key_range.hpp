// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The keys of a query: an interval of partition keys and an interval of row keys, both in the service's key order.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// One end of an interval of keys.
struct key_bound {
    /// Type of the bound: none, inclusive or exclusive.
    enum class kind : std::uint8_t {
        open,      ///< unbounded
        inclusive, ///< includes the key
        exclusive, ///< excludes the key
    };

    kind end{kind::open}; ///< type of the bound
    std::string key;      ///< meaningless if open

    /// A bound that includes `key`.
    [[nodiscard]] static key_bound including(std::string key) {
        return {kind::inclusive, static_cast<std::string&&>(key)};
    }
    /// A bound that excludes `key`.
    [[nodiscard]] static key_bound excluding(std::string key) {
        return {kind::exclusive, static_cast<std::string&&>(key)};
    }

    friend bool operator==(key_bound const&, key_bound const&) = default;
};

/// The keys between two bounds; by default all keys.
struct key_interval {
    key_bound lower; ///< lower bound
    key_bound upper; ///< upper bound

    /// Only `key`.
    [[nodiscard]] static key_interval only(std::string const& key) {
        return {key_bound::including(key), key_bound::including(key)};
    }
    /// The keys up to `last`.
    [[nodiscard]] static key_interval until(key_bound last) {
        key_interval made; // not made from a list: GCC 12 warns about a list whose first bound is empty
        made.upper = static_cast<key_bound&&>(last);
        return made;
    }
    /// Whether it contains every key.
    [[nodiscard]] bool is_all() const noexcept {
        return lower.end == key_bound::kind::open && upper.end == key_bound::kind::open;
    }
    /// Whether it contains exactly one key.
    [[nodiscard]] bool is_point() const noexcept {
        return lower.end == key_bound::kind::inclusive && upper.end == key_bound::kind::inclusive &&
            lower.key == upper.key;
    }
    /// Whether it contains no key.
    ENTITABLE_LAZY [[nodiscard]] bool is_empty() const noexcept;
    /// Whether it contains `key`. Keys are compared by UTF-16 code unit, as the service does.
    ENTITABLE_LAZY [[nodiscard]] bool contains(std::string_view key) const noexcept;
    /// Number of comparisons in a filter of the service.
    ENTITABLE_LAZY [[nodiscard]] std::size_t comparisons() const noexcept;
    /// Formats as readable text: `RowKey >= "a" && RowKey < "b"`; empty for all keys.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string(std::string_view name) const;

    friend bool operator==(key_interval const&, key_interval const&) = default;
};

/// The rows whose partition key and row key both lie in the intervals.
struct key_range {
    key_interval partition; ///< partition keys
    key_interval row;       ///< row keys

    [[nodiscard]] bool is_empty() const noexcept { return partition.is_empty() || row.is_empty(); } ///< no rows
    [[nodiscard]] bool is_point() const noexcept { return partition.is_point() && row.is_point(); } ///< a single row
    /// Whether it contains the row with these keys.
    [[nodiscard]] bool contains(std::string_view partition_key, std::string_view row_key) const noexcept {
        return partition.contains(partition_key) && row.contains(row_key);
    }
    /// Number of comparisons in a filter of the service.
    [[nodiscard]] std::size_t comparisons() const noexcept { return partition.comparisons() + row.comparisons(); }
    /// Formats as readable text: `PartitionKey == "p" && RowKey >= "a"`; "all keys" for all rows.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const;

    friend bool operator==(key_range const&, key_range const&) = default;
};

/// Compares two lower bounds: negative if `left` admits keys that `right` excludes.
ENTITABLE_LAZY [[nodiscard]] int compare_lower(key_bound const& left, key_bound const& right) noexcept;
/// Compares two upper bounds: negative if `right` admits keys that `left` excludes.
ENTITABLE_LAZY [[nodiscard]] int compare_upper(key_bound const& left, key_bound const& right) noexcept;
/// Returns the keys in both intervals.
ENTITABLE_LAZY [[nodiscard]] key_interval intersection(key_interval const& left, key_interval const& right);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/request/impl/key_range.ipp>
#endif

#endif
