// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a wide entity is written as a whole: replace(...), insert_or_replace(...) or update(...)"

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

void use(entitable::table<counter, entitable::wide<survey>> const& all, survey const& one) {
#ifdef BROKEN
    (void)all.merge(one, entitable::any_etag);
#else
    (void)all.replace(one, entitable::any_etag);
#endif
}
