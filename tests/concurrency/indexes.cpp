// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Several threads write through tables with indexes: every acknowledged addition is stored, and no index row is left over.

#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>

#include <index/histories.hpp>
#include <support/long.hpp>

#include <thread>

using namespace entitable;
using namespace marathon;

TEST_CASE("index: several threads write concurrently") {
    constexpr std::size_t writers = 4;
    std::size_t const each_writes = entitable_test::rounds(40, 2'000);
    for (bool const faults : {false, true}) {
        memory_backend const store;
        everything const clean = open(store);
        insert_movers(clean);
        additions told[writers];
        std::vector<std::thread> threads;
        for (std::size_t number = 0; number < writers; ++number) {
            threads.emplace_back([&, number] {
                testing::faulty const stormy{store};
                if (faults) {
                    using testing::fault;
                    stormy.plan_random(number + 1, 20, 40 * each_writes,
                        {fault::lost_before(), fault::lost_after(), fault::late(), fault::busy()});
                }
                told[number] = add_and_move(open(stormy), number + 1, each_writes);
            });
        }
        for (std::thread& each : threads) { each.join(); }
        additions all;
        for (additions const& each : told) {
            all.done += each.done;
            all.unknown += each.unknown;
        }
        CAPTURE(faults, all.done, all.unknown);
        CHECK(all.done > static_cast<std::int64_t>(each_writes));
        check_movers(clean, all);
    }
}
