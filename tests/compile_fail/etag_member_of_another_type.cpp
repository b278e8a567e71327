// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "etag(version)" "entitable::etag"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
#if defined(BROKEN)
    std::string version;
#else
    entitable::etag version;
#endif
};

ENTITABLE(runner,
    partition_key(name),
    row_key(bib),
    properties(etag(version)))
