// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/entitable.hpp>
#include <entitable/messaging.hpp>

struct errand {
    std::string town;
    std::int32_t number{};
};
ENTITABLE(errand, partition_key(town), row_key(number), properties())
