// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The same random valid requests have the same outcomes on memory_backend and on the emulator: codes, indices, rows. The seed is
// printed; ENTITABLE_MODEL_SEED=seed runs only that one. Only valid requests are sent because the emulator accepts too many
// invalid ones.

#include "differences.hpp"
#include "emulator.hpp"
#include <entitable/local/memory/memory_backend.hpp>

#include <support/long.hpp>
#include <support/two_stores.hpp>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("model: memory_backend and Azurite have the same outcomes") {
    if (!has_emulator()) { return; }
    char const* const chosen = std::getenv("ENTITABLE_MODEL_SEED");
    std::uint64_t const first = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
    std::size_t const sequences = chosen != nullptr ? 1 : rounds(20, 1000);
    std::size_t accepted = 0;
    std::size_t refused = 0;
    auto const store = emulator();
    for (std::uint64_t seed = first; seed < first + sequences; ++seed) {
        side memory{memory_backend{}, {}, {}};
        side azurite{store, {}, {}};
        draws random{seed};
        for (std::string const table : {"Orders", "Other", "Extra"}) {
            for (side* const each : {&memory, &azurite}) {
                static_cast<void>(each->send(delete_table{table})); // from the previous sequence
                REQUIRE(each->send(create_table{table}));
            }
        }
        for (std::size_t at = 0; at < 500; ++at) {
            auto const [what, in_memory, emulated] = one_step(random, memory, azurite);
            (in_memory == "success" || in_memory.starts_with('(') || in_memory.empty() ? accepted : refused) += 1;
            if (in_memory != emulated && !is_known("model", what + ": " + in_memory + " / " + emulated)) {
                FAIL("ENTITABLE_MODEL_SEED=" << seed << " step " << at << ", " << what << "\nmemory: " << in_memory
                                             << "\nazurite: " << emulated);
            }
        }
        query_entities everything;
        for (std::string const table : {"Orders", "Other"}) {
            everything.table = table;
            CHECK(rows_of(memory, everything) == rows_of(azurite, everything));
        }
    }
    CHECK(accepted > sequences * 200);
    CHECK(refused > sequences * 50);
}
