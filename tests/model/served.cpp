// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The same random requests to a backend, and to one behind a server and a client: outcomes, codes, indices, rows. The seed is
// printed; ENTITABLE_MODEL_SEED=seed runs only that one.

#include <entitable/local/memory/memory_backend.hpp>

#include <server/served.hpp>
#include <support/long.hpp>
#include <support/two_stores.hpp>

#include <cstdlib>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("model: a backend has the same outcomes directly and through the protocol") {
    char const* const chosen = std::getenv("ENTITABLE_MODEL_SEED");
    std::uint64_t const first = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
    std::size_t const sequences = chosen != nullptr ? 1 : rounds(2, 20, 20);
    std::size_t accepted = 0;
    std::size_t refused = 0;
    for (std::uint64_t seed = first; seed < first + sequences; ++seed) {
        side alone{memory_backend{}, {}, {}};
        local_options small;
        small.page_examined = seed % 2 == 0 ? 3 : 10'000;
        side behind{served(memory_backend{small}), {}, {}};
        draws random{seed};
        for (std::string const table : {"Orders", "Other", "Extra"}) {
            for (side* const each : {&alone, &behind}) { REQUIRE(each->send(create_table{table})); }
        }
        for (std::size_t at = 0; at < 500; ++at) {
            auto const [what, one, other] = one_step(random, alone, behind);
            (one == "success" || one.starts_with('(') || one.empty() ? accepted : refused) += 1;
            if (one != other) {
                FAIL("ENTITABLE_MODEL_SEED=" << seed << " step " << at << ", " << what << "\nalone: " << one
                                             << "\nserved: " << other);
            }
        }
        query_entities everything;
        for (std::string const table : {"Orders", "Other"}) {
            everything.table = table;
            CHECK(rows_of(alone, everything) == rows_of(behind, everything));
        }
    }
    CHECK(accepted > sequences * 200);
    CHECK(refused > sequences * 50);
}
