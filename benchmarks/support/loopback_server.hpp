// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A fast server on 127.0.0.1 in a process of its own: one thread, epoll, keep-alive, the same answer to every request
/// without a body, at once or after a delay, or another answer to every n-th request. It ends with the program that started
/// it.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>

namespace measure {

/// How a server answers, if not always the same at once.
struct loopback_options {
    std::chrono::milliseconds latency{}; ///< delay of each answer; only without TLS
    std::size_t each{};                  ///< every request with a multiple of this number is answered with `other`
    std::string other{};
};

class loopback_server {
public:
    /// Serves `answer`, with TLS if there is a context for it. Must be created while the program has one thread.
    loopback_server(std::string answer, SSL_CTX* tls, loopback_options how = {})
        : answer_(std::move(answer)), tls_(tls), how_(std::move(how)) {
        listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        int alive[2];
        if (::bind(listening_, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(listening_, 512) != 0 ||
            ::getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &size) != 0 || ::pipe(alive) != 0) {
            throw std::runtime_error{"cannot listen on 127.0.0.1"};
        }
        port_ = ntohs(at.sin_port);
        child_ = ::fork();
        if (child_ == 0) {
            ::close(alive[1]);
            std::signal(SIGPIPE, SIG_IGN);
            serve(alive[0]);
            ::_exit(0);
        }
        ::close(alive[0]);
        ::close(listening_);
        alive_ = alive[1];
    }
    loopback_server(loopback_server const&) = delete;
    loopback_server& operator=(loopback_server const&) = delete;
    ~loopback_server() {
        ::close(alive_); // the child notices that
        ::waitpid(child_, nullptr, 0);
    }

    [[nodiscard]] std::string origin() const {
        return (tls_ != nullptr ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_);
    }

private:
    struct connection {
        SSL* ssl{};
        std::string pending;
    };

    void serve(int alive) {
        int const events = ::epoll_create1(0);
        auto const watch = [&](int descriptor) {
            epoll_event wanted{};
            wanted.events = EPOLLIN;
            wanted.data.fd = descriptor;
            ::epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &wanted);
        };
        watch(listening_);
        watch(alive);
        std::map<int, connection> open;
        for (;;) {
            epoll_event ready[64];
            int const count = ::epoll_wait(events, ready, 64, wait_for_due());
            send_due();
            for (int index = 0; index < count; ++index) {
                int const descriptor = ready[index].data.fd;
                if (descriptor == alive) { return; }
                if (descriptor == listening_) {
                    int const made = ::accept4(listening_, nullptr, nullptr, SOCK_NONBLOCK);
                    if (made < 0) { continue; }
                    int const on = 1;
                    ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                    connection& fresh = open[made];
                    if (tls_ != nullptr) {
                        fresh.ssl = SSL_new(tls_);
                        SSL_set_fd(fresh.ssl, made);
                        SSL_set_accept_state(fresh.ssl);
                    }
                    watch(made);
                } else if (!answer(descriptor, open[descriptor])) {
                    SSL_free(open[descriptor].ssl);
                    open.erase(descriptor);
                    ::close(descriptor);
                }
            }
        }
    }

    /// An answer that waits for its time. All wait equally long, so they are due in the order they were added.
    struct due_answer {
        std::chrono::steady_clock::time_point at;
        int descriptor;
        std::string const* text;
    };
    [[nodiscard]] int wait_for_due() const {
        if (due_.empty()) { return -1; }
        auto const left =
            std::chrono::ceil<std::chrono::milliseconds>(due_.front().at - std::chrono::steady_clock::now());
        return left.count() > 0 ? static_cast<int>(left.count()) : 0;
    }
    void send_due() {
        for (; !due_.empty() && due_.front().at <= std::chrono::steady_clock::now(); due_.pop_front()) {
            auto const& [at, descriptor, text] = due_.front();
            static_cast<void>(::send(descriptor, text->data(), text->size(), MSG_NOSIGNAL));
        }
    }

    /// Reads what has arrived and answers complete requests. False when the client has disconnected.
    bool answer(int descriptor, connection& with) {
        char bytes[16384];
        for (;;) {
            long got = 0;
            if (with.ssl != nullptr) {
                got = SSL_read(with.ssl, bytes, sizeof bytes);
                if (got <= 0) {
                    int const why = SSL_get_error(with.ssl, static_cast<int>(got));
                    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
                }
            } else {
                got = ::recv(descriptor, bytes, sizeof bytes, 0);
                if (got <= 0) { return got < 0 && errno == EAGAIN; }
            }
            with.pending.append(bytes, static_cast<std::size_t>(got));
            for (std::size_t end = 0; (end = with.pending.find("\r\n\r\n")) != std::string::npos;) {
                with.pending.erase(0, end + 4);
                std::string const& chosen = how_.each != 0 && ++requests_ % how_.each == 0 ? how_.other : answer_;
                if (how_.latency.count() > 0) {
                    due_.push_back({std::chrono::steady_clock::now() + how_.latency, descriptor, &chosen});
                    continue;
                }
                long const put = with.ssl != nullptr
                    ? SSL_write(with.ssl, chosen.data(), static_cast<int>(chosen.size()))
                    : ::send(descriptor, chosen.data(), chosen.size(), MSG_NOSIGNAL);
                if (put != static_cast<long>(chosen.size())) { return false; }
            }
            if (with.ssl == nullptr && got < static_cast<long>(sizeof bytes)) {
                return true; // later data is reported by another event
            }
        }
    }

    std::string const answer_;
    SSL_CTX* const tls_;
    loopback_options const how_;
    std::deque<due_answer> due_;
    std::size_t requests_{};
    int listening_{};
    int port_{};
    int alive_{};
    pid_t child_{};
};

} // namespace measure
