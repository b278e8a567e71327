// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The behavior of a local backend: its clock, its limits, and whether it is deliberately nasty.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/chrono.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/request/profile.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// Behaviour that a service may show, but seldom shows during tests. A program whose tests pass on a nasty backend does not depend on the
/// size of pages, on the form of tokens, or on a name being free immediately. Each seed gives one sequence of behaviour, as long as
/// one thread makes the calls. All of this behaviour is within the contract of `transport`.
struct nasty_options {
    std::uint64_t seed{1}; ///< chooses the sequence

    /// Pages have between 0 rows and the requested number. An empty page can have a continuation, and so can the last page that has rows
    /// (source: "Query timeout and pagination").
    bool random_pages{true};
    /// A page of a query over several partitions can end with a partition: the token then names only a partition key.
    bool partition_tokens{true};
    /// The rows of a page are shuffled if the profile does not guarantee an order.
    bool random_order{true};
    /// How long the name of a deleted table is unavailable: create_table returns TableBeingDeleted (source: "Delete Table": at least 40
    /// seconds).
    std::chrono::nanoseconds being_deleted{std::chrono::seconds{40}};
};

/// The behavior of a local backend. For example, with the limits of Cosmos DB: `{.limits = cosmos_profile(), .page_bytes = 4096}`.
struct local_options {
    entitable::clock* time{&system_clock()};    ///< gives Timestamps and checks deadlines; must outlive the backend
    entitable::profile limits{local_profile()}; ///< also determines whether table names are case-sensitive
    std::size_t page_bytes{4 * 1024 * 1024}; ///< a page ends once its rows have this many bytes, after at least one row
    std::size_t page_examined{10'000};       ///< a page ends once this many rows were examined
    std::chrono::nanoseconds page_time{std::chrono::seconds{5}}; ///< a page ends after this time
    std::optional<nasty_options> nasty{};                        ///< deliberately nasty: `options.nasty.emplace()`
};

ENTITABLE_END_NAMESPACE

#endif
