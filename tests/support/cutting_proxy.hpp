// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A proxy in front of a PostgreSQL server that cuts a connection before a COMMIT reaches the server, or before its answer reaches the
/// client. Clients prepare COMMIT under a name, which the proxy learns.

#include <poll.h>
#include <support/temporary_folder.hpp>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace entitable_test {

class cutting_proxy {
public:
    enum class at { nothing, commit_before, commit_after };

    /// The connection string names a socket: host=FOLDER port=N ...
    explicit cutting_proxy(std::string const& server) {
        std::size_t const host = server.find("host=") + 5;
        std::size_t const end = server.find(' ', host);
        std::size_t const port = server.find("port=") + 5;
        target_ = server.substr(host, end - host) + "/.s.PGSQL." + server.substr(port, server.find(' ', port) - port);
        own_ = folder_ / (".s.PGSQL." + server.substr(port, server.find(' ', port) - port));
        connection_string_ = server.substr(0, host) + own_.substr(0, own_.rfind('/')) + server.substr(end);
        listener_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
        auto const name = address(own_);
        static_cast<void>(::bind(listener_, reinterpret_cast<sockaddr const*>(&name), sizeof name));
        static_cast<void>(::listen(listener_, 16));
        accepting_ = std::thread{[this] { accept_all(); }};
    }
    ~cutting_proxy() {
        stop_ = true;
        accepting_.join();
        for (std::thread& each : serving_) {
            each.join();
        }
        ::close(listener_);
    }
    [[nodiscard]] std::string const& connection_string() const { return connection_string_; }
    /// What the next COMMIT meets; with `closed` no new connection gets through after that.
    void cut(at where, bool closed = false) {
        closing_ = closed;
        closed_ = false;
        where_ = where;
    }
    [[nodiscard]] std::size_t cuts() const { return cuts_; }

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
            if (::poll(&ready, 1, 10) <= 0) {
                continue;
            }
            int const client = ::accept(listener_, nullptr, nullptr);
            int const server = closed_ ? -1 : ::socket(AF_UNIX, SOCK_STREAM, 0);
            auto const name = address(target_);
            if (server < 0 || ::connect(server, reinterpret_cast<sockaddr const*>(&name), sizeof name) != 0) {
                ::close(client);
                continue;
            }
            serving_.emplace_back([this, client, server] { serve(client, server); });
        }
    }
    static bool send_all(int to, std::string_view bytes) {
        while (!bytes.empty()) {
            ssize_t const sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) {
                return false;
            }
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    void serve(int client, int server) {
        std::string learned; // the Bind message of the statement that was prepared as COMMIT begins with it
        bool swallow = false;
        std::vector<char> buffer(1 << 20);
        while (!stop_) {
            pollfd ends[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
            if (::poll(ends, 2, 10) <= 0) {
                continue;
            }
            if (ends[0].revents != 0) {
                ssize_t const got = ::recv(client, buffer.data(), buffer.size(), 0);
                if (got <= 0) {
                    break;
                }
                std::string_view const bytes{buffer.data(), static_cast<std::size_t>(got)};
                std::size_t const prepared = bytes.find(std::string_view{"\0COMMIT\0", 8});
                if (prepared != std::string_view::npos && learned.empty()) {
                    std::size_t const begin = bytes.rfind('e', prepared);
                    // an unnamed portal, then the name of the statement
                    learned = std::string(1, '\0') + std::string{bytes.substr(begin, prepared - begin)} +
                        std::string(1, '\0');
                }
                bool const commits = !learned.empty() && prepared == std::string_view::npos &&
                    bytes.find(learned) != std::string_view::npos;
                if (commits && where_ != at::nothing) {
                    closed_ = closing_.load();
                    ++cuts_;
                    swallow = where_.exchange(at::nothing) == at::commit_after;
                    if (!swallow) {
                        break;
                    }
                }
                if (!send_all(server, bytes)) {
                    break;
                }
            }
            if (ends[1].revents != 0) {
                ssize_t const got = ::recv(server, buffer.data(), buffer.size(), 0);
                if (got <= 0 || swallow || !send_all(client, {buffer.data(), static_cast<std::size_t>(got)})) {
                    break; // an answer that is swallowed says that the server is done
                }
            }
        }
        ::close(client);
        ::close(server);
    }

    std::string target_;
    temporary_folder folder_;
    std::string own_;
    std::string connection_string_;
    int listener_{-1};
    std::atomic<bool> stop_{false};
    std::atomic<bool> closing_{false};
    std::atomic<bool> closed_{false};
    std::atomic<at> where_{at::nothing};
    std::atomic<std::size_t> cuts_{0};
    std::vector<std::thread> serving_; ///< of the accepting thread, until that has ended
    std::thread accepting_;
};

} // namespace entitable_test
