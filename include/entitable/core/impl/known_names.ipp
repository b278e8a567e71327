// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/known_names.hpp>

#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL known_names::~known_names() {
    for (known_name* each = first_.load(memory_order::acquire); each != nullptr;) {
        delete std::exchange(each, each->next);
    }
}

ENTITABLE_LAZY_BODY bool known_names::has(std::string const& wanted) const {
    for (known_name const* each = first_.load(memory_order::acquire); each != nullptr; each = each->next) {
        if (each->text == wanted) { return true; }
    }
    return false;
}

ENTITABLE_LAZY_BODY bool known_names::have(std::vector<std::string> const& wanted) const {
    for (std::string const& each : wanted) {
        if (!has(each)) { return false; }
    }
    return true;
}

ENTITABLE_LAZY_BODY void known_names::add(std::vector<std::string> const& found) {
    for (std::string const& each : found) {
        if (has(each)) { continue; }
        auto* const made = new known_name{each, first_.load(memory_order::acquire)};
        while (!first_.compare_exchange_weak(made->next, made, memory_order::release, memory_order::acquire)) {}
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
