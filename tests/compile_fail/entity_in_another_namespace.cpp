// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: ENTITABLE(app::runner "must be in the namespace of the type"

#include <entitable/entitable.hpp>

namespace app {

struct runner {
    std::string name;
    std::int32_t bib{};
};

#if !defined(BROKEN)
ENTITABLE(runner,
    partition_key(name),
    row_key(bib))
#endif

} // namespace app

#if defined(BROKEN)
ENTITABLE(app::runner,
    partition_key(name),
    row_key(bib))
#endif
