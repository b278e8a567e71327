// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `http_listener`: HTTP/1.1 on a socket, in front of a `table_server`. This header does not include Boost.Beast.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/cloud/http/http_message.hpp>
#endif
#include <entitable/core/request/call.hpp>
#if !defined(ENTITABLE_IMPORTED)
#include <entitable/serve/server/table_server.hpp>
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

namespace detail {
class listener_state;
class session_maker;
} // namespace detail

/// Whether a listener encrypts its connections: not by default; `tls_certificate::encryption` of `entitable/tls.hpp` returns an encryption
/// by TLS. A cheap handle.
class listener_encryption {
public:
    listener_encryption() = default; ///< none

    /// Whether connections are encrypted.
    [[nodiscard]] explicit operator bool() const noexcept { return wanted_; }

private:
    friend class detail::listener_state;
    friend class tls_certificate;

    explicit listener_encryption(std::shared_ptr<detail::session_maker const> maker)
        : maker_(std::move(maker)), wanted_(true) {}
    [[nodiscard]] detail::session_maker const* maker() const noexcept { return maker_.get(); }
    [[nodiscard]] bool lacks_certificate() const noexcept { return wanted_ && !maker_; }

    std::shared_ptr<detail::session_maker const> maker_;
    bool
        wanted_{}; ///< remains after a move, so that a listener without its certificate serves nothing rather than plain text
};

/// Options of a listener. Plain data: set them by designated initializers.
struct listener_options {
    std::string address{"127.0.0.1"}; ///< an address of this computer; "localhost" is 127.0.0.1
    std::uint16_t port{10002};        ///< 0: any free port, see `http_listener::port`
    /// Required for an address beyond the loopback: anyone who reaches it can send requests, which are not encrypted without `encryption`.
    bool beyond_loopback{};
    /// TLS for the connections of requests; the port of the metrics is never encrypted. A handshake has `header_timeout`, and gives way to a
    /// new connection like an idle connection. A request without TLS gets 400.
    listener_encryption encryption{};

    unsigned threads{}; ///< number of threads that handle requests; 0: one for each processor
    unsigned max_threads{
        64}; ///< maximum number of threads; one is added if all are busy and none has responded for 20 ms

    /// Maximum number of open connections. For one more, the connection that has waited longest for a request is closed, first those whose
    /// sender is not known yet. If all of them have a request in progress, the new connection gets 503 and is closed.
    std::size_t max_connections{1024};
    std::size_t max_header_size{32 * 1024}; ///< bytes of a request line and its header fields; a longer header gets 431
    std::size_t max_body_size{4 * 1024 * 1024}; ///< maximum bytes of a request; a larger request gets 413
    /// Bytes of the bodies of all connections together, while they are received; a request beyond that gets 503.
    std::size_t max_body_bytes{256 * 1024 * 1024};
    std::chrono::milliseconds idle_timeout{60'000}; ///< limit for the time between two requests of a connection

    /// Limit from the first byte of a request to the end of its header. For a new connection it begins with the connection.
    std::chrono::milliseconds header_timeout{10'000};
    std::chrono::milliseconds body_timeout{30'000}; ///< limit for the rest of a request, and for sending the response
    std::chrono::milliseconds stop_timeout{
        10'000}; ///< how long `stop` waits for requests in progress before it closes their connections

    std::optional<std::uint16_t> metrics_port{}; ///< OpenMetrics text at /metrics of the same address; 0: any free port
    /// Receives requests that are refused before the handler sees them. Must outlive the listener, and be safe to call from several
    /// threads.
    observer* watch{};
};

/// Handles requests. The URL is absolute, as the sender sees it. Called on the listener's threads, by several of them concurrently. If it
/// throws, the response is 500.
using http_handler = std::function<http_response(http_request const& request, request_sender const& from)>;

/// Looks at a request before its body is read, so that the body of a sender who is not permitted takes no memory. `head` has no body;
/// `body_size` is its announced size in bytes, or the greatest number if it is beyond the limit of the listener. Returns the response that
/// refuses the request; nullopt to read the body. Called like an `http_handler`. Requests whose body has arrived with the header are not
/// looked at.
using http_gate = std::function<std::optional<http_response>(
    http_request const& head, std::uint64_t body_size, request_sender const& from)>;

/// Serves HTTP/1.1 over TCP or TLS, with persistent connections, pipelined requests answered in order, chunked bodies and `Expect: 100-continue`.
/// Requests with an ambiguous length are refused, and the connection is closed. Slow senders are disconnected, and the memory of a request
/// is bounded, as is that of all bodies together. Up to `listener_options::max_threads` slow responses do not delay other connections.
///
/// Thread safety: one thread at a time; during `run`, other threads may only call `stop`, `metrics` and the ports.
class http_listener {
public:
    /// Serves `server`. Opens no socket before `listen` or `run`.
    explicit http_listener(table_server server, listener_options options = {})
        : http_listener(http_handler{[server](http_request const& request, request_sender const& from) {
              return server.answer(request, from);
          }},
              http_gate{[server](http_request const& head, std::uint64_t body_size, request_sender const& from) {
                  return server.refusal(head, body_size, from);
              }},
              std::move(options)) {}
    /// Serves a function of any type. `gate` refuses requests before their body is read.
    explicit http_listener(http_handler handler, listener_options options = {})
        : http_listener(std::move(handler), http_gate{}, std::move(options)) {}
    http_listener(http_handler handler, http_gate gate, listener_options options = {});
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

    /// Returns the metrics as OpenMetrics text, for programs that serve them in another way. Safe to call from any thread.
    [[nodiscard]] std::string metrics() const;

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
