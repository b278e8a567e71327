// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "must return an entity of the target table"

#include "registration.hpp"
#include <entitable/copy.hpp>

struct starter {
    std::string event;
    std::int32_t bib{};
};
ENTITABLE(starter,
    partition_key(event),
    row_key(bib))

void use(entitable::table<registration> const& from, entitable::table<starter> const& to) {
#if defined(BROKEN)
    (void)entitable::copy(from, to, [](registration const& one) { return one; });
#else
    (void)entitable::copy(from, to, [](registration const& one) { return starter{one.event, one.bib}; });
    (void)entitable::copy(
        from, to, [](registration const& one) -> std::optional<starter> { return starter{one.event, one.bib}; });
#endif
}
