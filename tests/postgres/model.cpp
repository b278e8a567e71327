// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The same random requests to memory and to two backends in turn that share tables on PostgreSQL: outcomes, codes, indices, rows. The
// seed is printed; ENTITABLE_MODEL_SEED=seed runs only that one.

#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/postgres.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/postgres_server.hpp>
#include <support/two_stores.hpp>

#include <cstdlib>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("model: PostgreSQL behaves like memory") {
    if (postgres_server() == nullptr) { return; }
    char const* const chosen = std::getenv("ENTITABLE_MODEL_SEED");
    std::uint64_t const first = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
    std::size_t const sequences = chosen != nullptr ? 1 : rounds(2, 20);
    std::size_t accepted = 0;
    std::size_t refused = 0;
    for (std::uint64_t seed = first; seed < first + sequences; ++seed) {
        side memory{memory_backend{}, {}, {}};
        auto options = own_schema();
        options.local.page_examined = seed % 2 == 0 ? 3 : 10'000;
        any_store const stores[] = {postgres_backend::connect(postgres_server(), options).value(),
            postgres_backend::connect(postgres_server(), options).value()};
        side database{stores[0], {}, {}};
        draws random{seed};
        for (std::string const table : {"Orders", "Other", "Extra"}) {
            for (side* const each : {&memory, &database}) { REQUIRE(each->send(create_table{table})); }
        }
        for (std::size_t at = 0; at < 500; ++at) {
            database.store = stores[at / 3 % 2];
            auto const [what, one, other] = one_step(random, memory, database);
            (one == "success" || one.starts_with('(') || one.empty() ? accepted : refused) += 1;
            if (one != other) {
                FAIL("ENTITABLE_MODEL_SEED=" << seed << " step " << at << ", " << what << "\nmemory: " << one
                                             << "\nPostgreSQL: " << other);
            }
        }
        query_entities everything;
        for (std::string const table : {"Orders", "Other"}) {
            everything.table = table;
            CHECK(rows_of(memory, everything) == rows_of(database, everything));
        }
    }
    std::printf("memory and PostgreSQL: %zu requests accepted, %zu refused\n", accepted, refused);
    CHECK(accepted > sequences * 200);
    CHECK(refused > sequences * 50);
}
