// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "no public member 'age'"

#include <entitable/entitable.hpp>

class runner {
public:
    std::string name;
    std::int32_t bib{};
#if !defined(BROKEN)
    std::int32_t age{};
#else
private:
    std::int32_t age{};
#endif
};

ENTITABLE(runner,
    partition_key(name),
    row_key(bib),
    properties(age))
