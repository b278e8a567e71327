// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "towns.hpp"

#include <cstdio>

namespace {

int failures = 0;

void holds(bool so, char const* what) {
    if (!so) {
        ++failures;
        std::printf("not so: %s\n", what);
    }
}

} // namespace

int main() {
    auto const store = opened_towns();
    entitable::table<town> towns{store, "towns"};
    towns.insert({"Italy", "Trieste", 199'000}).value();
    towns.insert({"Italy", "Udine", 98'000}).value();

    holds(town_of(store, "Italy", "Trieste").people == 199'000, "the library reads what the program wrote");
    holds(town_as_value(store, "Italy", "Udine").value().people == 98'000, "so does the other file");

    using t = entitable::fields<town>;
    holds(count_towns(towns.where(t::country == "Italy")) == 2, "a query may be asked in the library");

    bool caught = false;
    try {
        (void)town_of(store, "Italy", "Atlantis");
    } catch (entitable::error const& problem) { caught = problem.code == entitable::error_code::resource_not_found; }
    holds(caught, "an error that the library throws is caught by its type");
    holds(town_as_value(store, "Italy", "Atlantis").error().code == entitable::error_code::resource_not_found,
        "an error as a value crosses files");

    auto* const clock = &entitable::system_clock();
    holds(
        clock == clock_of_towns() && clock == clock_of_second(), "what is one object in the program is one everywhere");
    if (failures == 0) { std::puts("two files and a shared library agree"); }
    return failures;
}
