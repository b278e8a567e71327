// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/local/local.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/local/memory/memory_store.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY memory_backend::memory_backend() : memory_backend(local_options{}) {}

ENTITABLE_LAZY_BODY memory_backend::memory_backend(local_options options)
    : any_store(local<memory_store>{std::move(options)}) {}

ENTITABLE_END_NAMESPACE
