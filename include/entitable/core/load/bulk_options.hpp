// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of a bulk load, its progress and its report.

#include <entitable/core/load/bulk_checkpoint.hpp>
#include <entitable/core/request/call.hpp>

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Treatment of a row if an earlier row of the input with the same key is not settled yet. Once the earlier row is settled, the response of
/// the table decides.
enum class bulk_duplicates : std::uint8_t {
    in_order,  ///< the row waits for the earlier row, then the response of the table decides
    last_wins, ///< the row replaces the earlier row if the earlier row has not been sent yet; otherwise it waits
    refused, ///< the row is refused with InvalidDuplicateRow if the earlier row has not been sent yet; otherwise it waits
};

/// Limits on what a load consumes. Zero: no limit.
struct bulk_budget {
    double entities_a_second{};      ///< rows a second
    double request_units_a_second{}; ///< request units a second; corrected by the charges that the service reports
    double units_an_entity{
        10}; ///< charge of one row until a service has reported one; used throughout if it reports none
};

/// A row of the input that was not written.
struct refused_row {
    std::uint64_t index{};     ///< position in the input, from 0
    std::string partition_key; ///< empty if the input has no row here, or its keys cannot be encoded
    std::string row_key;       ///< empty under the same conditions as `partition_key`
    entitable::error error;    ///< effect unknown: a response was lost, so the row may have been written
};

/// The progress of a load. read == written + already_there + superseded + refused + held. With a checkpoint, counts continue from it.
struct bulk_progress {
    std::uint64_t read{};          ///< rows of the input, including those that a checkpoint has settled
    std::uint64_t written{};       ///< rows written
    std::uint64_t already_there{}; ///< rows that needed no write
    std::uint64_t superseded{};    ///< rows replaced by a later row with the same key before they were sent
    std::uint64_t refused{};       ///< rows that were not and will not be written
    std::uint64_t held{};          ///< rows that were read and are not settled
    std::uint64_t transactions{};  ///< requests with a response
    std::uint64_t retried{};       ///< repeated requests, included in `transactions`
    std::uint64_t bytes{};         ///< size of the rows written, in stored form
    std::size_t in_flight{};       ///< pending requests
    bool ended{};                  ///< the load has ended: this is the last report
    double rows_a_second{};        ///< rate at which rows were settled recently; in the last report, in the whole load
    std::chrono::nanoseconds elapsed{};             ///< time since the call started
    std::optional<std::uint64_t> total{};           ///< rows of the input, if known
    std::optional<std::chrono::nanoseconds> left{}; ///< remaining time at this rate, if rate and total are known
};

/// Called with the progress, on the thread of the load. May throw, which ends the load; the last checkpoint stays valid.
using bulk_progress_callback = std::function<void(bulk_progress const&)>;

/// Options of a bulk load.
struct bulk_options {
    /// Maximum number of pending requests. 0: 32, or as many single rows as the store writes together (`channel::group_size`).
    std::size_t in_flight{};
    std::size_t window{50'000}; ///< maximum number of rows that are read and not settled; at least one
    std::size_t window_bytes{std::size_t{64} << 20U}; ///< maximum size of these rows in bytes, excluding the last row
    bulk_duplicates duplicates{};                     ///< treatment of two rows with the same key
    bool merge{};                                     ///< an upsert merges into the stored entities
    removal sums{};                                   ///< effect of `bulk_remove` and `expire` on sums
    bulk_budget budget{};                             ///< limits in addition to those of the service
    bulk_checkpoint checkpoint{};                     ///< storage of the progress; none by default
    std::string input{};            ///< identifies the input for the checkpoint, for example a file and its date
    bulk_progress_callback watch{}; ///< called with the progress, and once at the end
    std::chrono::nanoseconds watch_every{std::chrono::seconds{1}}; ///< interval of the calls, by the clock of the load
    std::function<void(refused_row const&)> on_refused{};          ///< called with each refused row, as it is refused
    std::size_t keep_refused{1'000};                               ///< maximum number of refused rows in the report
    std::uint64_t max_refused{(std::numeric_limits<
        std::uint64_t>::max)()};                  ///< the next ends the load, with the error of the last row reported
    std::optional<std::uint64_t> total{};         ///< rows of the input, for an input without a known size
    std::chrono::nanoseconds timeout{no_timeout}; ///< limit for the whole load; the table's timeout is per request
    cancellation_token cancellation{};            ///< ends the load, after the responses to pending requests
    std::chrono::nanoseconds wait_budget{
        std::chrono::minutes{5}}; ///< maximum time without a success, before the load ends
    /// Whether the transactions of a window are sent in random order from the first row on, which spreads input that is sorted by partition.
    /// Otherwise this begins with the first refusal. A window is filled before its first transaction is sent.
    bool shuffle{};
    bool dry_run{};               ///< reads, checks and packs, but sends nothing
    std::uint64_t seed{};         ///< seed for the order of partitions and for delays; 0: taken from the clock
    clock* time{&system_clock()}; ///< clock used for delays; must outlive the call
};

/// The report of a load that has reached the end of its input.
struct bulk_report : bulk_progress {
    std::vector<refused_row>
        refusals; ///< the first refused rows, at most `bulk_options::keep_refused`, in the order of the input

    /// Returns this report if no row was refused. Otherwise the error of the first reported row: its message contains the number of refused rows, the number of all rows, and the index of the first refused row; `detail` begins with that row's keys; the
    /// effect is unknown if the effect of any reported row is unknown.
    /// `auto report = bulk_insert(books, rows).value().all();`
    [[nodiscard]] result<bulk_report> all() const&;
    [[nodiscard]] result<bulk_report> all() &&;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/load/impl/bulk_options.ipp>
#endif
