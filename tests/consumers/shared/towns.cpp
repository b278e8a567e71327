// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "towns.hpp"

#include <entitable/memory.hpp>

entitable::any_store opened_towns() {
    entitable::memory_backend store;
    entitable::table<town>{store, "towns"}.create().value();
    return store;
}

town town_of(entitable::any_store const& towns, std::string const& country, std::string const& name) {
    return entitable::table<town>{towns, "towns"}.get(country, name).value();
}

std::size_t count_towns(entitable::query<town, entitable::access_path::partition> towns) {
    return towns.count().value();
}

entitable::clock* clock_of_towns() { return &entitable::system_clock(); }
