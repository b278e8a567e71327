// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// expect: a file either includes headers of entitable or imports its modules
#include <string>

import entitable;

#include <entitable/bulk.hpp>

int main() {}
