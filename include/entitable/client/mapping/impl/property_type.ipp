// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/property_type.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY bool property_type<binary>::assign(binary& to, value_view from) {
    auto const* const first = reinterpret_cast<std::byte const*>(from.bytes().data());
    to.assign(first, first + from.bytes().size());
    return from.type() == type;
}

ENTITABLE_END_NAMESPACE
