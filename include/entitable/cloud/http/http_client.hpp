// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `http_client`: sends HTTP requests. An application provides its own client by writing one function.

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/core/cancellation.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/result.hpp>

#include <chrono>
#include <concepts>

ENTITABLE_BEGIN_NAMESPACE

/// The parameters of an attempt, independent of the request: its deadline and cancellation, and the maximum size of the response.
struct http_call {
    /// The deadline of the whole attempt; after it, the attempt fails with DeadlineExceeded.
    steady_time deadline{(steady_time::max)()};
    /// How long one request may take, from its start until its whole response has arrived; after that it fails with TransportFailed, which
    /// may be retried. Zero for no limit.
    std::chrono::milliseconds request_timeout{0};
    cancellation_token cancellation{};                        ///< ends the request early, with Cancelled
    std::size_t max_body_size{std::size_t{64} * 1024 * 1024}; ///< bytes of one body
    std::size_t max_header_size{std::size_t{64} * 1024};      ///< bytes of all header fields of one response
    std::size_t max_header_count{256};                        ///< header fields of one response
};

/// Sends HTTP requests.
///
/// Semantic rules:
/// 1. It is a cheap handle: copies share the same state (connections), and a copy keeps that state alive.
/// 2. It is safe to use from several threads.
/// 3. One call of `send` delivers at most one request to the server. The client itself never repeats a request that may change data, even
///    if a reused connection turns out to be dead; a redirect is a response like any other.
/// 4. Method, URL, header fields and body are sent unchanged, byte for byte: they are signed.
/// 5. The response is complete: its length was given and all of it was received. It never exceeds the call's limits, not even in memory.
///    The body is as the server sent it, never decompressed. It has `http_response::padding` bytes of spare capacity. For status 400 and
///    above a complete header is enough: the body may end with the connection, be truncated, or be omitted.
/// 6. Every status is a response. An error means that no usable response was received: Cancelled, DeadlineExceeded, TransportFailed,
///    or InvalidInput for a request that cannot be sent. Its effect is `none` if it is certain that nothing reached the server, and
///    `unknown` from the first byte sent.
/// 7. It checks deadline and cancellation before it starts and while it waits.
/// 8. Its errors and logs contain no header value, query or body. The library overwrites address and header fields of each of its
///    requests; it cannot overwrite the client's copies.
/// 9. It throws no exceptions of its own; std::bad_alloc may be propagated.
template <class T>
concept http_client =
    std::copy_constructible<T> && requires(T& client, http_request const& request, http_call const& call) {
        // opts in, so that no type becomes a client by accident
        typename T::is_http_client;
        // sends one request and waits for its response
        { client.send(request, call) } -> std::same_as<result<http_response>>;
    };

ENTITABLE_END_NAMESPACE
