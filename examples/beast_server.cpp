// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// An HTTP server with Boost.Beast that serves rows: one thread, one io_context. Each call of a table takes a completion token, here
/// `use_awaitable`. Slow clients and a slow table service meet their time limits, and SIGTERM or SIGINT ends the server when the requests
/// under way are answered.
///
///     GET /art/1    one book as JSON; 404 if there is none, 504 if the table service does not answer in time
///     GET /art      all books of a shelf
///
/// The table services are in the program, too, so that the example needs nothing else: one answers, the other one never does. The program
/// asks itself and ends itself.

#include <entitable/asio.hpp>
#include <entitable/azure.hpp>
#include <entitable/listener.hpp>
#include <entitable/memory.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <csignal>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <thread>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::redirect_error;
using asio::use_awaitable;
using asio::ip::tcp;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

struct book {
    std::string shelf;
    std::string isbn;
    std::int32_t price{};
};
ENTITABLE(book, partition_key(shelf), row_key(isbn), properties(price))
using b = entitable::fields<book>;

namespace {

using reply = http::response<http::string_body>;

struct server {
    tcp::acceptor door;
    entitable::asio_table<book> books;
    entitable::asio_table<book> slow;
    std::set<beast::tcp_stream*> idle{}; ///< connections that wait for a request
    bool closing{};

