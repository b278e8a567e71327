// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#include <entitable/macros.hpp>

#include <string>
#include <vector>

import shop.order;

ENTITABLE_INSTANTIATE(shop::order)
