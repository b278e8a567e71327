// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `logged`, `logged_with`: a type of a list that gives the table a change log.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <cstddef>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a change log. They are part of the declaration of the table: programs with different options are refused.
struct log_options {
    /// Number of lanes in each partition, 1 to 64. All writers of a lane meet at one row, which allows one transaction for each round
    /// trip. A row always belongs to the same lane, by a hash of its row key; changes are in order within a lane.
    std::size_t lanes{1};
    /// Whether each change is announced before it is written, so that a `feed` finds the partitions with changes without reading all of them.
    bool announced{};
    /// Number of partitions of the announcements, 1 to 64. As many programs can process the changes of a group at the same time.
    std::size_t feed_lanes{8};
};

/// Gives a table a change log: `table<order, logged_with<log_options{.lanes = 8}>>`. See `changes_of`.
template <log_options Options>
struct logged_with {
    static constexpr log_options options = Options; ///< the options
};

/// Gives a table a change log: `table<order, logged>`. Each write of an entity also writes, in the same transaction, which rows it has
/// changed; `changes_of` reads that.
///
/// Cost: a write is one transaction with two more operations, or two for each lane that it touches; its first write in a partition, and
/// the next one after another writer, reads one row first. All writers of a partition (or lane) exclude each other.
using logged = logged_with<log_options{}>;

/// Gives a table a change log whose changes are announced, for feeds: `table<order, announced>`. See `feed`.
///
/// Cost: as with `logged`, and a request before the first write in a partition. A program that writes a partition several times within a few
/// seconds sends one for each 32 writes. Announcements stay until a group has processed the changes: see `feed`.
using announced = logged_with<log_options{.announced = true}>;

namespace detail {

template <class Declared>
inline constexpr bool is_log = false;
template <log_options Options>
inline constexpr bool is_log<logged_with<Options>> = true;

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
