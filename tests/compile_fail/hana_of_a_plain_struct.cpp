// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "ENTITABLE_HANA: the type is not adapted for Hana"

#include <entitable/entitable.hpp>
#include <entitable/hana.hpp>

#include <boost/hana/adapt_struct.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
    std::int32_t age{};
};

#if !defined(BROKEN)
BOOST_HANA_ADAPT_STRUCT(runner, name, bib, age);
#endif

ENTITABLE_HANA(runner,
    partition_key(name),
    row_key(bib))
