// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// An address on 127.0.0.1 that gives out tokens, as App Service has one for each application. POSIX only.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

/// Answers every request with a token that is valid for a day, until it is destroyed.
class token_endpoint {
public:
    token_endpoint() : listening_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        if (::bind(listening_, reinterpret_cast<sockaddr*>(&at), size) == 0 && ::listen(listening_, 8) == 0 &&
            ::getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &size) == 0) {
            address_ = "http://127.0.0.1:" + std::to_string(ntohs(at.sin_port)) + "/msi/token";
            answering_ = std::thread{[this] { answer(); }};
        }
    }
    token_endpoint(token_endpoint const&) = delete;
    token_endpoint& operator=(token_endpoint const&) = delete;
    ~token_endpoint() {
        ::shutdown(listening_, SHUT_RDWR); // ends `accept`
        if (answering_.joinable()) { answering_.join(); }
        ::close(listening_);
    }

    [[nodiscard]] std::string const& address() const { return address_; }
    /// The number of requests for tokens.
    [[nodiscard]] int requests() const { return requests_; }
    /// The first line of the last request.
    [[nodiscard]] std::string const& last() const { return last_; }

private:
    void answer() {
        for (int client = 0; (client = ::accept(listening_, nullptr, nullptr)) >= 0; ::close(client)) {
            std::string request;
            char piece[1024];
            long got = 0;
            while (
                request.find("\r\n\r\n") == std::string::npos && (got = ::recv(client, piece, sizeof piece, 0)) > 0) {
                request.append(piece, static_cast<std::size_t>(got));
            }
            last_ = request.substr(0, request.find(" HTTP/"));
            ++requests_;
            std::string const body =
                R"({"access_token":"a.token.of-entra","expires_in":"86399","token_type":"Bearer"})";
            std::string const text = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\nConnection: close\r\n\r\n" + body;
            static_cast<void>(::send(client, text.data(), text.size(), 0));
        }
    }

    int const listening_;
    std::string address_;
    std::string last_; ///< read by others once their request has been answered
    std::atomic<int> requests_{0};
    std::thread answering_;
};
