// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A server on 127.0.0.1 that answers as a test requires, correctly or not, with TLS or without.

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace entitable_test {

/// The server side of one connection. Any failure ends it silently: the client is tested here.
class peer {
public:
    peer(int socket, SSL_CTX* tls, std::atomic<bool> const& stopping) : socket_(socket), stopping_(stopping) {
        if (tls != nullptr) {
            ssl_ = SSL_new(tls);
            SSL_set_fd(ssl_, socket_);
            open_ = SSL_accept(ssl_) == 1;
            ERR_clear_error();
        }
    }
    peer(peer const&) = delete;
    peer& operator=(peer const&) = delete;
    ~peer() {
        if (ssl_ != nullptr && open_) { SSL_shutdown(ssl_); }
        SSL_free(ssl_);
        ::close(socket_);
    }

    [[nodiscard]] bool open() const { return open_; }

    /// The next request, head and body; nullopt when the client has disconnected.
    std::optional<std::string> request() {
        for (;;) {
            if (auto const head = pending_.find("\r\n\r\n"); head != std::string::npos) {
                std::size_t length = head + 4;
                if (auto const at = pending_.find("Content-Length: "); at < head) {
                    length += std::strtoul(pending_.c_str() + at + 16, nullptr, 10);
                }
                if (pending_.size() >= length) {
                    std::string whole = pending_.substr(0, length);
                    pending_.erase(0, length);
                    return whole;
                }
            }
            if (!read_more()) { return std::nullopt; }
        }
    }

    /// The next `size` bytes; nullopt when the client has disconnected.
    std::optional<std::string> bytes(std::size_t size) {
        while (pending_.size() < size) {
            if (!read_more()) { return std::nullopt; }
        }
        std::string taken = pending_.substr(0, size);
        pending_.erase(0, size);
        return taken;
    }

    /// False when the client has stopped reading.
    bool write(std::string_view text) {
        while (open_ && !text.empty() && !stopping_) {
            long const put = ssl_ != nullptr ? SSL_write(ssl_, text.data(), static_cast<int>(text.size()))
                                             : ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
            if (put <= 0) {
                open_ = false;
            } else {
                text.remove_prefix(static_cast<std::size_t>(put));
            }
        }
        ERR_clear_error();
        return open_ && !stopping_;
    }

    /// A plain answer.
    bool answer(std::string_view body, std::string_view status = "200 OK", std::string_view fields = {}) {
        std::string text{"HTTP/1.1 "};
        text.append(status).append("\r\nContent-Length: ").append(std::to_string(body.size())).append("\r\n");
        text.append(fields).append("\r\n").append(body);
        return write(text);
    }

    /// Sends nothing until the client disconnects or the test ends.
    void hang() {
        while (open_ && !stopping_) {
            pollfd wanted{socket_, POLLIN, 0};
            char byte = 0;
            if (::poll(&wanted, 1, 5) > 0 && ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) {
                open_ = false;
            } else if (wanted.revents != 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds{1});
            }
        }
    }
    /// Waits a moment, unless the test ends.
    bool pause(std::chrono::milliseconds time) {
        for (auto rest = time; rest.count() > 0 && !stopping_; rest -= std::chrono::milliseconds{5}) {
            std::this_thread::sleep_for(std::min(rest, std::chrono::milliseconds{5}));
        }
        return !stopping_;
    }

    /// Closes the connection without a TLS close message.
    void cut() {
        ::shutdown(socket_, SHUT_RDWR);
        open_ = false;
    }
    /// Closes the connection as a crashed machine would: RST.
    void reset() {
        linger const hard{1, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        open_ = false; // the destructor closes
    }

private:
    bool read_more() {
        char got[16384];
        long const size = receive(got, sizeof got);
        open_ = open_ && size > 0;
        pending_.append(got, size > 0 ? static_cast<std::size_t>(size) : 0);
        return size > 0;
    }
    long receive(char* to, std::size_t size) {
        if (!open_) { return -1; }
        // With TLS, bytes may be buffered in it.
        while (ssl_ == nullptr || SSL_pending(ssl_) == 0) {
            pollfd wanted{socket_, POLLIN, 0};
            if (::poll(&wanted, 1, 5) > 0) { break; }
            if (stopping_) { return -1; }
        }
        long const got = ssl_ != nullptr ? SSL_read(ssl_, to, static_cast<int>(size)) : ::recv(socket_, to, size, 0);
        ERR_clear_error();
        return got;
    }

    int const socket_;
    std::atomic<bool> const& stopping_;
    SSL* ssl_{};
    std::string pending_;
    bool open_{true};
};

/// Serves each connection on a thread of its own with `serve`, until it is destroyed.
class server {
public:
    explicit server(std::function<void(peer&)> serve, SSL_CTX* tls = nullptr)
        : serve_(std::move(serve)), tls_(tls), listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        std::signal(SIGPIPE, SIG_IGN); // OpenSSL writes without MSG_NOSIGNAL
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        if (::bind(listening_, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(listening_, 512) != 0 ||
            ::getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
            throw std::runtime_error{"cannot listen on 127.0.0.1"};
        }
        port_ = ntohs(at.sin_port);
        accepting_ = std::thread{[this] { accept_all(); }};
    }
    server(server const&) = delete;
    server& operator=(server const&) = delete;
    ~server() {
        stopping_ = true;
        accepting_.join();
        for (std::thread& thread : threads_) { thread.join(); }
        ::close(listening_);
    }

    /// "http://127.0.0.1:12345", or https if the server uses TLS.
    [[nodiscard]] std::string origin(std::string const& host = "127.0.0.1") const {
        return (tls_ != nullptr ? "https://" : "http://") + host + ":" + std::to_string(port_);
    }
    [[nodiscard]] int port() const { return port_; }
    [[nodiscard]] int connections() const { return connections_; }

private:
    void accept_all() {
        while (!stopping_) {
            pollfd wanted{listening_, POLLIN, 0};
            if (::poll(&wanted, 1, 5) <= 0) { continue; }
            int const socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket >= 0) {
                ++connections_;
                threads_.emplace_back([this, socket] {
                    peer client{socket, tls_, stopping_};
                    if (client.open()) { serve_(client); }
                });
            }
        }
    }

    std::function<void(peer&)> const serve_;
    SSL_CTX* const tls_;
    int const listening_;
    int port_{};
    std::atomic<bool> stopping_{false};
    std::atomic<int> connections_{0};
    std::vector<std::thread> threads_; ///< used by the accepting thread until that is joined
    std::thread accepting_;
};

/// Answers every request of a connection with `answer(peer, request)`.
inline std::function<void(peer&)> each_request(std::function<void(peer&, std::string const&)> answer) {
    return [answer = std::move(answer)](peer& client) {
        while (auto const request = client.request()) { answer(client, *request); }
    };
}

} // namespace entitable_test
