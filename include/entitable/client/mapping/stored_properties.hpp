// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `stored_properties`: what the rows of an entity type store, as data.

#include <entitable/client/mapping/detail/descriptor.hpp>
#include <entitable/core/row/stored_property.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Returns the properties that rows of this entity type store, in the order of their declaration, without the keys. A member that is stored as several
/// properties (`chunked`, `reference`, a former name) is listed as these properties.
template <class Entity>
[[nodiscard]] std::vector<stored_property> stored_properties() {
    return detail::properties_of_descriptor(detail::descriptor_of<Entity>.view());
}

ENTITABLE_END_NAMESPACE
