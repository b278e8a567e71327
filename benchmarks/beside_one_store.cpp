// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Shards in memory compared with one store in memory. Run by `benchmarks/run`.
//   g++ -std=c++20 -O2 -DNDEBUG -I . -I include -I tests benchmarks/beside_one_store.cpp -o beside_one_store -lpthread

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/shards.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <benchmarks/support/business.hpp>
#include <benchmarks/support/peers.hpp>

#include <map>
#include <memory>

using namespace entitable;
using measure::business;
using b = fields<business>;

namespace {

constexpr std::size_t rows = 10'000;
constexpr std::size_t rows_each = 20;
volatile std::uint64_t sink = 0;

// Under callgrind a second passes between two pages, and rows kept for the second one would be too old.
testing::manual_clock still;

any_store sharded_memory(std::uint32_t shards) {
    auto const all = std::make_shared<std::map<std::string, any_store, std::less<>>>();
    auto const open = [all](std::string_view name) -> result<any_store> {
        auto const at = all->find(name);
        return at != all->end() ? at->second : all->emplace(std::string{name}, memory_backend{}).first->second;
    };
    auto const map = lookup_map::make(memory_backend{}, "shardmap", virtual_shards{shards}, {"one", "two", "three"},
        open, {std::chrono::hours{1}, &still});
    return sharded{map.value(), open};
}

table<business> filled(any_store const& store) {
    table<business> into{store, "businesses"};
    into.create().value();
    for (std::size_t at = 0; at < rows; at += rows_each) {
        auto batch = into.batch();
        for (std::size_t index = at; index < at + rows_each; ++index) {
            batch.insert(measure::make_business(index, rows_each));
        }
        batch.submit().value();
    }
    return into;
}

/// Reads pages as a query does; or with `by_tokens` as a client that stores nothing but the token between two pages.
void read_pages(any_store const& from, bool by_tokens) {
    query_entities asked{"businesses", {}, {}, {}, 1000, {}};
    do {
        call context;
        auto page = from.execute(asked, context).value();
        sink = sink + page.rows.size();
        asked.continuation = std::move(page.continuation);
        if (!by_tokens) { asked.kept = std::move(page.kept); }
    } while (asked.continuation);
}

} // namespace

int main(int count, char** arguments) {
    measure::peers table_of{count, arguments};
    any_store const alone = memory_backend{};
    auto const one = filled(alone);
    auto const many_store = sharded_memory(48);
    auto const many = filled(many_store);
    auto const compare = [&](std::string const& name, double limit, auto const& of) {
        table_of.reads("48 shards in memory: " + name, limit, rows, [&] { of(one); }, [&] { of(many); });
    };
    compare("count", 1.5, [](auto const& in) { sink = sink + in.scan_table().count().value(); });
    compare("sum", 1.5,
        [](auto const& in) { sink = sink + static_cast<std::uint64_t>(in.scan_table().sum(b::employees).value()); });
    compare("for_each", 1.5, [](auto const& in) {
        in.scan_table().for_each([](business const& each) { sink = sink + each.name.size(); }).value();
    });
    compare("for_each in any order", 1.5, [](auto const& in) {
        in.scan_table().in_any_order().for_each([](business const& each) { sink = sink + each.name.size(); }).value();
    });
    for (auto const& [shards, limit] : {std::pair{1U, 1.15}, {11U, 1.5}, {48U, 1.6}, {192U, 2.5}}) {
        std::string const name = "pages merged from " + std::to_string(shards) + " shards";
        if (!table_of.wanted(name)) { continue; }
        auto const store = sharded_memory(shards);
        filled(store);
        table_of.reads(name, limit, rows, [&] { read_pages(alone, false); }, [&] { read_pages(store, false); });
        table_of.reads(
            name + ", by tokens", limit, rows, [&] { read_pages(alone, true); }, [&] { read_pages(store, true); });
        std::string const query = "query over " + std::to_string(shards) + " shards, rows in order";
        table_of.reads(
            query, limit, rows, [&] { sink = sink + one.scan_table().to().value().size(); },
            [&] { sink = sink + table<business>{store, "businesses"}.scan_table().to().value().size(); });
    }
    constexpr std::size_t singles = 1'000;
    auto const get = [](auto const& in) {
        for (std::size_t at = 0; at < singles; ++at) {
            std::size_t const index = at * 7 % rows;
            sink = sink +
                in.get(measure::region_of(index, rows_each), measure::id_of(index, rows_each)).value().name.size();
        }
    };
    table_of.reads("48 shards in memory: get", 1.5, singles, [&] { get(one); }, [&] { get(many); });
    std::size_t next = 0;
    auto const insert_into = [&](table<business> const& in) {
        return [&, in]() -> measure::peers::work {
            auto made = std::make_shared<std::vector<business>>();
            for (std::size_t at = 0; at < singles; ++at) {
                made->push_back(measure::make_business(rows + 1'000 * next + at, rows_each));
            }
            ++next;
            return [in, made] {
                for (business const& each : *made) { in.insert(each).value(); }
            };
        };
    };
    table_of.row("48 shards in memory: insert", 1.3, singles, insert_into(one), insert_into(many));
}
