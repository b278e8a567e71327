// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The macro ENTITABLE, which declares an entity, and the types that its expansion names: see `entity_macro.hpp`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/changed.hpp>
#include <entitable/client/mapping/component.hpp>
#include <entitable/client/mapping/entity_macro.hpp>
#include <entitable/client/mapping/field.hpp>
#include <entitable/client/mapping/property_type.hpp>
#include <entitable/core/etag.hpp>
#include <entitable/core/printing.hpp>

#endif
