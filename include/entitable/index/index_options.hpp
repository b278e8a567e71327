// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of an indexed table, and what its calls return.

#include <entitable/client/contention.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/etag.hpp>
#include <entitable/index/intent.hpp>
#include <entitable/mapping/reference.hpp>

#include <cstdint>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Options of an indexed table.
struct index_options {
    std::uint32_t max_attempts{
        50}; ///< of a write, including the first one, where other writers are faster; 0 counts as 1
    backoff delays{contention_backoff}; ///< the waits between attempts
    clock* time{&system_clock()};       ///< of waits and leases; must outlive the table
    /// Of waits and of the names of intents; 0 for a fresh one in each call. Another value is for tests: two tables that write at the same
    /// time must not have the same, or one takes the other's intents for its own.
    std::uint64_t seed{};
    /// How long a program relies on the states of indexes that it has read.
    std::chrono::nanoseconds lease{std::chrono::seconds{60}};
    /// The longest time after which a request that was sent may still be applied, by client, gateway and service together. `build` and
    /// `retire` wait for it.
    std::chrono::nanoseconds longest_request{std::chrono::seconds{90}};
};

/// A write that kept the indexes.
struct indexed {
    entitable::etag etag;      ///< of the entity's new version, where one entity was written and not removed
    std::uint32_t attempts{};  ///< from 1; 0 where an earlier call under the same operation id has made it
    bool changed{};            ///< whether something was written
    bool after_retry{};        ///< see `written`
    std::uint32_t healed{};    ///< index rows to be removed that were gone already: not removed by an `indexed_table`
    std::uint32_t unsettled{}; ///< rows in other partitions that could not be removed: `repair` removes them
};

// `absent` is a word of merges too, in the namespace around this.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
/// Who keeps and uses an index.
enum class index_state : std::uint8_t {
    absent,   ///< it was never built. Writers keep it, readers do not use it
    fencing,  ///< a build waits until each writer keeps it. Writers keep it, readers do not use it
    building, ///< its rows are being written. Writers keep it, readers do not use it
    ready,    ///< writers keep it, readers use it
    retiring, ///< a retirement waits until no reader uses it. Writers keep it, readers do not use it
    retired,  ///< nobody keeps or uses it
};
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/// For logs: "ready".
[[nodiscard]] constexpr std::string_view to_string(index_state state) noexcept {
    constexpr std::string_view words[] = {"absent", "fencing", "building", "ready", "retiring", "retired"};
    return words[static_cast<std::size_t>(state)];
}

/// What is wrong with an index row.
enum class index_fault : std::uint8_t {
    missing,   ///< an entity has no index row
    dangling,  ///< an index row names an entity that does not exist, or has another key by now
    different, ///< an index row holds other values than its entity
    violation, ///< two entities have one key of a unique index
};

/// For logs: "missing".
[[nodiscard]] constexpr std::string_view to_string(index_fault fault) noexcept {
    constexpr std::string_view words[] = {"missing", "dangling", "different", "violation"};
    return words[static_cast<std::size_t>(fault)];
}

/// One fault, with keys.
struct index_difference {
    index_fault fault{};              ///< what is wrong
    std::string index;                ///< the type of the index
    std::string partition_key;        ///< of the index row
    std::string row_key;              ///< of the index row
    std::string entity_partition_key; ///< of the entity it is about
    std::string entity_row_key;       ///< of the entity it is about
    std::string other_partition_key;  ///< of a violation: of the entity that the index row names
    std::string other_row_key;        ///< of a violation: of the entity that the index row names
};

/// What `verify` found.
struct index_verification {
    std::uint64_t entities{};              ///< looked at
    std::uint64_t index_rows{};            ///< looked at, of all indexes
    std::uint64_t missing{};               ///< see `index_fault`
    std::uint64_t dangling{};              ///< see `index_fault`
    std::uint64_t different{};             ///< see `index_fault`
    std::uint64_t violations{};            ///< see `index_fault`
    std::vector<index_difference> samples; ///< the first ones, at most as many as were asked for

    /// Whether nothing is wrong.
    [[nodiscard]] bool good() const noexcept { return missing + dangling + different + violations == 0; }
};

/// A key of a unique index that several entities have.
template <class Entity>
struct index_violation {
    std::string index;                       ///< the type of the index
    row_keys key;                            ///< of the row of the index
    std::vector<reference<Entity>> entities; ///< the one that the index finds is the first, where it finds one of them
};

/// What `repair` and `build` did.
struct index_repair {
    std::uint64_t intents{};         ///< of writers that did not end, which were completed
    std::uint64_t foreign_intents{}; ///< of indexes that this table does not have: left alone
    std::uint64_t
        written{}; ///< entities whose index rows were missing or different; of a build, also rows that it wrote
    std::uint64_t removed{};  ///< index rows that were dangling
    index_verification found; ///< before
};

ENTITABLE_END_NAMESPACE
