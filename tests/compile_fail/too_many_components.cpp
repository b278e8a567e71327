// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: sheet "more than 16 components"

#include <entitable/entitable.hpp>

struct sheet {
    std::string name;
    std::int32_t c00, c01, c02, c03, c04, c05, c06, c07, c08, c09, c10, c11, c12, c13, c14, c15, c16;
};

ENTITABLE(sheet,
    partition_key(name),
#if defined(BROKEN)
    row_key(c00, c01, c02, c03, c04, c05, c06, c07, c08, c09, c10, c11, c12, c13, c14, c15, c16))
#else
    row_key(c00, c01, c02, c03, c04, c05, c06, c07, c08, c09, c10, c11, c12, c13, c14, c15))
#endif
