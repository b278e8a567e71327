// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tables in programs of Boost.Asio. CPU time of a point read over HTTP, 16 and 500 under way: bare libcurl (one multi handle), Boost.Beast with
// keep-alive (the request as captured: it neither signs nor reads JSON), `co_await` in an `event_loop`, and calls of an `asio_table`. The CPU
// time between two ticks of a timer of 1 ms during 5,000 fresh calls. The memory of 100,000 calls that wait for an answer. The servers are
// other processes; interleaved rounds, the least of each.
//   g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/asio.cpp -o asio -lcurl -lssl -lcrypto -lsimdjson -pthread

#include <entitable/asio.hpp>
#include <entitable/azure.hpp>
#include <entitable/memory.hpp>

#include <benchmarks/support/bare_curl.hpp>
#include <benchmarks/support/loopback_server.hpp>
#include <benchmarks/support/measure.hpp>
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

struct book {
    std::string shelf;
    std::string isbn;
    std::string name;
    std::int32_t n{};
    double m{};
};
ENTITABLE(book,
    partition_key(shelf),
    row_key(isbn),
    properties(name, n, m))

namespace {

constexpr std::size_t reads = 5'000;
constexpr std::string_view key =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

task<result<void>> read_one(async_table<book> books) {
    auto found = co_await books.get("a", "b");
    co_return found ? result<void>{} : std::move(found).as_failure();
}

[[noreturn]] void fail(std::string const& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::abort();
}

void in_a_loop(any_store const& store, std::size_t in_flight) {
    event_loop loop{{.in_flight = in_flight}};
    async_table<book> const books{loop, store, "Reads"};
    for (std::size_t each = 0; each < reads; ++each) { loop.spawn(read_one(books)); }
    loop.run();
    if (loop.error()) { fail(loop.error()->to_string()); }
}

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

/// Reads one after the other on a connection.
class beast_connection : public std::enable_shared_from_this<beast_connection> {
public:
    beast_connection(asio::io_context& in, std::size_t& left) : stream_(in), left_(left) {
        asked_.method(http::verb::get);
        asked_.target("/acct/Reads(PartitionKey='a',RowKey='b')?timeout=30");
        asked_.version(11);
        asked_.set(http::field::host, "127.0.0.1");
        asked_.set(http::field::accept, "application/json;odata=minimalmetadata");
        asked_.set("x-ms-version", "2019-02-02");
        asked_.set("DataServiceVersion", "3.0");
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

/// The longest CPU time between two ticks of a timer of 1 ms, in ms, while 5,000 fresh calls are worked off.
double longest_between_ticks(any_store const& store, std::size_t in_flight) {
    asio::io_context context{1};
    asio_loop loop{context.get_executor(), {.in_flight = in_flight}};
    asio_table<book> const books{loop, store, "Reads"};
    std::size_t left = reads;
    asio::steady_timer timer{context};
    double last = 0;
    double longest = 0;
    std::function<void(boost::system::error_code)> const tick = [&](boost::system::error_code) {
        double const now = cpu_of_thread();
        longest = std::max(longest, now - last);
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

/// Never answers.
struct silent {
    using is_transport = void;
    memory_backend below;

    class way final : public channel {
    public:
        void send(request_ref, call&, void*) override {}
        void cancel(void*, error const&) override {}
        void poll(steady_time, completion_sink) override {}
        [[nodiscard]] steady_time wakes_at() const noexcept override { return steady_time::max(); }
    };
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        return below.execute(request, context);
    }
    [[nodiscard]] shared<channel> open(io_driver&) const { return shared<channel>{new way}; }
};

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

int main() {
    std::string const body =
        R"({"odata.etag":"W/\"datetime'2026-11-20T15%3A27%3A36.1234567Z'\"","PartitionKey":"a",)"
        R"("RowKey":"b","Timestamp":"2026-11-20T15:27:36.1234567Z","name":"a name","n":1,"m":2.5})";
    std::string const answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\nContent-Type: application/json;odata=minimalmetadata;charset=utf-8\r\n"
        "ETag: W/\"datetime'2026-11-20T15%3A27%3A36.1234567Z'\"\r\nx-ms-request-id: "
        "3f2b8c9e-5c1f-4d4c-9a55-2f6f3f0c1a11\r\n"
        "x-ms-version: 2019-02-02\r\nDate: Fri, 20 Nov 2026 15:27:36 GMT\r\n\r\n" +
        body;
    measure::loopback_server const server{answer, nullptr};
    curl_global_init(CURL_GLOBAL_DEFAULT);
    any_store const store =
        azure_backend{"DefaultEndpointsProtocol=http;AccountName=acct;AccountKey=" + std::string{key} +
            ";TableEndpoint=" + server.origin() + "/acct;"};

    std::printf("%-40s %10s %10s\n", "CPU of a read", "us", "over curl");
    for (std::size_t const in_flight : {std::size_t{16}, std::size_t{500}}) {
        measure::bare_curl yardstick{{server.origin(), server.origin()}, reads, in_flight};
        double least[4] = {1e9, 1e9, 1e9, 1e9};
        for (int round = 0; round < 6; ++round) {
            auto const take = [&](int which, auto const& work) {
                least[which] = std::min(least[which], measure::timed(reads, work) / 1e3);
            };
            take(0, [&] { yardstick.run(); });
            take(1, [&] { by_beast(server.origin(), in_flight); });
            take(2, [&] { in_a_loop(store, in_flight); });
            take(3, [&] { on_asio(store, in_flight); });
        }
        char const* const names[4] = {
            "bare curl multi", "Beast, keep-alive", "co_await in an event_loop", "asio_table"};
        for (int which = 0; which < 4; ++which) {
            std::printf("%3zu under way: %-25s %10.1f %10.2f\n", in_flight, names[which], least[which],
                least[which] / least[0]);
        }
    }
    for (std::size_t const in_flight : {std::size_t{100}, std::size_t{500}, std::size_t{1000}}) {
        double least = 1e9;
        for (int round = 0; round < 3; ++round) { least = std::min(least, longest_between_ticks(store, in_flight)); }
        std::printf(
            "5,000 fresh calls, %4zu under way: longest CPU time between two ticks %.2f ms\n", in_flight, least);
    }
    std::printf("a parked call: %.0f bytes\n", parked_bytes(100'000));
}
