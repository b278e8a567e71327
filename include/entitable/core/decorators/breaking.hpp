// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `breaking<T>`: a circuit breaker: a store that stops sending requests for some time after repeated failures.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/decorators/detail/request_gate.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of `breaking`.
struct circuit_options {
    std::uint32_t failures{5};                                  ///< consecutive failures that open the circuit; from 1
    std::chrono::nanoseconds open_for{std::chrono::seconds{5}}; ///< time until the first probe
    std::chrono::nanoseconds longest{std::chrono::minutes{1}}; ///< each failed probe doubles the time, up to this limit
    clock* time{&system_clock()};                              ///< must outlive the store
};

/// The state of a circuit breaker.
enum class circuit_state : std::uint8_t {
    closed,    ///< requests are sent
    open,      ///< requests are refused
    half_open, ///< the next request is sent as a probe; others are refused until it ends
};
/// Returns "closed", "open" or "half_open".
[[nodiscard]] constexpr std::string_view to_string(circuit_state state) noexcept {
    constexpr std::string_view words[] = {"closed", "open", "half_open"};
    return words[static_cast<std::size_t>(state)];
}

namespace detail {

/// Errors: OutOfRangeInput names the option.
[[nodiscard]] result<void> check_circuit(circuit_options const& options);
/// Whether a failed request shows that the store does not respond.
[[nodiscard]] bool shows_outage(error const& problem) noexcept;
/// The gate of a circuit breaker, and its state.
[[nodiscard]] shared<request_gate> open_circuit_gate(circuit_options const& options);
[[nodiscard]] circuit_state circuit_of(request_gate const& gate, steady_time now);

} // namespace detail

/// A circuit breaker around a store (M. Nygard, "Release It!", 2007). After `failures` consecutive failed requests the circuit opens: every
/// request fails at once with ServerBusy, effect none, and `retry_after` until the next probe. After `open_for` one request is sent as a
/// probe. If the store responds, the circuit closes; otherwise it stays open twice as long as before.
///
/// A failure is a request without a usable response: TransportFailed, DeadlineExceeded, 408, 500, 502, 503, 504. Refusals such as
/// EntityNotFound are responses, and so are 429 and ServerBusy: a throttled partition does not make the store unreachable. A cancelled
/// request counts for nothing.
///
/// Place it below `retrying`, so that retries do not reach a store that is down.
///
/// A cheap handle: copies share the circuit. Profile: that of the wrapped store. Errors: with invalid options every request returns
/// OutOfRangeInput; after a move, InvalidInput. Thread safety: safe to use from several threads. Cost: two clock readings and two locks for
/// each request.
template <transport T>
class breaking {
public:
    using is_transport = void;        ///< opts in to `transport`
    using visits_entities = breaking; ///< opts in to `read_entity`
    using visits_pages = breaking;    ///< opts in to `read_entities`

    // Takes exactly a T, so that no conversion is tried when any_store checks whether this type is a transport.
    /// Protects `wrapped`.
    template <std::same_as<T> Wrapped>
    explicit breaking(Wrapped wrapped, circuit_options const& options = {})
        : wrapped_(std::move(wrapped)), gate_(detail::open_circuit_gate(options)) {}

    [[nodiscard]] entitable::profile profile() const { return wrapped_.profile(); } ///< the wrapped store's profile

    /// Sends a request unless the circuit is open.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        return gate_ ? detail::send_through(*gate_, wrapped_, request, context) : detail::moved_from("transport");
    }

    /// Opens a channel that shares the circuit. Returns null if the options and the driver have different clocks.
    [[nodiscard]] shared<channel> open(io_driver& io) const {
        return gate_ && &gate_->time() == &io.time()
            ? detail::open_gated_channel(open_channel(any_store{wrapped_}, io), gate_)
            : shared<channel>{};
    }

    /// The state of the circuit now.
    [[nodiscard]] circuit_state circuit() const {
        return gate_ ? detail::circuit_of(*gate_, gate_->time().steady()) : circuit_state::closed;
    }

private:
    mutable T wrapped_;
    shared<detail::request_gate> gate_;
};

/// Protects any store.
template <transport T>
breaking(T, circuit_options const& = {}) -> breaking<T>;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/decorators/impl/breaking.ipp>
#endif

#endif
