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

struct surveys_of {
    std::string tenant;
    std::int64_t count{};
    static surveys_of key(survey const& of) { return {of.tenant}; }
    void add(survey const&) { ++count; }
    void subtract(survey const&) { --count; }
};
ENTITABLE(surveys_of, partition_key(tenant), row_key(literal("SURVEYS")), properties(count))
#ifdef BROKEN
void use(entitable::table<counter, entitable::wide<survey>, surveys_of> const& all) {
#else
void use(entitable::table<counter, survey, surveys_of> const& all) {
#endif
    (void)all.get<counter>("ACME");
}
