// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/decorators/breaking.hpp>
#include <entitable/core/text.hpp>

#include <mutex>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

class circuit_gate final : public request_gate {
public:
    explicit circuit_gate(circuit_options const& options);

    [[nodiscard]] result<steady_time> enter(steady_time now, steady_time deadline) override;
    void leave(error const* problem, steady_time now) noexcept override;
    [[nodiscard]] circuit_state state(steady_time now) const;

private:
    void trip(steady_time now) noexcept;

    circuit_options const options_;
    result<void> usable_;
    mutable std::mutex lock_; // guards the members below
    std::uint32_t failed_{};
    bool closed_{true};
    steady_time::duration span_{};           ///< length of the open time
    steady_time opens_until_{};              ///< end of the open time
    std::optional<steady_time> probe_until_; ///< a probe is under way; after this time another may be sent
};

ENTITABLE_DECL result<void> check_circuit(circuit_options const& options) {
    if (options.failures == 0) {
        return failure{error_code::out_of_range_input, "circuit_options::failures must be at least 1"};
    }
    if (options.open_for.count() <= 0 || options.longest < options.open_for) {
        return failure{error_code::out_of_range_input,
            "circuit_options::open_for must be positive, and circuit_options::longest at least as long"};
    }
    return {};
}

ENTITABLE_DECL bool shows_outage(error const& problem) noexcept {
    if (problem.code == error_code::server_busy) { return false; }
    switch (problem.http_status) {
        case 408:
        case 500:
        case 502:
        case 503:
        case 504: return true;
        default: return problem.code == error_code::transport_failed || problem.code == error_code::deadline_exceeded;
    }
}

ENTITABLE_DECL circuit_gate::circuit_gate(circuit_options const& options)
    : request_gate(*options.time), options_(options), usable_(check_circuit(options)) {}

ENTITABLE_DECL result<steady_time> circuit_gate::enter(steady_time now, steady_time) {
    if (!usable_) { return failure{usable_.error()}; }
    std::lock_guard const guard{lock_};
    if (closed_) { return now; }
    steady_time const probes_at = probe_until_ ? *probe_until_ : opens_until_;
    if (now >= probes_at) {
        // A probe can be lost with its caller: after the open time another probe is sent.
        probe_until_ = now + span_;
        return now;
    }
    error open{error_code::server_busy,
        text::joined(
            {"the circuit is open: ", std::to_string(failed_), " requests in a row failed, and the next is sent in ",
                std::to_string(std::chrono::ceil<std::chrono::milliseconds>(probes_at - now).count()),
                " ms at the earliest"})};
    open.retry_after = std::chrono::ceil<std::chrono::milliseconds>(probes_at - now);
    return failure{std::move(open)};
}

ENTITABLE_DECL void circuit_gate::leave(error const* problem, steady_time now) noexcept {
    if (problem != nullptr && problem->code == error_code::cancelled) { return; }
    std::lock_guard const guard{lock_};
    bool const failed = problem != nullptr && shows_outage(*problem);
    if (closed_) {
        failed_ = failed ? failed_ + 1 : 0;
        if (failed_ >= options_.failures) {
            span_ = std::chrono::duration_cast<steady_time::duration>(options_.open_for);
            trip(now);
        }
        return;
    }
    if (!probe_until_) { return; } // a response to a request from before the circuit opened
    if (!failed) {
        closed_ = true;
        failed_ = 0;
        probe_until_.reset();
        return;
    }
    ++failed_;
    auto const longest = std::chrono::duration_cast<steady_time::duration>(options_.longest);
    span_ = span_ > longest / 2 ? longest : span_ * 2;
    trip(now);
}

ENTITABLE_DECL void circuit_gate::trip(steady_time now) noexcept {
    closed_ = false;
    probe_until_.reset();
    opens_until_ = now + span_;
}

ENTITABLE_DECL circuit_state circuit_gate::state(steady_time now) const {
    std::lock_guard const guard{lock_};
    if (closed_) { return circuit_state::closed; }
    return probe_until_ || now >= opens_until_ ? circuit_state::half_open : circuit_state::open;
}

ENTITABLE_DECL shared<request_gate> open_circuit_gate(circuit_options const& options) {
    return shared<request_gate>{new circuit_gate{options}};
}
ENTITABLE_DECL circuit_state circuit_of(request_gate const& gate, steady_time now) {
    return static_cast<circuit_gate const&>(gate).state(now);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
