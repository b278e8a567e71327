// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "town.hpp"

#include <cstdio>

/// Whether a result knows that another library moved its error out.
bool knows_what_was_taken(entitable::any_store const& store) {
    auto failed = entitable::table<town>{store, "towns"}.get("Italy", "Atlantis");
    bool const right = error_of(failed).code == entitable::error_code::resource_not_found &&
        failed.error().code == entitable::error_code::invalid_input;
    auto const copy = failed;
    return right && copy.error().code == entitable::error_code::invalid_input;
}

int main(int, char** words) {
    auto const store = opened();
    if (!knows_what_was_taken(store)) { return 1; }
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
