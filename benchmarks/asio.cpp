// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tables in programs of Boost.Asio. CPU time of a point read over HTTP, 16 and 500 in flight: bare libcurl (one multi handle), Boost.Beast with
// keep-alive (both send the request as captured: they neither sign, nor read JSON, nor check anything), the same promises by hand, `co_await` in
// an `event_loop`, and calls of an `asio_table`. How late a timer of 1 ms is during 5,000 fresh calls. The memory of 100,000 calls that wait for
// an answer. The servers are other processes; interleaved rounds, the least of each. One run prints all of it:
//   g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/asio.cpp -o asio -lcurl -lssl -lcrypto -lsimdjson -pthread && ./asio
// With the argument `instructions`, and perhaps a part of a name, each client runs once for callgrind, which writes a file for each, as printed:
//   valgrind --tool=callgrind --zero-before=cost_begins --dump-before=cost_ends --callgrind-out-file=counts ./asio instructions

#include <entitable/asio.hpp>

#include <benchmarks/support/bare_curl.hpp>
#include <benchmarks/support/loopback_server.hpp>
#include <benchmarks/support/measure.hpp>
#include <benchmarks/support/peers.hpp>
#include <benchmarks/support/point_reads.hpp>
#include <benchmarks/support/reads_by_hand.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <malloc.h>

#include <algorithm>
#include <ctime>
#include <memory>

using namespace entitable;
using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

using measure::fail;
using measure::reads;
using measure::silent;

void on_asio(any_store const& store, std::size_t in_flight) {
    asio::io_context context{1};
    asio_loop loop{context.get_executor(), {.in_flight = in_flight}};
    asio_table<book> const books{loop, store, "Reads"};
    for (std::size_t each = 0; each < reads; ++each) {
        books.async_get("a", "b", [](boost::system::error_code failed, book const&) {
            if (failed) { fail(failed.message()); }
        });
    }
    context.run();
}

void by_hand(std::string const& origin, std::size_t in_flight) {
    asio::io_context context{1};
    measure::reads_by_hand books{context, origin, std::string(64, 'k'), in_flight};
    for (std::size_t each = 0; each < reads; ++each) {
        books.async_get("a", "b", [](boost::system::error_code failed, book const&) {
            if (failed) { fail(failed.message()); }
        });
    }
    context.run();
}

/// Reads one after the other on a connection.
class beast_connection : public std::enable_shared_from_this<beast_connection> {
public:
    beast_connection(asio::io_context& in, std::size_t& left) : stream_(in), left_(left) {
        asked_.method(http::verb::get);
        asked_.target("/acct/Reads(PartitionKey='a',RowKey='b')?timeout=30");
        asked_.version(11);
        asked_.set(http::field::host, "127.0.0.1");
        asked_.set(http::field::accept, "application/json;odata=minimalmetadata");
        asked_.set("DataServiceVersion", "3.0");
        asked_.set("x-ms-version", "2019-02-02");
        asked_.set("x-ms-client-request-id", "1fec64fd-327f-43b5-a2db-96fa801e3a09");
        asked_.set("x-ms-date", "Fri, 20 Nov 2026 15:27:36 GMT");
        asked_.set(http::field::authorization, "SharedKey acct:RNeMV4QhAsdhJ2sGUgufA/AfRsaKXZU2cEJdUsvj4NY=");
    }
    void begin(asio::ip::tcp::endpoint const& where) {
        stream_.async_connect(where, [self = shared_from_this()](boost::system::error_code failed) {
            if (failed) { fail(failed.message()); }
            self->next();
        });
    }

private:
    void next() {
        if (left_ == 0) { return; }
        --left_;
        http::async_write(stream_, asked_, [self = shared_from_this()](boost::system::error_code, std::size_t) {
            self->answer_ = {};
            http::async_read(
                self->stream_, self->buffer_, self->answer_, [self](boost::system::error_code failed, std::size_t) {
                    if (failed) { fail(failed.message()); }
                    self->next();
                });
        });
    }

    boost::beast::tcp_stream stream_;
    std::size_t& left_;
    http::request<http::empty_body> asked_;
    http::response<http::string_body> answer_;
    boost::beast::flat_buffer buffer_;
};

void by_beast(std::string const& origin, std::size_t in_flight) {
    asio::io_context context{1};
    auto const port = static_cast<unsigned short>(std::stoi(origin.substr(origin.rfind(':') + 1)));
    std::size_t left = reads;
    for (std::size_t each = 0; each < in_flight; ++each) {
        std::make_shared<beast_connection>(context, left)->begin({asio::ip::address_v4::loopback(), port});
    }
    context.run();
}

