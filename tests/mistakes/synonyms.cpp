// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// The synonyms that other libraries have for our calls, on every kind of table: `upsert` and `to_vector`.

#include "support/catch.hpp"
#include <entitable/async_tables.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>
#include <entitable/wide.hpp>

#include <sstream>

using namespace entitable;

namespace {

struct player {
    std::string club;
    std::int32_t number{};
    std::string name{};
};
ENTITABLE(player, partition_key(club), row_key(literal("P:"), number), properties(name))
using p = fields<player>;

struct by_name : player {};
ENTITABLE(by_name, partition_key(club), row_key(literal("N:"), escaped(name), number), properties())

/// Whether the club has exactly this player.
void has(any_store const& store, std::string const& name) {
    auto const all = table<player>{store, "players"}.where(p::club == "A" && p::number == 1).to_vector().value();
    REQUIRE(all.size() == 1);
    CHECK(all.front().name == name);
}

} // namespace

TEST_CASE("upsert inserts and replaces, in every kind of table", "[synonyms]") {
    memory_backend const store;
    table<player> const players{store, "players"};
    players.create().check();
    players.upsert({"A", 1, "Ann"}).check();
    players.upsert({"A", 1, "Bob"}).check();
    has(store, "Bob");

    auto changes = players.batch();
    changes.upsert({"A", 1, "Cid"});
    changes.submit().check();
    has(store, "Cid");

    players
        .transact("A",
            [](transaction<player>& all) -> result<void> {
                all.upsert({"A", 1, "Dan"});
                return {};
            })
        .check();
    has(store, "Dan");

    row_table{store, "players"}.upsert(entity{"A", row_key_of(player{"A", 1}).value()}.set("name", "Eve")).check();
    has(store, "Eve");

    table<player, by_name> const indexed{store, "indexed"};
    indexed.create().check();
    indexed.upsert(player{"A", 1, "Ann"}).check();
    indexed.upsert(player{"A", 1, "Bob"}).check();
    auto const by = indexed.by<by_name>();
    CHECK(by.where(fields<by_name>::club == "A" && fields<by_name>::name == "Ann").to_vector().value().empty());
    CHECK(by.where(fields<by_name>::club == "A" && fields<by_name>::name == "Bob").to_vector().value().size() == 1);

    table<wide<player>> const whole{store, "whole"};
    whole.create().check();
    whole.upsert({"A", 1, "Ann"}).check();
    whole.upsert({"A", 1, "Bob"}).check();
    CHECK(whole.get("A", 1).value().name == "Bob");
}

TEST_CASE("upsert and to_vector can also be awaited", "[synonyms]") {
    memory_backend const store;
    event_loop loop;
    async_table<player> const players{loop, store, "players"};
    async_table<player, by_name> const indexed{loop, store, "indexed"};
    player const ann{"A", 1, "Ann"};
    player const bob{"A", 1, "Bob"};
    auto const work = [&]() -> task<result<std::size_t>> {
        ENTITABLE_CO_CHECK(co_await players.create());
        ENTITABLE_CO_CHECK(co_await players.upsert(ann));
        ENTITABLE_CO_CHECK(co_await players.upsert(bob));
        ENTITABLE_CO_TRY(auto const all, co_await players.where(p::club == "A").to_vector());
        ENTITABLE_CO_CHECK(co_await indexed.create());
        ENTITABLE_CO_CHECK(co_await indexed.upsert(ann));
        ENTITABLE_CO_CHECK(co_await indexed.upsert(bob));
        ENTITABLE_CO_TRY(auto const both, co_await indexed.where(p::club == "A").to_vector());
        co_return all.size() + both.size();
    };
    CHECK(loop.run(work()).value() == 2);
    has(store, "Bob");
}

TEST_CASE("an error is printed without another header", "[synonyms]") {
    std::ostringstream out;
    error const problem{error_code::table_not_found, "no table"};
    out << problem;
    CHECK(out.str() == problem.to_string());
}
