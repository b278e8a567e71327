// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `fault`: one failure of one request, as a value. `interleaving_limits`: the kinds and numbers of failures that a search tries.

#include <entitable/core/error.hpp>
#include <entitable/core/request/call.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

namespace testing {

/// A failure that replaces the response to a request.
struct fault {
    /// Whether and when the request is applied.
    enum class commit : std::uint8_t {
        never,  ///< the request does not arrive
        before, ///< the request is applied, then the fault happens
        late,   ///< the request is applied after the next request that touches the same partition
    };

    std::string name;                 ///< name in the log of faults
    commit applied{commit::never};    ///< whether and when the request is applied
    std::optional<error> answer{};    ///< the error returned; if absent, the response is returned as usual
    std::chrono::nanoseconds takes{}; ///< the response time, by the clock of the transport

    /// No connection: the request is certainly not applied.
    [[nodiscard]] static fault refused() {
        return {"refused", commit::never, problem(error_code::transport_failed, 0, effect::none), {}};
    }
    /// The request is lost in transit.
    [[nodiscard]] static fault lost_before() {
        return {"lost_before", commit::never, problem(error_code::transport_failed, 0), {}};
    }
    /// The response is lost in transit.
    [[nodiscard]] static fault lost_after() {
        return {"lost_after", commit::before, problem(error_code::transport_failed, 0), {}};
    }
    /// The connection ends in the middle of the response.
    [[nodiscard]] static fault half_answer() {
        return {"half_answer", commit::before, problem(error_code::transport_failed, 0), {}};
    }
    /// The request is delayed and arrives after the next request to its partition; the caller gets the error of a lost request.
    [[nodiscard]] static fault late() { return {"late", commit::late, problem(error_code::transport_failed, 0), {}}; }
    /// 429: too many requests; the request is not applied.
    [[nodiscard]] static fault throttled(std::optional<std::chrono::milliseconds> retry_after = {}) {
        return status(429, false, effect::none, retry_after);
    }
    /// 503: the request is not applied.
    [[nodiscard]] static fault busy(std::optional<std::chrono::milliseconds> retry_after = {}) {
        return status(503, false, effect::none, retry_after);
    }
    /// A status, before or after the request was applied; by default the service does not report which.
    [[nodiscard]] static fault status(std::uint16_t http, bool applied, entitable::effect left = effect::unknown,
        std::optional<std::chrono::milliseconds> retry_after = {}) {
        error_code const code = http == 503 ? error_code::server_busy
            : http == 500                   ? error_code::internal_error
                                            : error_code::other_service_error;
        error made = problem(code, http, left);
        made.retry_after = retry_after;
        return {std::to_string(http) +
                (applied                       ? "_after"
                        : left == effect::none ? ""
                                               : "_before"),
            applied ? commit::before : commit::never, std::move(made), {}};
    }
    /// The response arrives, but late. After the deadline of the call it is not returned.
    [[nodiscard]] static fault slow(std::chrono::nanoseconds takes) {
        return {"slow", commit::before, std::nullopt, takes};
    }

private:
    static error problem(error_code code, std::uint16_t http, entitable::effect left = effect::unknown) {
        error made{code, "a planned fault"};
        made.http_status = http;
        made.effect = left;
        return made;
    }
};

/// A fault and the requests it applies to: requests of one kind and to one table, or any requests. Only the `number`th of these requests
/// fails.
struct planned_fault {
    testing::fault what;   ///< the fault
    std::size_t number{1}; ///< counted from 1 over the matching requests, from the moment of planning
    std::string
        request{};       ///< the name of its kind, for example "write_entity", or "transact" for a batch; empty for any
    std::string table{}; ///< table as the request spells it; empty for any
    bool fired{};        ///< set by the transport
};

} // namespace testing

namespace testing {

/// Returns the error, of unknown effect, of a request that is lost or whose response is lost.
[[nodiscard]] inline error lost_request() {
    error gone{error_code::transport_failed, "lost"};
    gone.effect = effect::unknown;
    return gone;
}

/// The maximum number of failures in one schedule, and the length of schedules.
struct interleaving_limits {
    std::size_t faults{1}; ///< requests that fail with one of `errors`
    /// Errors returned instead of the store's response, without applying the request; if the effect of a write is unknown, the write is
    /// applied in some of the runs.
    std::vector<error> errors{lost_request()};
    std::size_t late{1};      ///< requests that arrive after the operation got the error of a lost request
    std::size_t twice{0};     ///< requests that get a response, and are delivered again later without notice
    std::size_t abandoned{0}; ///< operations that are abandoned at any step because their deadline passed
    std::size_t crashes{0};   ///< operations whose program ends, at any step, before or after a request
    std::size_t again{0};     ///< operations that are started again after a crash, or after a result that is an error
    std::chrono::nanoseconds takes{};                        ///< the response time
    std::chrono::nanoseconds life{std::chrono::minutes{16}}; ///< latest delivery of a late request after it was sent
    std::size_t most_requests{100};   ///< limit of requests for one operation, after which it is reported as not ending
    std::size_t most_states{100'000}; ///< the search stops at this number, and `interleaving_report::complete` is false
};

} // namespace testing

ENTITABLE_END_NAMESPACE
