// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The channel on an io_context of Boost.Asio that several threads run.

#if __has_include(<boost/asio/io_context.hpp>)

#include <entitable/asio.hpp>
#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <support/catch.hpp>
#include <support/postgres_server.hpp>

#include <future>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;

// GCC 12 requires linkage for variables that a coroutine stores.
namespace pg_asio {

struct item {
    std::string shelf;
    std::int32_t number{};
    std::int64_t value{};
};
ENTITABLE(item, partition_key(shelf), row_key(number), properties(value))

inline task<result<std::int64_t>> write_and_read(async_table<item> items, std::int32_t number) {
    item const made{"s" + std::to_string(number % 20), number, number};
    ENTITABLE_CO_CHECK(co_await items.insert(made));
    ENTITABLE_CO_TRY(auto const found, co_await items.get(made.shelf, number));
    co_return found.value;
}

} // namespace pg_asio

TEST_CASE("postgres channel: on an io_context that three threads run, which ends when no request is left") {
    if (postgres_server() == nullptr) { return; }
    auto const store = postgres_backend::connect(postgres_server(), own_schema()).value();
    any_store const all{store};
    table<pg_asio::item>{all, "items"}.create().value();
    boost::asio::io_context context;
    asio_loop loop{context.get_executor()};
    async_table<pg_asio::item> const items{loop.loop(), all, "items"};
    for (std::int32_t round = 0; round < 3; ++round) {
        std::vector<std::future<result<std::int64_t>>> answers;
        for (std::int32_t number = 0; number < 400; ++number) {
            answers.push_back(
                async_run(loop, pg_asio::write_and_read(items, round * 1000 + number), boost::asio::use_future));
        }
        std::vector<std::thread> threads;
        for (int thread = 0; thread < 3; ++thread) {
            threads.emplace_back([&] { context.run(); });
        }
        for (std::thread& each : threads) { each.join(); }
        context.restart();
        std::int64_t sum = 0;
        for (auto& each : answers) {
            auto const answer = each.get();
            CHECK(answer);
            sum += answer ? *answer : 0;
        }
        CHECK(sum == 400 * 399 / 2 + 400'000 * round);
    }
}

#endif
