// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Reads and writes of single rows in memory, for the script `lists_cost`, which compiles this file with the headers of an earlier commit, too.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace benchmark_single_rows {

struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
    std::int32_t age{};
    std::string club;
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), width(bib, 7)), properties(name, age, club))

} // namespace benchmark_single_rows

using namespace entitable;
using benchmark_single_rows::runner;

extern "C" {
// The counters are reset before the first, and written before the second.
[[gnu::noinline]] void cost_begins() { __asm__ volatile(""); }
[[gnu::noinline]] void cost_ends() { __asm__ volatile(""); }
}

namespace {

constexpr std::int32_t warm = 100;        // operations before those that are counted
constexpr std::int32_t repetitions = 500; // operations that are counted

template <class One>
void measure(char const* name, One const& one) {
    for (std::int32_t bib = 0; bib < warm; ++bib) { one(bib); }
    cost_begins();
    for (std::int32_t bib = warm; bib < warm + repetitions; ++bib) { one(bib); }
    cost_ends();
    std::printf("%s\tours\t%d\n", name, repetitions);
}

} // namespace

int main() {
    memory_backend const store;
    table<runner> const runners{store, "runners"};
    runners.create().value();
    std::vector<runner> all;
    for (std::int32_t bib = 0; bib < warm + repetitions; ++bib) {
        all.push_back({"NYC", bib, "a name of some length", 20 + bib % 60, "Ajax"});
    }
    auto const at = [&](std::int32_t bib) -> runner const& { return all[static_cast<std::size_t>(bib)]; };
    measure("insert", [&](std::int32_t bib) { runners.insert(at(bib)).value(); });
    measure("get", [&](std::int32_t bib) { (void)runners.get("NYC", bib).value(); });
    measure("replace", [&](std::int32_t bib) { runners.replace(at(bib), any_etag).value(); });
    measure(
        "update", [&](std::int32_t bib) { runners.update("NYC", bib, [](runner& each) { each.age += 1; }).value(); });
    measure("query of a partition", [&](std::int32_t) {
        using r = fields<runner>;
        (void)runners.where(r::race == "NYC" && r::bib < 100).to().value();
    });
    measure("remove", [&](std::int32_t bib) { runners.remove("NYC", bib, any_etag).value(); });
}
