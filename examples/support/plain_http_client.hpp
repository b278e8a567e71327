// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The smallest http_client: one connection of HTTP/1.0 for each request, to this computer only, without TLS. A template to
/// start from; `rest<plain_http_client>` is then a complete backend. For POSIX systems.

#include <entitable/cloud/http/http_client.hpp>
#include <entitable/cloud/http/url.hpp>

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

/// Models http_client, and is safe to use from several threads: it has no state.
class plain_http_client {
public:
    using is_http_client = void;

    entitable::result<entitable::http_response> send(
        entitable::http_request const& request, entitable::http_call const& call) const {
        auto const to = entitable::parse_url(request.url, "the URL");
        if (!to) { return entitable::failure{to.error()}; }
        if (to->encrypted || !to->is_loopback()) {
            return entitable::failure{entitable::error_code::invalid_input, "this client speaks to this computer only"};
        }
        std::string text{to_string(request.method)};
        text.append(" ").append(to->path.empty() ? "/" : to->path);
        text.append(to->query.empty() ? "" : "?").append(to->query).append(" HTTP/1.0\r\n");
        request.headers.for_each([&](std::string_view name, std::string_view value) {
            text.append(name).append(": ").append(value).append("\r\n");
        });
        text.append("Host: ").append(to->host).append(to->port.empty() ? "" : ":").append(to->port);
        text.append("\r\nContent-Length: ").append(std::to_string(request.body.size()));
        text.append("\r\n\r\n").append(request.body);

        connection peer{call};
        if (!peer.connect(std::string{to->host}, to->port.empty() ? "80" : std::string{to->port}) ||
            !peer.write(text) || !peer.read_all()) {
            return entitable::failure{peer.why};
        }
        return answer(peer.received, call);
    }

private:
    struct connection {
        entitable::http_call const& call;
        std::string received{};
        entitable::error why{entitable::error_code::transport_failed, "nobody answers at the address"};
        int handle{-1};

        explicit connection(entitable::http_call const& of) : call(of) {}
        connection(connection const&) = delete;
        connection& operator=(connection const&) = delete;
        ~connection() { ::close(handle); }

        bool connect(std::string const& host, std::string const& port) {
            addrinfo hints{};
            hints.ai_socktype = SOCK_STREAM;
            addrinfo* found = nullptr;
            if (!may_go_on() || getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) { return false; }
            handle = ::socket(found->ai_family, found->ai_socktype, found->ai_protocol);
            bool const open = ::connect(handle, found->ai_addr, found->ai_addrlen) == 0;
            freeaddrinfo(found);
            return open;
        }
        bool write(std::string_view text) {
            why.message = "the connection was lost";
            why.effect = entitable::effect::unknown; // from the first byte on
            while (!text.empty() && ready(POLLOUT)) {
                auto const sent = ::send(handle, text.data(), text.size(), MSG_NOSIGNAL);
                if (sent <= 0) { return false; }
                text.remove_prefix(static_cast<std::size_t>(sent));
            }
            return text.empty();
        }
        bool read_all() {
            char buffer[16384];
            while (ready(POLLIN)) {
                auto const size = ::recv(handle, buffer, sizeof buffer, 0);
                if (size <= 0) { return size == 0; }
                received.append(buffer, static_cast<std::size_t>(size));
                if (received.size() > call.max_body_size + call.max_header_size) {
                    why.message = "the answer is longer than the caller allows";
                    return false;
                }
            }
            return false;
        }
        /// Waits in slices, so that a cancellation is noticed.
        bool ready(short what) {
            for (pollfd waits{handle, what, 0}; may_go_on();) {
                if (::poll(&waits, 1, 20) > 0) { return true; }
            }
            return false;
        }
        bool may_go_on() {
            bool const cancelled = call.cancellation.cancelled();
            bool const late = entitable::system_clock().steady() >= call.deadline;
            if (cancelled || late) {
                why.code = cancelled ? entitable::error_code::cancelled : entitable::error_code::deadline_exceeded;
            }
            return !cancelled && !late;
        }
    };

    static entitable::result<entitable::http_response> answer(std::string_view text, entitable::http_call const& call) {
        auto const lost = [](char const* why) {
            entitable::failure made{entitable::error_code::transport_failed, why};
            made.error().effect = entitable::effect::unknown;
            return made;
        };
        entitable::http_response made;
        std::size_t const head = text.find("\r\n\r\n");
        if (!text.starts_with("HTTP/1.") || head > call.max_header_size ||
            std::from_chars(text.data() + 9, text.data() + 12, made.status).ec != std::errc{}) {
            return lost("the answer is no HTTP");
        }
        for (std::size_t at = text.find("\r\n") + 2; at < head + 2;) {
            std::string_view const line = text.substr(at, text.find("\r\n", at) - at);
            std::size_t const colon = line.find(':');
            if (colon == std::string_view::npos || !made.headers.add(line.substr(0, colon), line.substr(colon + 1))) {
                return lost("the answer has a line that is no header field");
            }
            at += line.size() + 2;
        }
        text.remove_prefix(head + 4);
        auto const length = made.headers.find("Content-Length");
        if (made.headers.find("Transfer-Encoding") || (length && *length != std::to_string(text.size()))) {
            return lost("the answer was cut"); // an HTTP/1.0 client gets no chunks
        }
        made.body.reserve(text.size() + made.padding);
        made.body = text;
        return made;
    }
};
