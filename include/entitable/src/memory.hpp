// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of the store in memory, and what local stores share: one part of `entitable/src.hpp`, for programs that compile the
/// parts separately and in parallel. Compile each part in exactly one file.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/memory.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/local/impl/local_rules.ipp>
#include <entitable/local/impl/page_reader.ipp>
#include <entitable/local/impl/row_filter.ipp>
#include <entitable/local/impl/rw_lock.ipp>
#include <entitable/local/impl/selected_payload.ipp>
#include <entitable/local/memory/impl/memory_address.ipp>
#include <entitable/local/memory/impl/memory_backend.ipp>
#include <entitable/local/memory/impl/memory_store.ipp>
