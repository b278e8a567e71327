// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The entity that the programs in this folder misuse.

#include <entitable/entitable.hpp>

struct registration {
    std::string event;
    std::string distance;
    std::int32_t bib{};
    std::string name;
    std::int32_t age{};
};

ENTITABLE(registration,
    partition_key(event, distance),
    row_key(bib),
    properties(name, age))
