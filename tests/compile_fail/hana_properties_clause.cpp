// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "ENTITABLE_HANA: there is no clause properties(...)"

#include <entitable/entitable.hpp>
#include <entitable/hana.hpp>

#include <boost/hana/adapt_struct.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
    std::int32_t age{};
};

BOOST_HANA_ADAPT_STRUCT(runner, name, bib, age);

ENTITABLE_HANA(runner,
    partition_key(name),
#if defined(BROKEN)
    row_key(bib), properties(age))
#else
    row_key(bib))
#endif
