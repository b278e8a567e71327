// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a table of a wide entity requires #include <entitable/wide.hpp>"

#include <entitable/entitable.hpp>
#ifndef BROKEN
#include <entitable/wide.hpp>
#endif

struct survey {
    std::string tenant;
    std::int32_t year{};
};
ENTITABLE(survey, partition_key(tenant), row_key(year))

void use(entitable::any_store const& store) {
    entitable::table<entitable::wide<survey>> const surveys{store, "surveys"};
    (void)surveys;
}
