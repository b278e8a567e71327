// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How fast a load goes: `bulk_pace`, rows a second towards a partition or in all, and `bulk_pressure`, what the answers of a service
/// make of it. Both are told the time.

#include <entitable/core/backoff.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/random.hpp>

#include <map>
#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] inline double seconds_of(steady_time::duration time) noexcept {
    return std::chrono::duration<double>(time).count();
}

/// Rows a second. Without a limit until the service refuses something; then 0.9 of what it took, from where it rises: slowly around
/// the rate at which it was refused, faster the longer nothing is (the curve of CUBIC: S. Ha, I. Rhee and L. Xu, "CUBIC: a new
/// TCP-friendly high-speed TCP variant", 2008).
class bulk_pace {
public:
    /// `most`: rows a second that are never exceeded; 0 for no such limit.
    explicit bulk_pace(double most) noexcept : most_(most) {}
    bulk_pace() = default;

    /// When the next row may be sent.
    [[nodiscard]] steady_time next_at() const noexcept { return next_; }
    /// Rows a second; 0 for no limit.
    [[nodiscard]] double rate(steady_time now) const noexcept;
    /// Rows were sent.
    void sent(std::size_t rows, steady_time now) noexcept;
    /// What was sent at `sent_at` was refused. `taken`: rows a second that the service took lately. False where the rate was lowered
    /// since it was sent.
    bool refused(steady_time now, steady_time sent_at, double taken) noexcept;

private:
    double most_{};
    double ceiling_{}; ///< the rate that was refused; 0 for none
    steady_time lowered_{(steady_time::min)()};
    steady_time next_{(steady_time::min)()};
};

/// Rows a second, of the second before or of this one.
class bulk_meter {
public:
    void add(std::size_t rows, steady_time now) noexcept;
    [[nodiscard]] double a_second(steady_time now) const noexcept;

private:
    steady_time second_{(steady_time::min)()}; ///< when this one began
    double rows_{};                            ///< in it
    double before_{};                          ///< rows a second before it
};

/// What one partition is held to after it has refused something.
struct bulk_partition_pressure {
    bulk_pace pace;
    bulk_meter meter;
    steady_time not_before{(steady_time::min)()};
    std::uint32_t refusals{};               ///< in a row
    std::size_t in_flight{};                ///< of what was sent since it is known
    steady_time last{(steady_time::min)()}; ///< when it was refused last
};

/// How much a service takes of a load: requests under way, a pace in all, and pauses and paces of partitions that refused.
class bulk_pressure {
public:
    bulk_pressure(std::size_t most_in_flight, double most_rows_a_second, std::uint64_t seed)
        : most_(static_cast<double>(most_in_flight < 1 ? 1 : most_in_flight)),
          pace_(most_rows_a_second),
          random_(seed) {}

    /// How many requests may be under way.
    [[nodiscard]] std::size_t in_flight() const noexcept { return static_cast<std::size_t>(allowed_); }
    /// When the next request may be sent.
    [[nodiscard]] steady_time next_at() const noexcept { return pace_.next_at(); }

    /// What is known of a partition; null where it refused nothing lately.
    [[nodiscard]] bulk_partition_pressure* find(std::string_view partition_key);
    /// When the next request to the partition may be sent, besides `next_at`.
    [[nodiscard]] static steady_time next_at(bulk_partition_pressure const& partition) noexcept;

    void sent(std::size_t rows, bulk_partition_pressure* partition, steady_time now) noexcept;
    /// The service took so many rows.
    void taken(std::size_t rows, bulk_partition_pressure* partition, steady_time now) noexcept;
    /// The service asks for less.
    void refused(std::string_view partition_key, steady_time sent_at, std::chrono::nanoseconds wish, steady_time now);
    /// Something else came back.
    static void answered(bulk_partition_pressure* partition) noexcept;
    /// Forgets partitions for which `idle` is true and that were well for a while.
    template <class Idle>
    void forget(steady_time now, Idle const& idle) {
        std::erase_if(partitions_, [&](auto const& each) {
            return each.second.in_flight == 0 && now - each.second.last > std::chrono::seconds{60} && idle(each.first);
        });
    }
    /// Whether nothing was ever refused.
    [[nodiscard]] bool quiet() const noexcept { return !was_refused_; }
    /// Rows a second that the service took lately.
    [[nodiscard]] double taken_a_second(steady_time now) const noexcept { return meter_.a_second(now); }

private:
    double most_;
    double allowed_{1};
    bulk_pace pace_;
    random_source random_;
    std::map<std::string, bulk_partition_pressure, std::less<>> partitions_;
    std::string last_refused_;     ///< the partition
    std::uint32_t others_taken_{}; ///< requests to other partitions since
    steady_time refused_at_{};     ///< then
    bool was_refused_{};           ///< anything, ever
    bool of_all_{};                ///< the limit that was met is one of all partitions together
    bulk_meter meter_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/impl/bulk_pace.ipp>
#endif
