// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of a table that maintains indexes or sums, and the results of its calls.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/index/intent.hpp>
#include <entitable/client/contention.hpp>
#include <entitable/client/mapping/reference.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/request/call.hpp>

#include <cstdint>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a table that maintains indexes or sums. Transactions and updates use the first three options unless their
/// own options differ from the defaults.
struct table_options {
    std::uint32_t max_attempts{
        50}; ///< maximum number of attempts of a write that other writers interfere with; 0 counts as 1
    backoff delays{contention_backoff}; ///< delays between attempts
    clock* time{&system_clock()};       ///< clock of delays and leases; must outlive the table
    /// Seed of delays and names of intents; 0 draws a new seed in each call. Other values are for tests: if two tables
    /// that write concurrently have the same seed, each mistakes the other's intents for its own.
    std::uint64_t seed{};
    /// Time for which a program relies on the index states that it has read.
    std::chrono::nanoseconds lease{std::chrono::seconds{60}};
    /// Maximum time after which a request may still be applied, in client, gateway and service together. `build` and `retire` wait for it.
    std::chrono::nanoseconds longest_request{std::chrono::seconds{90}};
    /// Maximum difference between a sum of type double and its recomputation, relative to its magnitude, or to 1 if the magnitude is less.
    double bound{1e-9};
    call_options calls{}; ///< options of each call
};

// The enclosing namespace also declares `absent`, for merges.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
/// Whether an index is maintained and used.
enum class index_state : std::uint8_t {
    absent,   ///< the index was never built. Writers maintain it, readers do not use it
    fencing,  ///< a build waits until every writer maintains the index. Writers maintain it, readers do not use it
    building, ///< the index is being written. Writers maintain it, readers do not use it
    ready,    ///< writers maintain it, readers use it
    retiring, ///< a retirement waits until no reader uses it. Writers maintain it, readers do not use it
    retired,  ///< neither maintained nor used
};
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/// Returns the name for logs: "ready".
[[nodiscard]] constexpr std::string_view to_string(index_state state) noexcept {
    constexpr std::string_view words[] = {"absent", "fencing", "building", "ready", "retiring", "retired"};
    return words[static_cast<std::size_t>(state)];
}

/// Fault of an index row.
enum class index_fault : std::uint8_t {
    missing,   ///< an entity has no index row
    dangling,  ///< an index row names an entity that does not exist, or now has a different key
    different, ///< an index row and its entity have different values
    violation, ///< two entities have the same key of a unique index
};

/// Returns the name for logs: "missing".
[[nodiscard]] constexpr std::string_view to_string(index_fault fault) noexcept {
    constexpr std::string_view words[] = {"missing", "dangling", "different", "violation"};
    return words[static_cast<std::size_t>(fault)];
}

/// One fault, with keys.
struct index_difference {
    index_fault fault{};              ///< kind of fault
    std::string index;                ///< the type of the index
    std::string partition_key;        ///< PartitionKey of the index row
    std::string row_key;              ///< RowKey of the index row
    std::string entity_partition_key; ///< PartitionKey of its entity
    std::string entity_row_key;       ///< RowKey of its entity
    std::string other_partition_key;  ///< PartitionKey of the entity that the index row names; for a violation
    std::string other_row_key;        ///< RowKey of the entity that the index row names; for a violation
};

/// Findings of `verify`.
struct index_verification {
    std::uint64_t entities{};              ///< number of entities checked
    std::uint64_t index_rows{};            ///< number of rows checked in all indexes
    std::uint64_t missing{};               ///< see `index_fault`
    std::uint64_t dangling{};              ///< see `index_fault`
    std::uint64_t different{};             ///< see `index_fault`
    std::uint64_t violations{};            ///< see `index_fault`
    std::vector<index_difference> samples; ///< the first faults, at most `max_samples`

    /// Whether there are no faults.
    [[nodiscard]] bool good() const noexcept { return missing + dangling + different + violations == 0; }
};

/// Findings of `verify` of a table that maintains indexes or sums.
struct table_verification {
    index_verification indexes; ///< findings for the index rows
    std::uint64_t sums{};       ///< correct rows of sums
    std::uint64_t wrong_sums{}; ///< rows of sums that are missing or wrong: `build` of these sums corrects them
    std::vector<row_keys> wrong_sums_first; ///< keys of the first wrong rows, at most `max_samples`

    /// Whether there are no faults.
    [[nodiscard]] bool good() const noexcept { return indexes.good() && wrong_sums == 0; }
};

/// Several entities with the same key in a unique index.
template <class Entity>
struct index_violation {
    std::string index; ///< the type of the index
    row_keys key;      ///< keys of the index row
    std::vector<reference<Entity>>
        entities; ///< starts with the entity that the index finds, if the index finds one of these
};

/// Outcome of `repair` and `build`.
struct index_repair {
    std::uint64_t intents{};         ///< completed intents of interrupted writers
    std::uint64_t foreign_intents{}; ///< intents of indexes that this table does not declare: not touched
    std::uint64_t
        written{}; ///< entities whose index rows were missing or different; for a build, also the rows that it wrote
    std::uint64_t removed{};  ///< dangling index rows
    index_verification found; ///< faults before the repair
};

ENTITABLE_END_NAMESPACE

#endif
