// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `http_listener`: HTTP/1.1 on a socket, in front of a `table_server`. This header does not include Boost.Beast.

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/serve/listener/listener_options.hpp>
#include <entitable/serve/server/table_server.hpp>

#include <functional>
#include <memory>

ENTITABLE_BEGIN_NAMESPACE

/// Handles requests. The URL is absolute, as the sender sees it. Called on the listener's threads, by several threads concurrently. If it
/// throws, the response is 500.
using http_handler = std::function<http_response(http_request const& request, request_sender const& from)>;

namespace detail {
class listener_state;
}

/// Serves HTTP/1.1 over TCP, with persistent connections, pipelined requests answered in order, chunked bodies and `Expect: 100-continue`.
/// Requests with an ambiguous length are refused, and the connection is closed. Slow senders are disconnected, and the memory of a request
/// is bounded. Up to `listener_options::max_threads` slow responses do not delay other connections.
///
/// Thread safety: one thread at a time; during `run`, other threads may only call `stop` and the ports.
class http_listener {
public:
    /// Serves `server`. Opens no socket before `listen` or `run`.
    explicit http_listener(table_server server, listener_options options = {})
        : http_listener(http_handler{[server = std::move(server)](http_request const& request,
                                         request_sender const& from) { return server.answer(request, from); }},
              std::move(options)) {}
    /// Serves a function of any type.
    explicit http_listener(http_handler handler, listener_options options = {});
    http_listener(http_listener const&) = delete;
    http_listener& operator=(http_listener const&) = delete;
    ~http_listener();

    /// Opens the sockets: from then on connections are accepted; they are served once `run` is called. Succeeds if the sockets are already
    /// open.
    /// Errors: InvalidInput for an invalid address, and for an address beyond the loopback without `beyond_loopback`; StoreFailed with the
    /// system's text if a port cannot be bound.
    [[nodiscard]] result<void> listen();
    /// Returns the port, once it listens; 0 before that.
    [[nodiscard]] std::uint16_t port() const noexcept;
    /// Returns the port of the metrics; 0 if there is none.
    [[nodiscard]] std::uint16_t metrics_port() const noexcept;

    /// Serves until it is stopped, on threads that end with this call. Calls `listen` first, and returns its error. A stopped listener
    /// cannot be run again.
    [[nodiscard]] result<void> run();

    /// Accepts no more connections, lets requests in progress finish for up to `listener_options::stop_timeout`, closes all connections,
    /// and ends `run`, which still waits for the handler. If called before `run`, `run` ends immediately. Not safe in a signal handler.
    void stop() noexcept;

private:
    std::shared_ptr<detail::listener_state> state_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/serve/listener/impl/http_listener.ipp>
#endif
