// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `http_client`: what sends HTTP requests. An application brings its own by writing one function.

#include <entitable/core/cancellation.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/result.hpp>
#include <entitable/http/http_message.hpp>

#include <chrono>
#include <concepts>

ENTITABLE_BEGIN_NAMESPACE

/// What belongs to a sending and not to the request: how long it may take, who may stop it, how large the answer may be.
struct http_call {
    /// Point in time by which everything must be over; afterwards DeadlineExceeded.
    steady_time deadline{(steady_time::max)()};
    /// How long one request may take, from when it is begun until all of its answer is there; afterwards TransportFailed, which
    /// may be tried again. Zero for no limit of its own.
    std::chrono::milliseconds request_timeout{0};
    cancellation_token cancellation{};                        ///< ends the sending early, with Cancelled
    std::size_t max_body_size{std::size_t{64} * 1024 * 1024}; ///< bytes of one body
    std::size_t max_header_size{std::size_t{64} * 1024};      ///< bytes of all header fields of one answer
    std::size_t max_header_count{256};                        ///< header fields of one answer
};

/// Something that sends HTTP requests.
///
/// Semantic rules:
/// 1. It is a cheap handle: copies share one state (connections), and a copy keeps that state alive.
/// 2. It is safe to use from several threads.
/// 3. One call of `send` puts at most one request before the server. What may change data is never sent again by the client
///    itself, not even when a kept connection turns out to be dead; a redirect is a response like any other.
/// 4. Method, URL, header fields and body are sent as they stand, byte for byte: they are signed.
/// 5. The response is whole: its length was stated and all of it came. It is not longer than the call allows, in memory
///    neither. It is as the server sent it, never decompressed. Its body has `http_response::padding` bytes to spare. From status
///    400 on a whole header is enough: the body may end with the connection, be cut short, or be left out.
/// 6. Every status is a response. An error means that no usable response came: Cancelled, DeadlineExceeded, TransportFailed,
///    or InvalidInput for a request that cannot be sent. Its effect is `none` when surely nothing reached the server, and
///    `unknown` from the first byte sent.
/// 7. It looks at deadline and cancellation before it starts and while it waits.
/// 8. Nothing that it says (errors, logs) holds a header value, a query or a body. What it copies of a request is its own affair:
///    the library overwrites address and header fields of each request that it made, and cannot reach copies.
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
