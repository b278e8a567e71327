// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `memory_backend`: the table service in memory. It is for tests, and for programs that need their tables only while they run.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/transport/any_store.hpp>
#include <entitable/local/local_options.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Tables in memory: a `local<memory_store>`, which only the implementation includes. A cheap handle: copies share the tables. A moved-from
/// object returns InvalidInput. Thread safety: safe to use from several threads.
class memory_backend : public any_store {
public:
    using is_any_transport = memory_backend; ///< a table takes it without conversion
    using visits_entities = memory_backend;  ///< opts in to `read_entity`
    using visits_pages = memory_backend;     ///< opts in to `read_entities`
    using answers_at_once = memory_backend;  ///< opts in, because no call waits for long

    /// Uses default options.
    ENTITABLE_LAZY memory_backend();
    /// Uses the given options.
    ENTITABLE_LAZY explicit memory_backend(local_options options);
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/memory/impl/memory_backend.ipp>
#endif

#endif
