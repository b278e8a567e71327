// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A proxy in front of a PostgreSQL server that falls silent after the n-th message of the protocol, in either direction: sockets stay
/// open and nothing is forwarded any more, like a server that hangs or a partitioned network.

#include <support/postgres_proxy.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

namespace entitable_test {

class stopping_proxy final : public postgres_proxy {
public:
    explicit stopping_proxy(std::string const& server) : postgres_proxy(server) { start(); }
    ~stopping_proxy() override { finish(); }

    /// This number of further messages is forwarded.
    void stop_behind(std::int64_t messages) { left_ = messages; }
    /// Everything is forwarded; messages are counted from here. Connections that were silent are ended.
    void release() {
        ++epoch_;
        left_ = all;
        passed_ = 0;
    }
    [[nodiscard]] std::int64_t passed() const { return passed_; }

private:
    static constexpr std::int64_t all = std::int64_t{1} << 40;

    /// Removes the bytes of complete messages that may pass from the front of `bytes`. The first message of a client has no
    /// type.
    std::string take(std::string& bytes, bool& first) {
        std::size_t end = 0;
        for (;;) {
            std::size_t const head = first ? 0 : 1;
            if (bytes.size() < end + head + 4) { break; }
            std::uint32_t size = 0;
            for (std::size_t at = 0; at < 4; ++at) {
                size = size << 8U | static_cast<unsigned char>(bytes[end + head + at]);
            }
            if (bytes.size() < end + head + size || left_.fetch_sub(1) <= 0) { break; }
            ++passed_;
            first = false;
            end += head + size;
        }
        std::string taken = bytes.substr(0, end);
        bytes.erase(0, end);
        return taken;
    }
    void serve(int client, int server) override {
        std::uint64_t const epoch = epoch_;
        std::array<char, 1 << 16> buffer{};
        std::array<std::string, 2> held;
        bool firsts[2] = {true, false};
        int const ends[2] = {client, server};
        bool silent = false;
        while (!stopped() && !(silent && epoch != epoch_)) {
            silent = silent || left_ <= 0;
            if (silent) {
                std::this_thread::sleep_for(std::chrono::milliseconds{1});
                continue;
            }
            pollfd ready[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
            if (::poll(ready, 2, 1) <= 0) { continue; }
            for (int from = 0; from < 2; ++from) {
                if (ready[from].revents == 0) { continue; }
                ssize_t const got = ::recv(ends[from], buffer.data(), buffer.size(), 0);
                if (got <= 0) { return; }
                auto const side = static_cast<std::size_t>(from);
                held[side].append(buffer.data(), static_cast<std::size_t>(got));
                if (!send_all(ends[1 - from], take(held[side], firsts[from]))) { return; }
            }
        }
    }

    std::atomic<std::int64_t> left_{all};
    std::atomic<std::int64_t> passed_{0};
    std::atomic<std::uint64_t> epoch_{0};
};

} // namespace entitable_test
