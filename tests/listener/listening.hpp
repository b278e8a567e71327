// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Listeners of the tests, and clients that send raw bytes to them.

#include <entitable/listener.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <support/catch.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace entitable_test {

/// A listener that runs until the end of a block.
class listening {
public:
    template <class Served>
    explicit listening(Served served, entitable::listener_options options = {})
        : listener_(std::move(served), on_free_port(std::move(options))) {
        auto const opened = listener_.listen();
        REQUIRE(opened);
        thread_ = std::thread{[this] { static_cast<void>(listener_.run()); }};
    }
    listening(entitable::http_handler handler, entitable::http_gate gate, entitable::listener_options options = {})
        : listener_(std::move(handler), std::move(gate), on_free_port(std::move(options))) {
        auto const opened = listener_.listen();
        REQUIRE(opened);
        thread_ = std::thread{[this] { static_cast<void>(listener_.run()); }};
    }
    ~listening() { stop(); }
    listening(listening const&) = delete;
    listening& operator=(listening const&) = delete;

    void stop() {
        if (thread_.joinable()) {
            listener_.stop();
            thread_.join();
        }
    }
    [[nodiscard]] std::uint16_t port() const { return listener_.port(); }
    [[nodiscard]] std::uint16_t metrics_port() const { return listener_.metrics_port(); }

private:
    static entitable::listener_options on_free_port(entitable::listener_options options) {
        options.port = 0;
        return options;
    }
    entitable::http_listener listener_;
    std::thread thread_;
};

/// A connection that sends the given bytes.
class raw_connection {
public:
    explicit raw_connection(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connected_ = ::connect(socket_, reinterpret_cast<sockaddr const*>(&to), sizeof to) == 0;
    }
    ~raw_connection() { ::close(socket_); }
    raw_connection(raw_connection const&) = delete;
    raw_connection& operator=(raw_connection const&) = delete;

    [[nodiscard]] bool connected() const { return connected_; }
    void send(std::string_view bytes) const {
        while (!bytes.empty()) {
            auto const sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) { return; }
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    void finish() const { ::shutdown(socket_, SHUT_WR); }
    /// Everything received until the end, or until nothing arrives for this time.
    [[nodiscard]] std::string read_all(int patience_ms = 5'000) const {
        std::string all;
        while (read_some(all, patience_ms)) {}
        return all;
    }
    /// Everything received until `marker` has arrived this number of times.
    [[nodiscard]] std::string read_until(std::string_view marker, std::size_t times = 1) const {
        std::string all;
        for (;;) {
            std::size_t found = 0;
            for (std::size_t at = 0; (at = all.find(marker, at)) != std::string::npos; at += marker.size()) { ++found; }
            if (found >= times || !read_some(all, 10'000)) { return all; }
        }
    }
    /// The other side has closed.
    [[nodiscard]] bool closed(int patience_ms = 5'000) const {
        std::string rest;
        while (read_some(rest, patience_ms)) {}
        return ended_;
    }

private:
    bool read_some(std::string& to, int patience_ms) const {
        pollfd waiting{socket_, POLLIN, 0};
        if (::poll(&waiting, 1, patience_ms) <= 0) { return false; }
        char piece[4096];
        auto const got = ::recv(socket_, piece, sizeof piece, 0);
        if (got <= 0) {
            ended_ = true;
            return false;
        }
        to.append(piece, static_cast<std::size_t>(got));
        return true;
    }

    int socket_;
    bool connected_{};
    mutable bool ended_{};
};

/// Sends bytes on a connection of their own, and reads everything that is returned.
inline std::string answer_to(std::uint16_t port, std::string_view bytes) {
    raw_connection const by{port};
    REQUIRE(by.connected());
    by.send(bytes);
    by.finish();
    return by.read_all();
}

} // namespace entitable_test
