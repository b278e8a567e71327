// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `range_map`: the assignment of partitions to servers, and its changes under load: rules 1, 4 and 5 of the model.

#include <entitable/advice/simulation.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Neighbouring partitions on one server.
struct served_range {
    std::size_t first{};    ///< first partition
    std::size_t end{};      ///< end of the partitions, exclusive
    double hot{};           ///< seconds with overload minus seconds without overload
    double cool{};          ///< seconds for which the load of the range and its right neighbour was low
    double offline_until{}; ///< second at which the range is online again
    double asked{};         ///< load in the last second
    double lift{1};         ///< factor by which its server exceeds its rate
};

/// Maps the partitions of a load, including the newest, to ranges. Used by one thread at a time.
class range_map {
public:
    range_map(load_shape const& load, double seconds, service_model const& model);

    [[nodiscard]] std::size_t partitions() const noexcept { return shares_.size(); }
    /// Returns the shares of the partitions at a second, including the newest partition if there is one.
    [[nodiscard]] std::vector<double> const& shares() const noexcept { return shares_; }
    [[nodiscard]] std::size_t newest(double second) const noexcept;
    [[nodiscard]] double appended() const noexcept { return appended_; }
    /// Returns how many partitions of the service one partition of the load represents.
    [[nodiscard]] double weight(std::size_t partition) const noexcept { return weights_[partition]; }

    /// Returns the factor by which a partition may exceed its rate: rule 8 of the model.
    [[nodiscard]] double lift(std::size_t partition) const noexcept {
        return idle_bonus_ > 0 ? lift_on(ranges_[of_partition_[partition]], partition) : 1;
    }
    [[nodiscard]] std::vector<served_range>& ranges() noexcept { return ranges_; }
    [[nodiscard]] std::size_t range_of(std::size_t partition) const noexcept { return of_partition_[partition]; }
    /// Adds the requests of a second, by partition, and balances the ranges. Calls `changed(range)` for a range that moves, `split(range)`
    /// for a range that now has a new right neighbour, which moves; `joined(range)` for a range that took over its right neighbour.
    template <class Changed, class Split, class Joined>
    void end_second(double second, std::vector<double> const& asked, Changed changed, Split split, Joined joined) {
        count(asked);
        double const now = second + 1;
        for (std::size_t index = 0; index < ranges_.size(); ++index) {
            if (ranges_[index].hot < hot_after_ || ranges_[index].offline_until > now) { continue; }
            ranges_[index].hot = 0;
            std::size_t const at = half_of(ranges_[index]);
            if (at == ranges_[index].first) {
                ranges_[index].offline_until = now + offline_;
                ++moves;
                changed(index);
            } else {
                divide(index, at, now);
                ++splits;
                split(index);
            }
        }
        for (std::size_t index = 0; index + 1 < ranges_.size(); ++index) {
            if (ranges_[index].cool >= cool_after_) {
                join(index);
                ++joins;
                joined(index);
            }
        }
    }

    std::uint32_t splits{};
    std::uint32_t moves{};
    std::uint32_t joins{};

private:
    void count(std::vector<double> const& asked);
    [[nodiscard]] double lift_on(served_range const& range, std::size_t partition) const noexcept;
    /// Returns the first partition of the right half of a range's load; the first partition of the range if it cannot be split.
    [[nodiscard]] std::size_t half_of(served_range const& range) const noexcept;
    void divide(std::size_t index, std::size_t at, double now);
    void join(std::size_t index);
    void number_partitions() noexcept;

    std::vector<double> shares_;
    std::vector<double> weights_;
    std::vector<double> recent_; ///< load of each partition, with exponential decay
    std::vector<double> last_;   ///< load of each partition in the last second
    std::vector<served_range> ranges_;
    std::vector<std::size_t> of_partition_;
    double appended_{};
    bool prepends_{};
    std::size_t newest_{}; ///< partitions that are created during the load
    double seconds_{};
    double server_rate_{};
    double hot_after_{};
    double cool_after_{};
    double offline_{};
    double idle_bonus_{};
    double idle_load_{}; ///< load of other partitions up to which a server is idle
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/range_map.ipp>
#endif
