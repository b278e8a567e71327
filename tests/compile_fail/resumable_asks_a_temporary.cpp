// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: deleted ask

#include <entitable/core/request/resumable.hpp>

entitable::resumable<bool> exists(std::string table) {
    entitable::get_entity const request{std::move(table), "p", "r", {}};
#ifdef BROKEN
    auto const found = co_await entitable::ask(entitable::get_entity{request});
#else
    auto const found = co_await entitable::ask(request);
#endif
    co_return found.has_value();
}
