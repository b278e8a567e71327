// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Numbers per second, wall time: exact, in blocks of 100, of 16 shards; in memory and in a file; from one contender and from eight, on
// one `sequence` (threads that take turns) and on one each (like eight programs). Each is compared with the same number of bare
// writes of one row by one thread, which no counter can beat. Medians of rounds in turns.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/sequence.cpp -o sequence -lsqlite3 -pthread

#include <entitable/file.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/sequence.hpp>
#include <entitable/testing/rows.hpp>

#include <benchmarks/support/measure.hpp>
#include <support/temporary_folder.hpp>

#include <string>

using namespace entitable;

namespace {

using draw = std::function<bool()>;

/// Thousands of draws per second: each thread creates its own with `make` and draws until the time is over.
double thousands(std::size_t contenders, std::function<draw(std::size_t)> const& make) {
    std::atomic<bool> go{false}, stop{false};
    std::atomic<std::uint64_t> total{0}, failed{0};
    std::vector<std::thread> running;
    for (std::size_t index = 0; index < contenders; ++index) {
        running.emplace_back([&, index] {
            draw const one = make(index);
            while (!go) { std::this_thread::yield(); }
            std::uint64_t done = 0;
            while (!stop) {
                if (one()) {
                    ++done;
                } else {
                    ++failed;
                }
            }
            total += done;
        });
    }
    auto const begin = std::chrono::steady_clock::now();
    go = true;
    std::this_thread::sleep_for(std::chrono::milliseconds{150});
    stop = true;
    for (std::thread& each : running) { each.join(); }
    std::chrono::duration<double, std::milli> const time = std::chrono::steady_clock::now() - begin;
    if (failed > 0) { std::printf("%llu draws failed\n", static_cast<unsigned long long>(failed.load())); }
    return static_cast<double>(total) / time.count();
}

template <class Store>
void table_of(char const* name, Store const& store) {
    struct line {
        char const* name;
        std::size_t contenders;
        std::function<draw(std::size_t)> make;
        std::vector<double> rates;
    };
    call context;
    (void)store.execute(create_table{"Bare"}, context);
    auto const of = [&](std::string counted, std::uint32_t block) {
        sequence_options how;
        how.block = block;
        return sequence{store, std::move(counted), how};
    };
    auto const drawing = [](auto numbers) -> draw { return [numbers] { return numbers.next().has_value(); }; };
    sequence const exact = of("exact", 1);
    sequence const blocks = of("blocks", 100);
    sharded_sequence const shards{store, "shards", 16};
    std::vector<line> lines;
    lines.push_back({"bare writes of one row", 1,
        [&](std::size_t) -> draw {
            return [&store,
                       write = write_entity{"Bare",
                           mutation::insert_or_replace(testing::make_row("p", "r", {{"Value", std::int64_t{1}}}))}] {
                call own;
                return store.execute(write, own).has_value();
            };
        },
        {}});
    for (std::size_t const contenders : {std::size_t{1}, std::size_t{8}}) {
        lines.push_back({"exact, one sequence", contenders, [&](std::size_t) { return drawing(exact); }, {}});
        if (contenders > 1) {
            lines.push_back({"exact, one each", contenders, [&](std::size_t) { return drawing(of("each", 1)); }, {}});
        }
        lines.push_back({"block of 100, one sequence", contenders, [&](std::size_t) { return drawing(blocks); }, {}});
        if (contenders > 1) {
            lines.push_back(
                {"block of 100, one each", contenders, [&](std::size_t) { return drawing(of("blocks", 100)); }, {}});
        }
        lines.push_back({"16 shards", contenders, [&](std::size_t) { return drawing(shards); }, {}});
    }
    for (int round = 0; round < 5; ++round) {
        for (line& each : lines) { each.rates.push_back(thousands(each.contenders, each.make)); }
    }
    double const bare = measure::median(lines.front().rates);
    std::printf("\n%s\n", name);
    for (line const& each : lines) {
        double const rate = measure::median(each.rates);
        std::printf("  %-28s x %zu   %10.0f a second   %8.3f of a bare write\n", each.name, each.contenders,
            rate * 1000, rate / bare);
    }
}

} // namespace

int main() {
    table_of("memory", memory_backend{});
    entitable_test::temporary_folder const folder;
    file_options relaxed;
    relaxed.durability = durability::relaxed;
    table_of("file, relaxed", file_backend{folder / "relaxed", relaxed});
    table_of("file, durable", file_backend{folder / "durable"});
    return 0;
}
