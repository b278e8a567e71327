// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `simulate`: the effect of a load on a service of partition servers, modelled after its provider's description:
///
///     1  Keys are in ranges, each on one server. A table begins with `ranges` ranges of similar load.
///     2  A server serves `server_rate` entities a second, one after the other. A request that would wait longer than `queue` gets 503.
///     3  A partition serves `partition_rate`, an account `account_rate` entities a second; further requests get 503.
///     4  A range that gets more load than its server can serve for a time of `hot_after` is split at half of its load, or moved if all its
///        load is in one partition. The moving part goes to an idle server and returns 503 for `offline`.
///     5  Neighbouring ranges with less than half of a server's rate together, for `cool_after`, are joined.
///     6  A client that gets 503 retries according to its policy, or gives up.
///     7  Clients may have a limiter and a circuit breaker, in the order `retrying{limited{breaking{store}}}`. The requests are spread evenly
///        over `programs`, each with a limiter and a breaker of its own. These are those of the library, with its rules.
///     8  While the other partitions of its server had little load in the last second (`idle_below`), a partition and its server serve
///        `idle_bonus` more than their rates. The bonus does not change rule 4, which compares with the rate without it. 0 by default.
///
/// 1, 3, 4 and 6 are from the provider's guide ("Design a scalable partitioning strategy"), with its "a few minutes" and "a few seconds" set
/// to 5; the following are assumptions: that a server has the rate of one partition, the queue, and rule 5. Rule 8 is from the guide, which
/// gives no figure for it: "this throughput may be higher during minimal load on the node".

#include <entitable/advice/latency_histogram.hpp>
#include <entitable/advice/load_shape.hpp>
#include <entitable/core/decorators/breaking.hpp>
#include <entitable/core/decorators/limited.hpp>
#include <entitable/core/decorators/retry_policy.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// The parameters of the model.
struct service_model {
    double partition_rate{2'000};                  ///< entities a second of one partition
    double account_rate{20'000};                   ///< entities a second of all partitions together
    double server_rate{2'000};                     ///< entities a second of one server
    std::uint32_t ranges{1};                       ///< ranges of the new table
    std::chrono::milliseconds hot_after{300'000};  ///< duration of overload after which a range is moved or split
    std::chrono::milliseconds offline{5'000};      ///< time for which a moving range returns 503
    std::chrono::milliseconds cool_after{900'000}; ///< duration of low load after which ranges are joined
    std::chrono::milliseconds queue{1'000};        ///< the longest wait at a server
    std::chrono::microseconds round_trip{5'000};   ///< time of a request, in addition to its wait and its service time
    double idle_bonus{0};   ///< fraction above its rate that a partition may get on an idle server, 0 to 10
    double idle_below{0.1}; ///< load of the server's other partitions up to which it is idle, as a fraction of its rate

    /// Errors: OutOfRangeInput names a value that is not positive or too large.
    [[nodiscard]] result<void> validate() const;
};

/// The method of computation.
enum class simulation_engine : std::uint8_t {
    by_size,  ///< `requests` up to 2,000,000 requests, otherwise `fluid`
    requests, ///< simulates every request in virtual time, with latencies and retries
    fluid,    ///< rates second by second: as fast for 250,000 requests a second as for 1
};

/// A time in which all partitions return 503.
struct planned_outage {
    double begin{};   ///< second at which the outage begins
    double seconds{}; ///< duration in seconds
};

/// Options of a simulation.
struct simulation_options {
    double minutes{30};                                ///< simulated minutes of the service
    std::uint64_t seed{1};                             ///< the same seed gives the same results
    simulation_engine engine{};                        ///< the method of computation
    service_model model{};                             ///< the parameters of the model
    retry_policy retries{retry_policy::interactive()}; ///< policy of the clients
    std::vector<planned_outage> outages{};             ///< none by default
    std::optional<rate_limit> limit{};        ///< limits each program, as `limited` does; its clock is not used
    std::optional<circuit_options> circuit{}; ///< protects each program, as `breaking` does; its clock is not used
    std::uint32_t programs{1};                ///< programs of the clients, 1 to 10,000
};

/// The results of one interval of time.
struct simulated_stretch {
    double begin{};   ///< first second of the interval
    double offered{}; ///< new requests a second
    double sent{};    ///< requests a second, including retries
    double served{};  ///< requests a second that are served
    double refused{}; ///< responses of 503 a second
    double lost{};    ///< requests a second that are given up
    double latency{}; ///< mean latency of the served requests in seconds
    double servers{}; ///< mean number of busy servers
};

/// The result of a simulation.
struct simulation {
    load_shape load;             ///< load that was simulated
    simulation_options options;  ///< options of the simulation
    bool fluid{};                ///< whether the fluid engine was used
    double offered{};            ///< requests without retries
    double sent{};               ///< requests, including retries
    double served{};             ///< requests that were served
    double refused{};            ///< responses of 503
    double unsent{};             ///< attempts that a limiter or a circuit breaker refused, and that were not sent
    double lost{};               ///< requests that were given up
    double waiting{};            ///< requests in flight at the end
    double latency{};            ///< mean seconds from the first attempt to the response
    latency_histogram latencies; ///< latencies of the served requests; empty with the fluid engine
    std::uint32_t servers{};     ///< largest number of busy servers in one second
    std::uint32_t splits{};      ///< number of ranges that were split
    std::uint32_t moves{};       ///< number of ranges that were moved
    std::uint32_t joins{};       ///< number of ranges that were joined
    double most_retries{};       ///< largest number of retries that arrived within 100 ms; 0 with the fluid engine
    double last_refusal{};       ///< second of the last 503; 0: none
    std::vector<simulated_stretch> stretches;        ///< at most 120 stretches
    std::vector<std::vector<double>> partition_load; ///< requests a second by share (at most 40) and interval

    /// Returns the fraction of the new requests that was given up, 0 to 1.
    [[nodiscard]] double lost_share() const noexcept { return offered <= 0 ? 0 : lost / offered; }
    /// Returns the results as text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Simulates a load. Errors: OutOfRangeInput names the value that is out of range in the load, the options or the policy; at most 44,640
/// minutes and, request by request, 500,000,000 requests.
[[nodiscard]] result<simulation> simulate(load_shape const& load, simulation_options const& options = {});
/// Simulates a workload on the current keys of a sample.
[[nodiscard]] result<simulation> simulate(
    table_sample const& sample, workload const& load, simulation_options const& options = {});

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/simulation.ipp>
#endif
