// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// A server with Boost.Asio that answers from tables: one thread, one io_context. Sockets of its clients and requests to the table service wait in the
/// same io_context, and each connection is a coroutine of Asio. A line "2 apples" books two apples; the answer says how many are left.
///
/// The table service is in the program, too, so that the example needs nothing else: HTTP on the loopback, through libcurl.

#include <entitable/asio.hpp>
#include <entitable/azure.hpp>
#include <entitable/listener.hpp>
#include <entitable/memory.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using asio::ip::tcp;

struct article {
    std::string shop;
    std::string name;
    std::int32_t left{};
};
ENTITABLE(article, partition_key(shop), row_key(name), properties(left))

namespace {

/// Takes some of an article, even if many clients do so at once.
entitable::task<entitable::result<std::int32_t>> take(
    entitable::async_table<article> articles, std::string name, std::int32_t count) {
    auto const less = [&](article& one) { one.left -= count; };
    ENTITABLE_CO_TRY(auto const taken, co_await articles.update("corner", name, less));
    co_return taken.entity.left;
}

entitable::task<entitable::result<void>> fill(entitable::async_table<article> articles) {
    ENTITABLE_CO_CHECK(co_await articles.create_if_absent());
    article const apples{"corner", "apples", 100};
    ENTITABLE_CO_CHECK(co_await articles.insert(apples));
    co_return entitable::result<void>{};
}

/// One client, line by line.
asio::awaitable<void> serve(
    tcp::socket client, entitable::asio_loop& tables, entitable::async_table<article> articles) {
    std::string input;
    for (;;) {
        boost::system::error_code ended;
        std::size_t const size = co_await asio::async_read_until(
            client, asio::dynamic_buffer(input, 1000), '\n', asio::redirect_error(asio::use_awaitable, ended));
        if (ended) { co_return; }
        std::size_t const space = input.find(' ');
        std::string const name = space < size ? input.substr(space + 1, size - space - 2) : std::string{};
        std::int32_t const count = std::atoi(input.c_str());
        auto const left = co_await async_run(tables, take(articles, name, count), asio::use_awaitable);
        std::string const answer =
            left ? std::to_string(*left) + " left\n" : std::string{to_string(left.error().code)} + "\n";
        input.erase(0, size);
        co_await asio::async_write(client, asio::buffer(answer), asio::use_awaitable);
    }
}

asio::awaitable<void> accept(
    tcp::acceptor& at, entitable::asio_loop& tables, entitable::async_table<article> articles) {
    for (;;) {
        boost::system::error_code closed;
        tcp::socket client = co_await at.async_accept(asio::redirect_error(asio::use_awaitable, closed));
        if (closed) { co_return; }
        asio::co_spawn(at.get_executor(), serve(std::move(client), tables, articles), asio::detached);
    }
}

/// A client: sends lines, and returns the last answer.
asio::awaitable<std::string> buy(tcp::endpoint where, std::string line, int times) {
    tcp::socket server{co_await asio::this_coro::executor};
    co_await server.async_connect(where, asio::use_awaitable);
    std::string answer;
    for (int each = 0; each < times; ++each) {
        co_await asio::async_write(server, asio::buffer(line), asio::use_awaitable);
        answer.clear();
        co_await asio::async_read_until(server, asio::dynamic_buffer(answer), '\n', asio::use_awaitable);
    }
    co_return answer;
}

/// Ten customers at once, then one more, who gets the rest.
asio::awaitable<void> customers(asio::io_context& context, tcp::acceptor& door) {
    tcp::endpoint const where = door.local_endpoint();
    int ended = 0;
    for (int each = 0; each < 10; ++each) {
        asio::co_spawn(context, buy(where, "2 apples\n", 3),
            [&](std::exception_ptr thrown, std::string const&) { ended += thrown ? 0 : 1; });
    }
    asio::steady_timer look{context};
    while (ended < 10) {
        look.expires_after(std::chrono::milliseconds{5});
        co_await look.async_wait(asio::use_awaitable);
    }
    std::printf("ten customers were served: %s", (co_await buy(where, "0 apples\n", 1)).c_str());
    std::printf("pears: %s", (co_await buy(where, "1 pears\n", 1)).c_str());
    door.close();
}

} // namespace

int main() {
    // The table service.
    entitable::http_listener service{entitable::table_server{entitable::memory_backend{}}, {.port = 0}};
    service.listen().value();
    std::thread serving{[&] { service.run().value(); }};
    auto const account = entitable::served_account::development();
    entitable::azure_backend const cloud{"DefaultEndpointsProtocol=http;AccountName=" + account.name + ";AccountKey=" +
        account.key + ";TableEndpoint=http://127.0.0.1:" + std::to_string(service.port()) + "/" + account.name + ";"};

    // The server.
    asio::io_context context;
    {
        entitable::asio_loop tables{context.get_executor()};
        entitable::async_table<article> const articles{tables.loop(), cloud, "Articles"};
        tcp::acceptor door{context, {asio::ip::address_v4::loopback(), 0}};
        async_run(tables, fill(articles), [&](std::exception_ptr, entitable::result<void> filled) {
            std::printf("the shop is %s\n", filled ? "open" : filled.error().to_string().c_str());
            asio::co_spawn(context, accept(door, tables, articles), asio::detached);
            asio::co_spawn(context, customers(context, door), asio::detached);
        });
        context.run();
    }
    service.stop();
    serving.join();
    std::puts("closed");
}
