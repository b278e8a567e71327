// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `http_client`: sends HTTP requests. An application provides its own by writing one function.

#include <entitable/core/cancellation.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/result.hpp>
#include <entitable/http/http_message.hpp>

#include <chrono>
#include <concepts>

ENTITABLE_BEGIN_NAMESPACE

/// What belongs to an attempt and not to the request: its deadline and cancellation, and how large the answer may be.
struct http_call {
    /// When everything must be over; DeadlineExceeded after that.
    steady_time deadline{(steady_time::max)()};
    /// How long one request may take, from its begin until all of its answer has arrived; after that TransportFailed, which may be retried.
    /// Zero for no limit.
    std::chrono::milliseconds request_timeout{0};
    cancellation_token cancellation{};                        ///< ends the request early, with Cancelled
    std::size_t max_body_size{std::size_t{64} * 1024 * 1024}; ///< bytes of one body
    std::size_t max_header_size{std::size_t{64} * 1024};      ///< bytes of all header fields of one answer
    std::size_t max_header_count{256};                        ///< header fields of one answer
};

/// Sends HTTP requests.
///
/// Semantic rules:
/// 1. It is a cheap handle: copies share one state (connections), and a copy keeps that state alive.
/// 2. It is safe to use from several threads.
/// 3. One call of `send` delivers at most one request to the server. The client itself never repeats a request that may change data, not
///    even when a kept connection turns out to be dead; a redirect is a response like any other.
/// 4. Method, URL, header fields and body are sent as they stand, byte for byte: they are signed.
/// 5. The response is whole: its length was stated and all of it came. It never exceeds the call's limits, not even in memory. It is as
///    the server sent it, never decompressed. Its body has `http_response::padding` bytes to spare. For status 400 and more a whole header
///    is enough: the body may end with the connection, be cut short, or be left out.
/// 6. Every status is a response. An error means that no usable response came: Cancelled, DeadlineExceeded, TransportFailed,
///    or InvalidInput for a request that cannot be sent. Its effect is `none` when surely nothing reached the server, and
///    `unknown` from the first byte sent.
/// 7. It looks at deadline and cancellation before it starts and while it waits.
/// 8. Its errors and logs hold no header value, query or body. The library overwrites address and header fields of each request that it
///    made; it cannot overwrite the client's copies.
/// 9. It throws nothing of its own; running out of memory may pass through.
template <class T>
concept http_client =
    std::copy_constructible<T> && requires(T& client, http_request const& request, http_call const& call) {
        // opts in: no type becomes a client by accident
        typename T::is_http_client;
        // sends one request and waits for its answer
        { client.send(request, call) } -> std::same_as<result<http_response>>;
    };

ENTITABLE_END_NAMESPACE
