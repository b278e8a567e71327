// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the table maintains this type: it can be read but not written"

#include "registration.hpp"
#include <entitable/tables.hpp>

struct by_age : registration {};
ENTITABLE(by_age, partition_key(event, distance), row_key(literal("age:"), width(age, 3), bib), properties(name))

using race = entitable::table<registration, by_age>;

void use(race const& boston) {
    (void)boston.transact("Boston", "Full", [](entitable::transaction<race>& all) -> entitable::result<void> {
        for (by_age const& each : all.where(entitable::fields<by_age>::age >= 50).value()) {
#if defined(BROKEN)
            all.remove(each, entitable::any_etag);
#else
            all.remove(registration{each}, entitable::any_etag);
#endif
        }
        return {};
    });
}
