// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A proxy in front of a PostgreSQL server, on a socket of its own. A derived class decides what is forwarded.

#include <poll.h>
#include <support/temporary_folder.hpp>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace entitable_test {

class postgres_proxy {
public:
    postgres_proxy(postgres_proxy const&) = delete;
    postgres_proxy& operator=(postgres_proxy const&) = delete;
    [[nodiscard]] std::string const& connection_string() const { return connection_string_; }

protected:
    /// The connection string names a socket: host=FOLDER port=N ...
    explicit postgres_proxy(std::string const& server) {
        std::size_t const host = server.find("host=") + 5;
        std::size_t const end = server.find(' ', host);
        std::size_t const port = server.find("port=") + 5;
        target_ = server.substr(host, end - host) + "/.s.PGSQL." + server.substr(port, server.find(' ', port) - port);
        own_ = folder_ / (".s.PGSQL." + server.substr(port, server.find(' ', port) - port));
        connection_string_ = server.substr(0, host) + own_.substr(0, own_.rfind('/')) + server.substr(end);
        listener_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
        auto const name = address(own_);
        static_cast<void>(::bind(listener_, reinterpret_cast<sockaddr const*>(&name), sizeof name));
        static_cast<void>(::listen(listener_, 64));
    }
    virtual ~postgres_proxy() { ::close(listener_); }
    /// Called at the end of the constructor of a derived class, and at the start of its destructor.
    void start() {
        accepting_ = std::thread{[this] { accept_all(); }};
    }
    void finish() {
        stop_ = true;
        accepting_.join();
        for (std::thread& each : serving_) { each.join(); }
    }
    [[nodiscard]] bool stopped() const { return stop_; }
    /// Forwards messages until either side or the proxy ends; in a thread of its own.
    virtual void serve(int client, int server) = 0;
    /// Whether a connection is forwarded.
    virtual bool accepts() { return true; }

    static bool send_all(int to, std::string_view bytes) {
        while (!bytes.empty()) {
            ssize_t const sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) { return false; }
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

private:
    static sockaddr_un address(std::string const& path) {
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
        return name;
    }
    void accept_all() {
        while (!stop_) {
            pollfd ready{listener_, POLLIN, 0};
            if (::poll(&ready, 1, 10) <= 0) { continue; }
            int const client = ::accept(listener_, nullptr, nullptr);
            int const server = accepts() ? ::socket(AF_UNIX, SOCK_STREAM, 0) : -1;
            auto const name = address(target_);
            if (server < 0 || ::connect(server, reinterpret_cast<sockaddr const*>(&name), sizeof name) != 0) {
                ::close(client);
                continue;
            }
            serving_.emplace_back([this, client, server] {
                serve(client, server);
                ::close(client);
                ::close(server);
            });
        }
    }

    std::string target_;
    temporary_folder folder_;
    std::string own_;
    std::string connection_string_;
    int listener_{-1};
    std::atomic<bool> stop_{false};
    std::vector<std::thread> serving_; ///< used by the accepting thread until that has ended
    std::thread accepting_;
};

} // namespace entitable_test
