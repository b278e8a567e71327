// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The ten paths that programs run most: for tests/tools/hot_paths, which counts their instructions between `cost_begins` and `cost_ends`.
// With `slower` each path does 3 % more.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/shards.hpp>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace hot_paths {

struct shop {
    std::string region;
    std::int32_t number{};
    std::string name;
    std::string city;
    std::int32_t employees{};
    double rating{};
    bool open{};
    std::int64_t visits{};
};
ENTITABLE(shop, partition_key(region), row_key(number), properties(name, city, employees, rating, open, visits))

} // namespace hot_paths

using namespace entitable;
using hot_paths::shop;
using s = fields<shop>;

extern "C" {
// The counters are reset before the first, and written before the second.
[[gnu::noinline]] void cost_begins() { __asm__ volatile(""); }
[[gnu::noinline]] void cost_ends() { __asm__ volatile(""); }
}

namespace {

volatile std::uint64_t sink = 0;
constexpr std::int32_t rows = 1'000;
std::int32_t more = 0; ///< operations in addition to 100

shop numbered(std::int32_t number) {
    return {"region", number, "the shop at the corner " + std::to_string(number), "Springfield", number % 90, 4.5,
        number % 2 == 0, number};
}

template <class One>
void path(char const* name, std::int32_t operations, One const& one) {
    one(-1); // fills what is filled once
    cost_begins();
    for (std::int32_t at = 0; at < operations + more * operations / 100; ++at) { one(at); }
    cost_ends();
    std::printf("%s\n", name);
}

void fill(table<shop> const& into) {
    into.create().value();
    for (std::int32_t number = 0; number < rows; ++number) { into.insert(numbered(number)).value(); }
}

} // namespace

int main(int count, char** arguments) {
    more = count > 1 && std::string_view{arguments[1]} == "slower" ? 3 : 0;
    memory_backend const store;
    table<shop> const shops{store, "shops"};
    fill(shops);
    auto const known = [](std::int32_t at) { return at < 0 ? 0 : at * 7 % rows; };
    path("get", 100, [&](std::int32_t at) { sink = sink + shops.get("region", known(at)).value().name.size(); });
    path("insert", 100, [&](std::int32_t at) { shops.insert(numbered(rows + 1 + at)).value(); });
    path("replace", 100, [&](std::int32_t at) { shops.replace(numbered(known(at)), any_etag).value(); });
    path("update", 100,
        [&](std::int32_t at) { shops.update("region", known(at), [](shop& each) { ++each.visits; }).value(); });
    std::int32_t next = 10'000;
    path("batch of ten inserts", 100, [&](std::int32_t) {
        auto batch = shops.batch();
        for (std::int32_t each = 0; each < 10; ++each) { batch.insert(numbered(next++)); }
        batch.submit().value();
    });
    table<shop> const still{memory_backend{}, "shops"}; // the paths above changed the other one
    fill(still);
    auto const all = still.where(s::region == "region");
    path("count of a partition", 100, [&](std::int32_t) { sink = sink + all.count().value(); });
    path("sum of a partition", 100,
        [&](std::int32_t) { sink = sink + static_cast<std::uint64_t>(all.sum(s::employees).value()); });
    path("for_each of a partition", 100,
        [&](std::int32_t) { all.for_each([](shop const& each) { sink = sink + each.name.size(); }).value(); });
    path("a partition into a vector", 100, [&](std::int32_t) { sink = sink + all.to().value().size(); });

    auto const stores = std::make_shared<std::map<std::string, any_store, std::less<>>>();
    auto const open = [stores](std::string_view name) -> result<any_store> {
        return stores->try_emplace(std::string{name}, memory_backend{}).first->second;
    };
    auto const map = lookup_map::make(
        memory_backend{}, "shardmap", virtual_shards{4}, {"one", "two"}, open, {std::chrono::hours{1}});
    table<shop> const sharded_shops{sharded{map.value(), open}, "shops"};
    fill(sharded_shops);
    path("get through shards", 100,
        [&](std::int32_t at) { sink = sink + sharded_shops.get("region", known(at)).value().name.size(); });
}
