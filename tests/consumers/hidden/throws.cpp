// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "town.hpp"

town found(entitable::any_store const& towns, std::string const& name) {
    return entitable::table<town>{towns, "towns"}.get("Italy", name).value();
}

entitable::error error_of(entitable::result<town>& failed) {
    entitable::result<void> const taken{std::move(failed).as_failure()};
    return taken.error();
}
