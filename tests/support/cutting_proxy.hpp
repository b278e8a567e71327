// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A proxy in front of a PostgreSQL server that cuts a connection before what commits reaches the server, a COMMIT or a write of one row, or
/// before its answer reaches the client. Clients prepare statements under names, which the proxy learns.

#include <support/postgres_proxy.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <vector>

namespace entitable_test {

class cutting_proxy final : public postgres_proxy {
public:
    enum class at { nothing, commit_before, commit_after };

    explicit cutting_proxy(std::string const& server) : postgres_proxy(server) { start(); }
    ~cutting_proxy() override { finish(); }
    /// What happens to the next commit; with `closed` no new connection is accepted after that.
    void cut(at where, bool closed = false) {
        closing_ = closed;
        closed_ = false;
        where_ = where;
    }
    [[nodiscard]] std::size_t cuts() const { return cuts_; }

private:
    bool accepts() override { return !closed_; }
    void serve(int client, int server) override {
        std::vector<std::string> learned; // how the Bind messages of statements that commit begin
        bool swallow = false;
        std::vector<char> buffer(1 << 20);
        while (!stopped()) {
            pollfd ends[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
            if (::poll(ends, 2, 10) <= 0) { continue; }
            if (ends[0].revents != 0) {
                ssize_t const got = ::recv(client, buffer.data(), buffer.size(), 0);
                if (got <= 0) { break; }
                std::string_view const bytes{buffer.data(), static_cast<std::size_t>(got)};
                learn(bytes, learned);
                bool commits = false;
                for (std::string const& each : learned) {
                    commits = commits || bytes.find(each) != std::string_view::npos;
                }
                if (commits && where_ != at::nothing) {
                    closed_ = closing_.load();
                    ++cuts_;
                    swallow = where_.exchange(at::nothing) == at::commit_after;
                    if (!swallow) { break; }
                }
                if (!send_all(server, bytes)) { break; }
            }
            if (ends[1].revents != 0) {
                ssize_t const got = ::recv(server, buffer.data(), buffer.size(), 0);
                if (got <= 0 || swallow || !send_all(client, {buffer.data(), static_cast<std::size_t>(got)})) {
                    break; // a swallowed answer means that the server has committed
                }
            }
        }
    }

    /// A Parse message has the name of the statement and its text; a Bind message an unnamed portal and the name.
    static void learn(std::string_view bytes, std::vector<std::string>& learned) {
        constexpr std::size_t name_size = 26;
        for (std::size_t at = bytes.find("entitable_"); at != std::string_view::npos;
            at = bytes.find("entitable_", at + 1)) {
            std::string_view const name = bytes.substr(at, name_size);
            std::string_view text = bytes.substr(std::min(at + name_size, bytes.size()));
            text = text.substr(std::min(std::size_t{1}, text.size()));
            text = text.substr(0, text.find('\0')); // of a Bind message: its parameters
            if (text == "COMMIT" || text.find(" RETURNING version") != std::string_view::npos) {
                learned.push_back(std::string(1, '\0') + std::string{name} + std::string(1, '\0'));
            }
        }
    }

    std::atomic<bool> closing_{false};
    std::atomic<bool> closed_{false};
    std::atomic<at> where_{at::nothing};
    std::atomic<std::size_t> cuts_{0};
};

} // namespace entitable_test
