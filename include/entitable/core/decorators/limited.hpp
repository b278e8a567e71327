// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `limited<T>`: a store that receives at most a given number of requests a second.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/decorators/detail/request_gate.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of `limited`.
struct rate_limit {
    double requests_a_second{}; ///< from 0.001 to 1,000,000,000
    std::uint32_t burst{1};     ///< requests that may be sent at once after an idle time; from 1
    /// The longest wait of one request. A request that would wait longer is refused with ServerBusy and is not sent.
    std::chrono::nanoseconds longest_wait{std::chrono::seconds{10}};
    clock* time{&system_clock()}; ///< must outlive the store
};

namespace detail {

/// Errors: OutOfRangeInput names the option.
[[nodiscard]] result<void> check_limit(rate_limit const& limit);
/// Spreads requests evenly, with a burst after an idle time (the generic cell rate algorithm, ITU-T I.371).
[[nodiscard]] shared<request_gate> open_rate_gate(rate_limit const& limit);

} // namespace detail

/// A store that sends at most `requests_a_second` requests to another store, for all calls and threads together, in the order in which they
/// arrive. A request waits for its turn. One that would wait longer than `longest_wait`, or until after the deadline of its call, fails
/// with ServerBusy, effect none and `retry_after`, and is not counted. A call that is cancelled while it waits has used its turn.
///
/// Below `retrying` each attempt counts, above it each call. A page of a query is one request, and so is a transaction.
///
/// A cheap handle: copies share the limit. Profile: that of the wrapped store. Errors: with invalid options every request returns
/// OutOfRangeInput; after a move, InvalidInput. Thread safety: safe to use from several threads. Cost: two clock readings and a lock for
/// each request.
template <transport T>
class limited {
public:
    using is_transport = void;       ///< opts in to `transport`
    using visits_entities = limited; ///< opts in to `read_entity`
    using visits_pages = limited;    ///< opts in to `read_entities`

    // Takes exactly a T, so that no conversion is tried when any_store checks whether this type is a transport.
    /// Limits the requests to `wrapped`.
    template <std::same_as<T> Wrapped>
    limited(Wrapped wrapped, rate_limit const& limit)
        : wrapped_(std::move(wrapped)), gate_(detail::open_rate_gate(limit)) {}

    [[nodiscard]] entitable::profile profile() const { return wrapped_.profile(); } ///< the wrapped store's profile

    /// Sends a request when its turn comes.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        return gate_ ? detail::send_through(*gate_, wrapped_, request, context) : detail::moved_from("transport");
    }

    /// Opens a channel in which a request waits while others continue. Returns null if the options and the driver have different clocks.
    [[nodiscard]] shared<channel> open(io_driver& io) const {
        return gate_ && &gate_->time() == &io.time()
            ? detail::open_gated_channel(open_channel(any_store{wrapped_}, io), gate_)
            : shared<channel>{};
    }

private:
    mutable T wrapped_;
    shared<detail::request_gate> gate_;
};

/// Limits the requests to any store.
template <transport T>
limited(T, rate_limit const&) -> limited<T>;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/decorators/impl/limited.ipp>
#endif

#endif
