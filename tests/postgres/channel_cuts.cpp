// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A connection with many awaited writes is cut before the server has one of them, or before the client has its response: no outcome is wrong.

#include <entitable/async.hpp>
#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <support/catch.hpp>
#include <support/cutting_proxy.hpp>
#include <support/postgres_server.hpp>

#include <vector>

using namespace entitable;
using namespace entitable_test;

// GCC 12 requires linkage for variables that a coroutine stores.
namespace pg_cuts {

struct item {
    std::string shelf;
    std::int32_t number{};
    std::int64_t value{};
};
ENTITABLE(item, partition_key(shelf), row_key(number), properties(value))

inline task<> write(async_table<item> into, item made, bool inserts, std::vector<result<written>>& to) {
    auto& answer = to[static_cast<std::size_t>(made.number)];
    if (inserts) {
        answer = co_await into.insert(made);
    } else {
        answer = co_await into.insert_or_replace(made);
    }
}

} // namespace pg_cuts

TEST_CASE("postgres channel: a connection is cut before or after a commit of many writes") {
    if (postgres_server() == nullptr) { return; }
    cutting_proxy proxy{postgres_server()};
    auto const options = own_schema();
    auto const direct = postgres_backend::connect(postgres_server(), options).value();
    table<pg_cuts::item> const items{direct, "items"};
    items.create().value();
    any_store const store{postgres_backend::connect(proxy.connection_string(), options).value()};
    event_loop loop{loop_options{.turn = std::chrono::seconds{10}}}; // a turn takes all calls, also with sanitizers
    async_table<pg_cuts::item> const awaited{loop, store, "items"};
    constexpr std::int32_t count = 120;
    std::int64_t value = 0;
    for (bool const inserts : {true, false}) {
        for (auto const where :
            {cutting_proxy::at::nothing, cutting_proxy::at::commit_before, cutting_proxy::at::commit_after}) {
            ++value;
            std::vector<result<written>> answers(count, written{});
            std::size_t const cuts = proxy.cuts();
            proxy.cut(where);
            for (std::int32_t number = 0; number < count; ++number) {
                std::string const shelf = (inserts ? "i" + std::to_string(value) : "u") + std::to_string(number % 9);
                pg_cuts::item const made{shelf, number, value};
                loop.spawn(pg_cuts::write(awaited, made, inserts, answers));
            }
            loop.run();
            CHECK(proxy.cuts() == cuts + (where == cutting_proxy::at::nothing ? 0U : 1U));
            std::size_t wrong = 0;
            std::size_t acknowledged = 0;
            std::size_t doubted = 0;
            for (std::int32_t number = 0; number < count; ++number) {
                std::string const shelf = (inserts ? "i" + std::to_string(value) : "u") + std::to_string(number % 9);
                auto const& answer = answers[static_cast<std::size_t>(number)];
                auto const found = items.find(shelf, number).value();
                bool const applied = found && found->value == value;
                bool const unknown = !answer && answer.error().effect == effect::unknown;
                wrong += !unknown && applied != answer.has_value() ? 1U : 0U;
                acknowledged += answer ? 1U : 0U;
                doubted += unknown && applied ? 1U : 0U;
            }
            INFO((inserts ? "inserts " : "upserts ") << static_cast<int>(where));
            CHECK(wrong == 0);
            // The server answers, so a row that was written is found. A missing row does not prove that an insert was not applied, as
            // long as the number of removals is unknown.
            CHECK(doubted == 0);
            bool const provable = !inserts || where == cutting_proxy::at::nothing;
            CHECK((!provable || acknowledged == count));
            CHECK((where == cutting_proxy::at::commit_before || acknowledged > 0));
        }
    }
}
