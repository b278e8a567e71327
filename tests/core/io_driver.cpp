// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The driver with few and with many descriptors. On Linux many descriptors are in a set of the system, which forgets closed ones by itself.

#if !defined(_WIN32)
#include <entitable/core/io_driver.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>
#include <unistd.h>

#include <array>
#include <map>
#include <utility>
#include <vector>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

struct pipe_ends {
    std::array<int, 2> ends{-1, -1};
    pipe_ends() { REQUIRE(::pipe(ends.data()) == 0); }
    pipe_ends(pipe_ends const&) = delete;
    pipe_ends& operator=(pipe_ends const&) = delete;
    ~pipe_ends() { close(); }
    void close() noexcept {
        for (int& end : ends) {
            if (end >= 0) { ::close(std::exchange(end, -1)); }
        }
    }
    void write() const { REQUIRE(::write(ends[1], "x", 1) == 1); }
};

struct counted_calls final : io_handler {
    std::map<io_descriptor, int> calls;
    void ready(io_descriptor descriptor, io_interest) noexcept override { ++calls[descriptor]; }
};

steady_time soon() { return system_clock().steady() + 20ms; }

} // namespace

TEST_CASE("each of a few or many descriptors is reported when it is ready, and not when it is not watched") {
    std::size_t const count = GENERATE(1U, 63U, 64U, 65U, 200U);
    INFO(count);
    std::vector<pipe_ends> pipes(count);
    poll_driver io;
    counted_calls told;
    CHECK_FALSE(io.watches());
    for (auto const& each : pipes) { io.watch(each.ends[0], io_interest::read, &told); }
    CHECK(io.watches());
    io.wait(soon());
    CHECK(told.calls.empty());
    for (auto const& each : pipes) { each.write(); }
    for (int round = 0; round < 4; ++round) { io.wait(soon()); }
    CHECK(told.calls.size() == count); // 128 at a time
    told.calls.clear();
    for (auto const& each : pipes) { io.watch(each.ends[0], io_interest::none, &told); }
    CHECK_FALSE(io.watches());
    io.watch(pipes.back().ends[0], io_interest::read, &told);
    for (int round = 0; round < 4; ++round) { io.wait(soon()); }
    CHECK(told.calls.size() == 1);
    CHECK(told.calls.count(pipes.back().ends[0]) == 1);
    io.watch(pipes.back().ends[0], io_interest::none, &told);
    io.wait(soon()); // by the clock
}

TEST_CASE("a descriptor that was closed while it was not watched leaves its number to the next one") {
    std::vector<pipe_ends> pipes(100);
    poll_driver io;
    counted_calls told;
    for (auto const& each : pipes) { io.watch(each.ends[0], io_interest::read, &told); }
    int const number = pipes[50].ends[0];
    io.watch(number, io_interest::none, &told);
    pipes[50].close();
    pipe_ends reused;
    bool const first = reused.ends[0] == number;
    bool const second = reused.ends[1] == number;
    REQUIRE((first || second));
    reused.write();
    io.watch(reused.ends[0], io_interest::read, &told);
    io.wait(soon());
    CHECK(told.calls[reused.ends[0]] >= 1);
    io.watch(reused.ends[0], io_interest::none, &told);
}

TEST_CASE("a copy of a closed descriptor does not keep the driver busy") {
    std::vector<pipe_ends> pipes(100);
    poll_driver io;
    counted_calls told;
    for (auto const& each : pipes) { io.watch(each.ends[0], io_interest::read, &told); }
    int const copy = ::dup(pipes[7].ends[0]);
    io.watch(pipes[7].ends[0], io_interest::none, &told);
    pipes[7].write();
    ::close(std::exchange(pipes[7].ends[0], -1));
    for (int round = 0; round < 3; ++round) { io.wait(soon()); }
    auto const begun = system_clock().steady();
    io.wait(begun + 30ms);
    CHECK(system_clock().steady() - begun >= 29ms);
    CHECK(told.calls.empty());
    ::close(copy);
}
#endif
