// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `stored<E>`: an entity with its version.

#include <entitable/core/date_time.hpp>
#include <entitable/core/etag.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// An entity as it was read, with the version to make the next write of it conditional.
template <class Entity>
struct stored {
    Entity entity{};      ///< as it was read
    entitable::etag etag; ///< its version
    date_time timestamp;  ///< when it was last written, by the service's clock
    bool stale{};         ///< read from a secondary location, may not be the latest
};

ENTITABLE_END_NAMESPACE
