// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this index is not in the partition of the transaction: read it before"

#include "registration.hpp"
#include <entitable/tables.hpp>

struct by_name : registration {};
ENTITABLE(by_name, partition_key(name), row_key(escaped(event), escaped(distance), bib), properties(age))

using race = entitable::table<registration, entitable::elsewhere<by_name>>;

void use(race const& boston) {
    (void)boston.transact("Boston", "Full", [](entitable::transaction<race>& all) -> entitable::result<void> {
#if defined(BROKEN)
        for (by_name const& each : all.where(entitable::fields<by_name>::name == "Ann").value()) {
#else
        for (registration const& each : all.where(entitable::fields<registration>::name == "Ann").value()) {
#endif
            all.remove(registration{each}, entitable::any_etag);
        }
        return {};
    });
}