    /// Accepts nobody any more; connections with a request end after its answer.
    void close() {
        closing = true;
        door.close();
        for (auto* const each : idle) { each->cancel(); }
    }
};

std::string json_of(book const& one) {
    return "{\"shelf\":\"" + one.shelf + "\",\"isbn\":\"" + one.isbn + "\",\"price\":" + std::to_string(one.price) +
        "}"; // the keys of this program need no escapes
}

/// The answer to a failed call. The text names the cause; the diagnostics have more, for a log.
reply refusal(boost::system::error_code const& failed, entitable::call_diagnostics const& whole) {
    reply told;
    told.result(failed == entitable::error_code::resource_not_found ? http::status::not_found
            : failed == boost::system::errc::timed_out              ? http::status::gateway_timeout
                                                                    : http::status::bad_gateway);
    told.body() = whole.problem ? whole.problem->message : failed.message();
    return told;
}

asio::awaitable<reply> answer(server& in, std::string path) {
    reply told;
    boost::system::error_code failed;
    entitable::call_diagnostics whole;
    std::size_t const slash = path.find('/', 1);
    if (slash == std::string::npos) {
        auto const found = co_await in.books.where(b::shelf == path.substr(1))
                               .async_to_vector(whole, redirect_error(use_awaitable, failed));
        for (book const& each : found) {
            told.body() += told.body().empty() ? "[" : ",";
            told.body() += json_of(each);
        }
        told.body() += found.empty() ? "[]" : "]";
    } else {
        std::string const shelf = path.substr(1, slash - 1);
        auto const& from = shelf == "slow" ? in.slow : in.books;
        book const found =
            co_await from.async_get(shelf, path.substr(slash + 1), whole, redirect_error(use_awaitable, failed));
        told.body() = json_of(found);
    }
    if (failed) { told = refusal(failed, whole); }
    co_return told;
}

/// One connection. A client that sends or reads too slowly is disconnected by the time limit of its stream.
asio::awaitable<void> serve(server& in, tcp::socket accepted) {
    beast::tcp_stream client{std::move(accepted)};
    beast::flat_buffer buffer;
    while (!in.closing) {
        http::request<http::empty_body> asked;
        boost::system::error_code ended;
        client.expires_after(5s);
        in.idle.insert(&client);
        co_await http::async_read(client, buffer, asked, redirect_error(use_awaitable, ended));
        in.idle.erase(&client);
        if (ended) { break; }
        auto const target = asked.target();
        reply told = co_await answer(in, std::string{target.data(), target.size()});
        told.version(asked.version());
        told.keep_alive(asked.keep_alive() && !in.closing);
        told.prepare_payload();
        client.expires_after(5s);
        co_await http::async_write(client, told, redirect_error(use_awaitable, ended));
        if (ended || !told.keep_alive()) { break; }
    }
}

asio::awaitable<void> accept(server& in) {
    for (;;) {
        boost::system::error_code closed;
        tcp::socket client = co_await in.door.async_accept(redirect_error(use_awaitable, closed));
        if (closed) { co_return; }
        asio::co_spawn(in.door.get_executor(), serve(in, std::move(client)), asio::detached);
    }
}

/// A client: asks a few questions, and ends the server.
asio::awaitable<void> ask(tcp::endpoint where) {
    beast::tcp_stream stream{co_await asio::this_coro::executor};
    co_await stream.async_connect(where, use_awaitable);
    beast::flat_buffer buffer;
    for (std::string const path : {"/art/1", "/art", "/art/9", "/slow/1"}) {
        http::request<http::empty_body> asked{http::verb::get, path, 11};
        asked.set(http::field::host, "localhost");
        co_await http::async_write(stream, asked, use_awaitable);
        reply told;
        co_await http::async_read(stream, buffer, told, use_awaitable);
        std::printf("GET %s: %u %s\n", path.c_str(), told.result_int(), told.body().c_str());
    }
    (void)std::raise(SIGTERM); // this connection stays open, and waits
    reply none;
    boost::system::error_code ended;
    co_await http::async_read(stream, buffer, none, redirect_error(use_awaitable, ended));
    std::printf(
        "the connection ended: %s\n", ended == http::error::end_of_stream ? "end of stream" : ended.message().c_str());
}

/// Fills the table, and serves until a signal.
asio::awaitable<void> fill_and_serve(server& in) {
    co_await in.books.async_create(use_awaitable);
    for (std::int32_t number = 1; number <= 2; ++number) {
        book const made{"art", std::to_string(number), 10 * number};
        co_await in.books.async_insert(made, use_awaitable);
    }
    auto const context = co_await asio::this_coro::executor;
    asio::co_spawn(context, accept(in), asio::detached);
    asio::co_spawn(context, ask(in.door.local_endpoint()), asio::detached);
    asio::signal_set signals{context, SIGINT, SIGTERM};
    int const which = co_await signals.async_wait(use_awaitable);
    std::printf("%s: closing\n", which == SIGTERM ? "SIGTERM" : "SIGINT");
    in.close();
}

entitable::azure_backend service_at(unsigned port) {
    auto const account = entitable::served_account::development();
    return entitable::azure_backend{"DefaultEndpointsProtocol=http;AccountName=" + account.name + ";AccountKey=" +
        account.key + ";TableEndpoint=http://127.0.0.1:" + std::to_string(port) + "/" + account.name + ";"};
}

} // namespace

int main() {
    entitable::http_listener service{entitable::table_server{entitable::memory_backend{}}, {.port = 0}};
    service.listen().value();
    std::thread serving{[&] { service.run().value(); }};

    asio::io_context context{1};
    tcp::acceptor const silent{context, {asio::ip::address_v4::loopback(), 0}}; // nobody accepts, nobody answers
    {
        entitable::asio_loop tables{context.get_executor()};
        entitable::call_options calls;
        calls.timeout = 2s;
        entitable::call_options short_calls;
        short_calls.timeout = 100ms;
        server in{{context, {asio::ip::address_v4::loopback(), 0}},
            {tables, service_at(service.port()), "Books", calls},
            {tables, service_at(silent.local_endpoint().port()), "Books", short_calls}};
        asio::co_spawn(context, fill_and_serve(in), [](std::exception_ptr thrown) {
            if (thrown) { std::rethrow_exception(thrown); }
        });
        context.run(); // returns when every connection has ended
    }
    service.stop();
    serving.join();
    std::puts("closed");
}
