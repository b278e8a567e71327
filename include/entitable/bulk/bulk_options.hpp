// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of a bulk load, its progress and its report.

#include <entitable/bulk/bulk_checkpoint.hpp>
#include <entitable/request/call.hpp>

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// What happens to a row of the input when an earlier row with its key is not settled yet. After a settled one the table's answer decides.
enum class bulk_duplicates : std::uint8_t {
    in_order,  ///< it waits for the other one, and then the table's answer decides
    last_wins, ///< it replaces the other one where that was not sent; else it waits
    refused,   ///< InvalidDuplicateRow where the other one was not sent; else it waits
};

/// What a load may consume. Zero: no limit.
struct bulk_budget {
    double entities_a_second{};      ///< rows
    double request_units_a_second{}; ///< divided by `units_an_entity`
    double units_an_entity{10};      ///< what the service charges for one row; measure yours
};

/// A row of the input that was not written.
struct refused_row {
    std::uint64_t index{};     ///< in the input, from 0
    std::string partition_key; ///< empty where the input has no row here, or its keys cannot be encoded
    std::string row_key;       ///< the same
    error why;                 ///< effect unknown: an answer was lost, and it is not known whether the row was written
};

/// The progress of a load. read == written + already_there + superseded + refused + held. Counts continue where a checkpoint left them.
struct bulk_progress {
    std::uint64_t read{};                 ///< rows of the input, including those that a checkpoint has as settled
    std::uint64_t written{};              ///< rows that are written
    std::uint64_t already_there{};        ///< rows for which nothing had to be written
    std::uint64_t superseded{};           ///< rows that a later one with the same key replaced before it was sent
    std::uint64_t refused{};              ///< rows that were not written, and will not be
    std::uint64_t held{};                 ///< rows that were read and are not settled yet
    std::uint64_t transactions{};         ///< requests that were answered
    std::uint64_t retried{};              ///< of these, those that had to be sent again
    std::uint64_t bytes{};                ///< of the rows written, as entities are stored
    std::size_t in_flight{};              ///< requests under way
    bool ended{};                         ///< the load has ended: this is the last report
    double rows_a_second{};               ///< settled lately; at the end, over the whole load
    std::chrono::nanoseconds elapsed{};   ///< since the call
    std::optional<std::uint64_t> total{}; ///< rows of the input, where that is known
    std::optional<std::chrono::nanoseconds> left{}; ///< until the end at this rate, where that and the total are known
};

/// Called with the progress, on the thread of the load. May throw, which ends the load; the last checkpoint stays valid.
using bulk_watcher = std::function<void(bulk_progress const&)>;

/// Options of a bulk load.
struct bulk_options {
    std::size_t in_flight{32};                        ///< requests under way at most; at least one
    std::size_t window{50'000};                       ///< rows that are read and not settled, at most; at least one
    std::size_t window_bytes{std::size_t{64} << 20U}; ///< their bytes, at most, not counting the last one
    bulk_duplicates duplicates{};                     ///< two rows with one key
    bool merge{};                                     ///< an upsert lays its properties over the stored ones
    bulk_budget budget{};                             ///< besides what the service allows
    bulk_checkpoint checkpoint{};                     ///< where the progress is kept; by default nowhere
    std::string input{};                              ///< names the input for the checkpoint: a file and its date, say
    bulk_watcher watch{};                             ///< called with the progress, and once at the end
    std::chrono::nanoseconds watch_every{std::chrono::seconds{1}}; ///< by the clock of the load
    std::function<void(refused_row const&)> on_refused{};          ///< called with each refused row, as it is refused
    std::size_t keep_refused{1'000};                               ///< refused rows that the report keeps
    std::uint64_t max_refused{(std::numeric_limits<
        std::uint64_t>::max)()};          ///< one more ends the load, with the error of the last row that is kept
    std::optional<std::uint64_t> total{}; ///< rows of the input, where it does not know its size
    std::chrono::nanoseconds timeout{no_timeout}; ///< of the whole load; that of the table is for each request
    cancellation_token cancellation{};            ///< ends it, after the answers to what is under way
    std::chrono::nanoseconds patience{
        std::chrono::minutes{5}}; ///< how long without one successful answer, before the load ends
    bool dry_run{};               ///< reads, checks and packs, and sends nothing
    std::uint64_t seed{};         ///< of the order of partitions, and of waits; 0: from the clock
    clock* time{&system_clock()}; ///< of waits; must outlive the call
};

/// The report of a load that came to the end of its input.
struct bulk_report : bulk_progress {
    std::vector<refused_row>
        refusals; ///< the first to be refused, `bulk_options::keep_refused` at most, in the order of the input

    /// This report if no row was refused. Else the error of the first refused row that is kept: its message says how many of how many rows were
    /// refused, and where the first stands in the input; `detail` begins with its keys; the effect is unknown if that of any kept row is.
    /// `auto report = bulk_insert(books, rows).value().all();`
    [[nodiscard]] result<bulk_report> all() const&;
    [[nodiscard]] result<bulk_report> all() &&;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/impl/bulk_options.ipp>
#endif
