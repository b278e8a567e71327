// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A proxy in front of a PostgreSQL server that cuts a connection before a COMMIT reaches the server, or before its answer reaches the
/// client. Clients prepare COMMIT under a name, which the proxy learns.

#include <support/postgres_proxy.hpp>

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
    /// What happens to the next COMMIT; with `closed` no new connection is accepted after that.
    void cut(at where, bool closed = false) {
        closing_ = closed;
        closed_ = false;
        where_ = where;
    }
    [[nodiscard]] std::size_t cuts() const { return cuts_; }

private:
    bool accepts() override { return !closed_; }
    void serve(int client, int server) override {
        std::string learned; // the Bind message of the statement that was prepared as COMMIT begins with it
        bool swallow = false;
        std::vector<char> buffer(1 << 20);
        while (!stopped()) {
            pollfd ends[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
            if (::poll(ends, 2, 10) <= 0) { continue; }
            if (ends[0].revents != 0) {
                ssize_t const got = ::recv(client, buffer.data(), buffer.size(), 0);
                if (got <= 0) { break; }
                std::string_view const bytes{buffer.data(), static_cast<std::size_t>(got)};
                std::size_t const prepared = bytes.find(std::string_view{"\0COMMIT\0", 8});
                if (prepared != std::string_view::npos && learned.empty()) {
                    std::size_t const begin = bytes.rfind("entitable_", prepared);
                    // an unnamed portal, then the name of the statement
                    learned = std::string(1, '\0') + std::string{bytes.substr(begin, prepared - begin)} +
                        std::string(1, '\0');
                }
                bool const commits = !learned.empty() && bytes.find(learned) != std::string_view::npos;
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

    std::atomic<bool> closing_{false};
    std::atomic<bool> closed_{false};
    std::atomic<at> where_{at::nothing};
    std::atomic<std::size_t> cuts_{0};
};

} // namespace entitable_test
