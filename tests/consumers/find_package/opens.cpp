// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The stores of the components that were found are opened by their addresses; others are refused.

#include <entitable/entitable.hpp>
#include <entitable/open.hpp>

#include <cstdio>

int main() {
    bool const memory = entitable::open("memory:").has_value();
    bool const file = entitable::open("file:opened.db?create=true").has_value();
    bool const azure = entitable::open("UseDevelopmentStorage=true").has_value();
    std::printf("memory %d, file %d, azure %d\n", memory, file, azure);
    return memory && file && !azure ? 0 : 1;
}
