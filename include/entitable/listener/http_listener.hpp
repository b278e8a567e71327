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

/// What answers requests. The URL is absolute, as the sender sees it. Called on the listener's threads, by several at once. What it
/// throws is answered with 500.
using http_handler = std::function<http_response(http_request const& request, request_sender const& from)>;

namespace detail {
class listener_state;
}

/// Serves HTTP/1.1 over TCP: connections are kept, pipelined requests answered in order, chunked bodies and
/// `Expect: 100-continue` understood. Requests whose length could be read in two ways are refused and their connection closed.
/// Slow senders are cut off, and all that is kept of a request has a bound. One answer that takes long holds up no other connection.
///
/// `stop` may be called from any thread, and only it while `run` is under way.
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

    /// Opens the sockets: from then on connections are taken, and answered once it runs. InvalidInput for an address that is none, or is
    /// beyond the loopback and nobody said so; StoreFailed with the system's words when the port cannot be had.
    [[nodiscard]] result<void> listen();
    /// The port, once it listens; 0 before that.
    [[nodiscard]] std::uint16_t port() const noexcept;
    /// The port of the metrics; 0 when there is none.
    [[nodiscard]] std::uint16_t metrics_port() const noexcept;

    /// Serves until it is stopped, with the calling thread and others that end with it. Listens first where that was not done.
    [[nodiscard]] result<void> run();

    /// Takes no more connections, lets what is under way be answered, closes the others, and ends `run`. May be called before `run`, which
    /// ends at once then. Not to be called by a signal handler.
    void stop() noexcept;

private:
    std::shared_ptr<detail::listener_state> state_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/listener/impl/http_listener.ipp>
#endif
