// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Rate of a load: `bulk_pace`, rows a second to a partition or in total, and `bulk_pressure`, which adapts it to the responses of a
/// service. Both take the time as an argument.

#include <entitable/core/backoff.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/load/bulk_options.hpp>
#include <entitable/core/random.hpp>

#include <algorithm>
#include <map>
#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] inline double seconds_of(steady_time::duration time) noexcept {
    return std::chrono::duration<double>(time).count();
}

/// A rate in rows a second. It is unlimited until the service refuses a request; then it drops to 0.9 of the accepted rate and rises again:
/// slowly near the refused rate, faster the longer no request is refused (the curve of CUBIC: S. Ha, I. Rhee and L. Xu, "CUBIC: a new
/// TCP-friendly high-speed TCP variant", 2008).
class bulk_pace {
public:
    /// `most`: maximum number of rows a second; 0 for no limit.
    explicit bulk_pace(double most) noexcept : most_(most) {}
    bulk_pace() = default;

    /// Time at which the next row may be sent.
    [[nodiscard]] steady_time next_at() const noexcept { return next_; }
    /// Rows a second; 0 for no limit.
    [[nodiscard]] double rate(steady_time now) const noexcept;
    /// Records that rows were sent.
    void sent(std::size_t rows, steady_time now) noexcept;
    /// Records that rows sent at `sent_at` were refused. `taken`: rows a second that the service accepted recently. Returns false if the
    /// rate was lowered since they were sent.
    bool refused(steady_time now, steady_time sent_at, double taken) noexcept;

private:
    double most_{};
    double ceiling_{}; ///< the refused rate; 0 if there is none
    steady_time lowered_{(steady_time::min)()};
    steady_time next_{(steady_time::min)()};
};

/// A rate in request units a second. Books an estimate for each request, and corrects it by the charge that the service reports.
class bulk_unit_pace {
public:
    /// `most`: request units a second, 0 for no limit; `a_row`: the estimate until a charge is reported.
    bulk_unit_pace(double most, double a_row) noexcept : most_(most), a_row_(a_row < 0.001 ? 0.001 : a_row) {}

    [[nodiscard]] steady_time next_at() const noexcept { return next_; }
    /// Books a request of some rows; returns the units.
    double sent(std::size_t rows, steady_time now) noexcept;
    /// Replaces the booked units by the charge of the request. `written`: the rows that it wrote; 0 if it was refused.
    void charged(std::size_t written, double booked, double charge) noexcept;

private:
    double most_;
    double a_row_;
    bool measured_{};
    steady_time next_{(steady_time::min)()};
};

/// Rows a second, in the previous second or the current one.
class bulk_meter {
public:
    void add(std::size_t rows, steady_time now) noexcept;
    [[nodiscard]] double a_second(steady_time now) const noexcept;

private:
    steady_time second_{(steady_time::min)()}; ///< start of the current second
    double rows_{};                            ///< rows counted in the current second
    double before_{};                          ///< rows a second in the previous second
};

/// Limits of one partition after a refusal.
struct bulk_partition_pressure {
    bulk_pace pace;
    bulk_meter meter;
    steady_time not_before{(steady_time::min)()};
    std::uint32_t refusals{};               ///< consecutive refusals
    std::size_t in_flight{};                ///< requests sent since the first refusal
    steady_time last{(steady_time::min)()}; ///< time of the latest refusal
};

/// Adapts a load to the capacity of a service: limits the pending requests and the total rate, and pauses or slows down partitions that
/// refused requests.
class bulk_pressure {
public:
    bulk_pressure(std::size_t most_in_flight, bulk_budget const& budget, std::uint64_t seed)
        : most_(static_cast<double>(most_in_flight < 1 ? 1 : most_in_flight)),
          pace_(budget.entities_a_second),
          units_(budget.request_units_a_second, budget.units_an_entity),
          random_(seed) {}

    /// Number of requests that may be pending.
    [[nodiscard]] std::size_t in_flight() const noexcept { return static_cast<std::size_t>(allowed_); }
    /// Permits that many pending requests from the start, until one is refused.
    void begin_at(std::size_t most) noexcept {
        most_ = static_cast<double>(most);
        allowed_ = most_;
    }
    /// Time at which the next request may be sent.
    [[nodiscard]] steady_time next_at() const noexcept { return (std::max)(pace_.next_at(), units_.next_at()); }

    /// Returns the limits of a partition; null if it refused nothing recently.
    [[nodiscard]] bulk_partition_pressure* find(std::string_view partition_key);
    /// Time at which the next request to the partition may be sent, in addition to `next_at`.
    [[nodiscard]] static steady_time next_at(bulk_partition_pressure const& partition) noexcept;

    /// Records that rows were sent; returns the request units that were booked for them.
    double sent(std::size_t rows, bulk_partition_pressure* partition, steady_time now) noexcept;
    /// Records the charge of a request, see `bulk_unit_pace`.
    void charged(std::size_t written, double booked, double charge) noexcept {
        units_.charged(written, booked, charge);
    }
    /// Records that the service accepted rows.
    void taken(std::size_t rows, bulk_partition_pressure* partition, steady_time now) noexcept;
    /// Records that the service throttled a request.
    void refused(std::string_view partition_key, steady_time sent_at, std::chrono::nanoseconds wish, steady_time now);
    /// Records any other response.
    static void answered(bulk_partition_pressure* partition) noexcept;
    /// Removes partitions for which `idle` is true and that refused nothing for a while.
    template <class Idle>
    void forget(steady_time now, Idle const& idle) {
        std::erase_if(partitions_, [&](auto const& each) {
            return each.second.in_flight == 0 && now - each.second.last > std::chrono::seconds{60} && idle(each.first);
        });
    }
    /// Whether nothing was ever refused.
    [[nodiscard]] bool quiet() const noexcept { return !was_refused_; }
    /// Rows a second that the service accepted recently.
    [[nodiscard]] double taken_a_second(steady_time now) const noexcept { return meter_.a_second(now); }

private:
    double most_;
    double allowed_{1};
    bulk_pace pace_;
    bulk_unit_pace units_;
    random_source random_;
    std::map<std::string, bulk_partition_pressure, std::less<>> partitions_;
    std::string last_refused_;     ///< the latest partition that refused
    std::uint32_t others_taken_{}; ///< requests to other partitions accepted since then
    steady_time refused_at_{};     ///< time of that refusal
    bool was_refused_{};           ///< whether anything was ever refused
    bool of_all_{};                ///< whether the limit applies to all partitions together
    bulk_meter meter_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/load/impl/bulk_pace.ipp>
#endif
