// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The runners whose indexes the programs in this folder misuse.

#include <entitable/tables.hpp>

struct runner {
    std::string race;
    std::int32_t bib{};
    std::int32_t age{};
    std::string club;
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), width(bib, 5)), properties(age, club))
