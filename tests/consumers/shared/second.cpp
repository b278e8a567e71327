// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "towns.hpp"

entitable::result<town> town_as_value(
    entitable::any_store const& towns, std::string const& country, std::string const& name) {
    return entitable::table<town>{towns, "towns"}.get(country, name);
}

entitable::clock* clock_of_second() { return &entitable::system_clock(); }