double cpu_of_thread() {
    timespec now{};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// How late a timer of 1 ms is at most, in ms, while 5,000 fresh calls are worked off.
struct lateness {
    double cpu{};  ///< by the time of the thread: how much more than 1 ms the thread worked between two ticks
    double wall{}; ///< by the clock: includes the time in which other programs had the processor
};

lateness latest_tick(any_store const& store, std::size_t in_flight) {
    asio::io_context context{1};
    asio_loop loop{context.get_executor(), {.in_flight = in_flight}};
    asio_table<book> const books{loop, store, "Reads"};
    std::size_t left = reads;
    asio::steady_timer timer{context};
    lateness longest;
    double last = 0;
    std::function<void(boost::system::error_code)> const tick = [&](boost::system::error_code) {
        double const now = cpu_of_thread();
        longest.cpu = std::max(longest.cpu, now - last - 1);
        longest.wall = std::max(longest.wall,
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - timer.expiry()).count());
        last = now;
        if (left == 0) { return; }
        timer.expires_after(1ms);
        timer.async_wait(tick);
    };
    for (std::size_t each = 0; each < reads; ++each) {
        books.async_get("a", "b", [&](boost::system::error_code failed, book const&) {
            if (failed) { fail(failed.message()); }
            --left;
        });
    }
    last = cpu_of_thread();
    timer.expires_after(1ms);
    timer.async_wait(tick);
    context.run();
    return longest;
}

double parked_bytes(std::size_t count) {
    asio::io_context context{1};
    asio_loop loop{context.get_executor(), {.in_flight = count}};
    asio_table<book> const books{loop, silent{}, "Reads"};
    auto const used = [] {
        auto const now = mallinfo2();
        return static_cast<double>(now.uordblks + now.hblkhd);
    };
    double const before = used();
    for (std::size_t each = 0; each < count; ++each) {
        books.async_get("a", "b", [](boost::system::error_code, book const&) {});
    }
    while (context.poll() > 0) {}
    return (used() - before) / static_cast<double>(count);
}

} // namespace

int main(int count, char** arguments) {
    bool const counted = count > 1 && std::string_view{arguments[1]} == "instructions";
    measure::loopback_server const server{measure::point_read_response(), nullptr};
    curl_global_init(CURL_GLOBAL_DEFAULT);
    any_store const store = measure::backend_of(server);

    for (std::size_t const in_flight : {std::size_t{16}, std::size_t{500}}) {
        measure::bare_curl yardstick{{server.origin(), server.origin()}, reads, in_flight};
        struct contender {
            char const* name;
            std::function<void()> work;
            double least{1e12};
        } all[] = {
            {"bare curl multi", [&] { yardstick.run(); }},
            {"Beast, keep-alive", [&] { by_beast(server.origin(), in_flight); }},
            {"by hand, the same promises", [&] { by_hand(server.origin(), in_flight); }},
            {"co_await in an event_loop", [&] { measure::read_in_a_loop(store, in_flight); }},
            {"asio_table", [&] { on_asio(store, in_flight); }},
        };
        if (counted) {
            for (contender& each : all) {
                std::string const name = std::to_string(in_flight) + " in flight: " + each.name;
                if (count > 2 && name.find(arguments[2]) == name.npos) { continue; }
                each.work();
                cost_begins();
                each.work();
                cost_ends();
                std::printf("%zu reads, %s\n", reads, name.c_str());
            }
            continue;
        }
        for (int round = 0; round < 6; ++round) {
            for (contender& each : all) { each.least = std::min(each.least, measure::timed(reads, each.work) / 1e3); }
        }
        std::printf("%-46s %10s %10s %12s\n", "CPU of a read", "us", "over curl", "over by hand");
        for (contender const& each : all) {
            std::printf("%3zu in flight: %-31s %10.1f %10.2f %12.2f\n", in_flight, each.name, each.least,
                each.least / all[0].least, each.least / all[2].least);
        }
    }
    if (counted) { return 0; }
    for (std::size_t const in_flight : {std::size_t{100}, std::size_t{500}, std::size_t{1000}}) {
        lateness least{1e9, 1e9};
        for (int round = 0; round < 6; ++round) {
            lateness const now = latest_tick(store, in_flight);
            least = {std::min(least.cpu, now.cpu), std::min(least.wall, now.wall)};
        }
        std::printf(
            "5,000 fresh calls, %4zu in flight: a timer of 1 ms is late by %.2f ms of CPU, %.2f ms of time   limit 3\n",
            in_flight, least.cpu, least.wall);
    }
    std::printf("100,000 calls that wait for a response: %.0f bytes each\n", parked_bytes(100'000));
}
