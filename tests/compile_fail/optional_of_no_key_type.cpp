// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// expect: "the member 'nickname'" "cannot be part of a key"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
#if defined(BROKEN)
    std::optional<std::string> nickname; // its text has no marked end: "absent" would be a text too
#else
    std::optional<std::int32_t> nickname;
#endif
};

ENTITABLE(runner,
    partition_key(name),
    row_key(nickname))
