// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/request_ref.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY std::string_view request_ref::name() const {
    std::string_view found;
    visit([&](auto const& request) { found = request.name; });
    return found;
}

ENTITABLE_LAZY_BODY bool request_ref::writes() const {
    bool found = false;
    visit([&](auto const& request) { found = request.writes; });
    return found;
}

ENTITABLE_END_NAMESPACE
