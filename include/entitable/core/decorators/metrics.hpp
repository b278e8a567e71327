// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `metrics`: an observer that counts operations, attempts and waits, and exports OpenMetrics text for Prometheus and others. Not part of
/// the core umbrella.

#include <entitable/core/request/observer.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Options of `metrics`.
struct metrics_options {
    std::size_t max_series{1'000}; ///< maximum series for each kind of record; all other series share one, labelled
                                   ///< otel_metric_overflow="true"
    clock* time{&system_clock()};  ///< dates the start of each series; must outlive the metrics
};

/// Counters and histograms of operations, attempts and waits. If OpenTelemetry defines a name, that name is used, as Prometheus spells it:
///
/// - `db_client_operation_duration_seconds`: a histogram of the durations of operations, in OpenTelemetry's buckets, 1 ms to 10 s
/// - `db_client_response_returned_rows`: a histogram of rows returned by reads, 1 to 10,000
/// - `entitable_attempts`, `entitable_request_body_bytes`, `entitable_response_body_bytes`: requests and bytes sent and received
/// - `entitable_request_charge`: cost in request units, for services that report it (Cosmos DB)
/// - `entitable_waits`, `entitable_wait_seconds`: waits that started, by cause, and their planned time
///
/// Labels: `db_system_name`, `db_operation_name`, `db_collection_name`, `server_address`, `server_port`, and for failures `error_type` (the
/// name of the code) and `db_response_status_code`; for waits `cause`. They contain no user data; names of tables are cut after 128 bytes.
///
/// Thread safety: safe to use from several threads. Cost: each record takes a lock and a search among at most `max_series` series; it
/// allocates nothing once its series exists.
class metrics final : public observer {
public:
    /// The Content-Type of the text.
    static constexpr std::string_view content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    explicit metrics(metrics_options options = {}) : options_(options) {} ///< starts with empty counters

    void on_operation(operation_record const& done) noexcept override; ///< counts an operation
    void on_attempt(attempt_record const& done) noexcept override;     ///< counts an attempt
    void on_wait(wait_record const& wait) noexcept override;           ///< counts a wait

    /// Returns all series: OpenMetrics 1.0, in UTF-8, ending with "# EOF".
    [[nodiscard]] std::string to_openmetrics() const;
    /// Drops all series.
    void clear();

private:
    /// A histogram with `Size` bounds and one more bucket.
    template <std::size_t Size>
    struct histogram {
        std::array<std::uint64_t, Size + 1> buckets{}; ///< each counts values above the previous bound
        std::uint64_t sum{};
        date_time since;
    };
    struct traffic_point {
        std::uint64_t attempts{};
        std::uint64_t sent{};
        std::uint64_t received{};
        std::uint64_t micro_units{}; ///< cost, in millionths of a request unit
        date_time since;
    };
    struct wait_point {
        std::uint64_t waits{};
        std::uint64_t nanoseconds{};
        date_time since;
    };
    template <class Point>
    using series = std::map<std::string, Point, std::less<>>; ///< points by their labels, as written

    template <class Point>
    [[nodiscard]] Point& point_of(series<Point>& all);

    metrics_options const options_;
    mutable std::mutex lock_;
    std::string labels_;             ///< labels of the record being counted; guarded by lock_, like all members below
    series<histogram<9>> durations_; ///< durations in nanoseconds
    series<histogram<13>> rows_;     ///< numbers of rows
    series<traffic_point> attempts_;
    series<wait_point> waits_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/decorators/impl/metrics.ipp>
#endif
