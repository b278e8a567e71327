// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `metrics`: an observer that counts what it receives and gives it as OpenMetrics text, which Prometheus and others collect. Not part of
/// the core umbrella.

#include <entitable/request/observer.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// How `metrics` count.
struct metrics_options {
    std::size_t max_series{
        1'000}; ///< of each kind of record; further ones share one, labelled otel_metric_overflow="true"
    clock* time{&system_clock()}; ///< dates the begin of each series; must outlive the metrics
};

/// Counters and histograms of operations, attempts and waits. The names are those of OpenTelemetry where it has one, as Prometheus
/// spells them:
///
/// - `db_client_operation_duration_seconds`: a histogram of operations, in the buckets of OpenTelemetry, 1 ms to 10 s
/// - `db_client_response_returned_rows`: a histogram of rows that reads returned, 1 to 10,000
/// - `entitable_attempts`, `entitable_request_body_bytes`, `entitable_response_body_bytes`: what was sent
/// - `entitable_waits`, `entitable_wait_seconds`: waits that began, by cause, and their planned time
///
/// Labels: `db_system_name`, `db_operation_name`, `db_collection_name`, `server_address`, `server_port`, and of failures `error_type` (a
/// code by name) and `db_response_status_code`; of waits `cause`. They hold no user data; names of tables are cut after 128 bytes.
///
/// Thread safety: safe to use from several threads. Cost: for each record a lock and a search among at most `max_series` series, and no
/// allocation once its series is there.
class metrics final : public observer {
public:
    /// The Content-Type of the text.
    static constexpr std::string_view content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    explicit metrics(metrics_options options = {}) : options_(options) {} ///< nothing counted yet

    void on_operation(operation_record const& done) noexcept override; ///< counts it
    void on_attempt(attempt_record const& done) noexcept override;     ///< counts it
    void on_wait(wait_record const& wait) noexcept override;           ///< counts it

    /// All series: OpenMetrics 1.0, in UTF-8, with "# EOF" at its end.
    [[nodiscard]] std::string to_openmetrics() const;
    /// Drops all series.
    void clear();

private:
    /// `Size` bounds, and one bucket more.
    template <std::size_t Size>
    struct histogram {
        std::array<std::uint64_t, Size + 1> buckets{}; ///< each what is over the bound before it
        std::uint64_t sum{};
        date_time since;
    };
    struct traffic_point {
        std::uint64_t attempts{};
        std::uint64_t sent{};
        std::uint64_t received{};
        date_time since;
    };
    struct wait_point {
        std::uint64_t waits{};
        std::uint64_t nanoseconds{};
        date_time since;
    };
    template <class Point>
    using series = std::map<std::string, Point, std::less<>>; ///< by labels, as they are written

    template <class Point>
    [[nodiscard]] Point& point_of(series<Point>& all);

    metrics_options const options_;
    mutable std::mutex lock_;
    std::string labels_;             ///< guarded by lock_, as all below; of the record that is being counted
    series<histogram<9>> durations_; ///< nanoseconds
    series<histogram<13>> rows_;     ///< rows
    series<traffic_point> attempts_;
    series<wait_point> waits_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/decorators/impl/metrics.ipp>
#endif
