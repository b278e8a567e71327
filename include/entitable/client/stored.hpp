// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `stored<E>`: an entity with its version.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/date_time.hpp>
#include <entitable/core/etag.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// An entity as read, with its version for a conditional write.
template <class Entity>
struct stored {
    Entity entity{};      ///< entity as read
    entitable::etag etag; ///< version of the entity
    date_time timestamp;  ///< time of its latest write, by the service's clock
    bool stale{};         ///< set if read from a secondary location, so possibly not the latest
};

ENTITABLE_END_NAMESPACE

#endif
