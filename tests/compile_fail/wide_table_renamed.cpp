// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "wide_table<survey> is now table<wide<survey>>"

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

#ifdef BROKEN
void use(entitable::any_store const& store) {
    entitable::wide_table<survey> const surveys{store, "surveys"};
    (void)surveys;
}
#else
void use(entitable::table<entitable::wide<survey>> const& surveys) { (void)surveys.get("ACME", 2026); }
#endif
