// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Part of `listener`: sockets in front of a server.
///
/// Options of `http_listener`: address and limits.

#include <entitable/core/request/call.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a listener. Plain data: set them by designated initializers.
struct listener_options {
    std::string address{"127.0.0.1"}; ///< an address of this computer; "localhost" is 127.0.0.1
    std::uint16_t port{10002};        ///< 0: any free port, see `http_listener::port`
    /// Required for an address beyond the loopback: anyone who reaches it can send requests, and nothing is encrypted.
    bool beyond_loopback{};

    unsigned threads{}; ///< number of threads that handle requests; 0: one for each processor
    unsigned max_threads{
        64}; ///< maximum number of threads; one is added if all are busy and none has responded for 20 ms

    std::size_t max_connections{1024};      ///< maximum number of open connections; the next gets 503 and is closed
    std::size_t max_header_size{32 * 1024}; ///< bytes of a request line and its header fields; a longer header gets 431
    std::size_t max_body_size{4 * 1024 * 1024};     ///< maximum bytes of a request; a larger request gets 413
    std::chrono::milliseconds idle_timeout{60'000}; ///< limit for the time between two requests of a connection
    std::chrono::milliseconds header_timeout{
        10'000};                                    ///< limit from the first byte of a request to the end of its header
    std::chrono::milliseconds body_timeout{30'000}; ///< limit for the rest of a request, and for sending the response
    std::chrono::milliseconds stop_timeout{
        10'000}; ///< how long `stop` waits for requests in progress before it closes their connections

    std::optional<std::uint16_t> metrics_port{}; ///< OpenMetrics text at /metrics of the same address; 0: any free port
    /// Receives requests that are refused before the handler sees them. Must outlive the listener, and be safe to call from several
    /// threads.
    observer* watch{};
};

ENTITABLE_END_NAMESPACE
