// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `memory_backend`: the table service in memory. For tests, and for programs that need their tables only while they run.

#include <entitable/backends/local.hpp>
#include <entitable/backends/memory/memory_store.hpp>
#include <entitable/transport/any_transport.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Tables in memory. A cheap handle: copies share them. Thread safety: safe to use from several threads.
using memory_backend = local<memory_store>;

#if defined(ENTITABLE_SEPARATE_COMPILATION)
// Compiled once, with entitable/src.hpp.
extern template class local<memory_store>;
extern template detail::transport_interface* detail::make_model(local<memory_store> const&);
#endif

ENTITABLE_END_NAMESPACE
