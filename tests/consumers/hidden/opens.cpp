// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "town.hpp"
#include <entitable/memory.hpp>

entitable::any_store opened() {
    entitable::memory_backend store;
    entitable::table<town>{store, "towns"}.create().value();
    return store;
}
