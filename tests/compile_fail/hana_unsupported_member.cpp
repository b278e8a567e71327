// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "ENTITABLE_HANA" "not part of a key" "cannot be stored"

#include <entitable/entitable.hpp>
#include <entitable/hana.hpp>

#include <boost/hana/adapt_struct.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
#if defined(BROKEN)
    std::vector<std::string> extras;
#else
    std::string extras;
#endif
};

BOOST_HANA_ADAPT_STRUCT(runner, name, bib, extras);

ENTITABLE_HANA(runner,
    partition_key(name),
    row_key(bib))
