// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "town.hpp"

#include <cstdio>

int main(int, char** words) {
    auto const store = opened();
    try {
        (void)found(store, "Atlantis");
    } catch (entitable::error const& problem) {
        bool const right = problem.code == entitable::error_code::resource_not_found;
        std::printf("%s: caught by its type\n", words[1]);
        return right ? 0 : 1;
    } catch (std::exception const& problem) {
        std::printf("%s: not caught by its type: %s\n", words[1], problem.what());
    }
    return 1;
}
