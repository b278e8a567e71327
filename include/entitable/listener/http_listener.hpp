// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `http_listener`: HTTP/1.1 on a socket, in front of a `table_server`. Boost.Beast stays behind this header.

#include <entitable/http/http_message.hpp>
#include <entitable/listener/listener_options.hpp>
#include <entitable/server/table_server.hpp>

#include <functional>
#include <memory>

ENTITABLE_BEGIN_NAMESPACE

/// Answers requests. The URL is absolute, as the sender sees it. Called on the listener's threads, by several at once. Where it throws the
/// answer is 500.
using http_handler = std::function<http_response(http_request const& request, request_sender const& from)>;

namespace detail {
class listener_state;
}

/// Serves HTTP/1.1 over TCP: connections are kept, pipelined requests answered in order, chunked bodies and
/// `Expect: 100-continue` understood. Requests whose length could be read in two ways are refused and their connection closed.
/// Slow senders are cut off, and all that is kept of a request has a bound. Up to `listener_options::max_threads` slow answers hold up no
/// other connection.
///
/// Thread safety: one thread at a time; while `run` is under way other threads may call `stop` and the ports, and nothing else.
class http_listener {
public:
    /// In front of `server`. Nothing is opened before `listen` or `run`.
    explicit http_listener(table_server server, listener_options options = {})
        : http_listener(http_handler{[server = std::move(server)](http_request const& request,
                                         request_sender const& from) { return server.answer(request, from); }},
              std::move(options)) {}
    /// In front of any function.
    explicit http_listener(http_handler handler, listener_options options = {});
    http_listener(http_listener const&) = delete;
    http_listener& operator=(http_listener const&) = delete;
    ~http_listener();

    /// Opens the sockets: from then on connections are accepted, and answered once it runs. Success where they are open. Errors: InvalidInput
    /// for what is no address, and for one beyond the loopback without `beyond_loopback`; StoreFailed with the system's text where a port
    /// cannot be bound.
    [[nodiscard]] result<void> listen();
    /// The port, once it listens; 0 before that.
    [[nodiscard]] std::uint16_t port() const noexcept;
    /// The port of the metrics; 0 when there is none.
    [[nodiscard]] std::uint16_t metrics_port() const noexcept;

    /// Serves until it is stopped, on threads that end with this call. Calls `listen` first, and returns its error. A listener that was stopped
    /// does not serve again.
    [[nodiscard]] result<void> run();

    /// Accepts no more connections, lets requests under way be answered for `listener_options::stop_timeout`, closes all connections, and ends
    /// `run`, which waits for the handler all the same. Before `run` it makes that end at once. Not safe in a signal handler.
    void stop() noexcept;

private:
    std::shared_ptr<detail::listener_state> state_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/listener/impl/http_listener.ipp>
#endif
