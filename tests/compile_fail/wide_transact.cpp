// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a wide entity can only be read and written by its keys: store what you search for in a separate entity"

#include <entitable/bulk.hpp>
#include <entitable/tables.hpp>
#include <entitable/unit_of_work.hpp>
#include <entitable/wide.hpp>

struct counter {
    std::string tenant;
    std::int64_t last{};
};
ENTITABLE(counter, partition_key(tenant), row_key(literal("COUNTER")), properties(last))

struct survey {
    std::string tenant;
    std::int32_t year{};
    std::string north;
};
ENTITABLE(survey, partition_key(tenant), row_key(literal("SURVEY:"), year), properties(north))

void use(entitable::table<entitable::wide<survey>> const& surveys) {
#ifdef BROKEN
    (void)surveys.transact("ACME", [](entitable::transaction<survey>&) { return entitable::result<void>{}; });
#else
    (void)surveys.get("ACME", 2026);
#endif
}
