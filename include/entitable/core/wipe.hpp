// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `wipe`: overwrites memory that held a secret.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <cstring>

ENTITABLE_BEGIN_NAMESPACE

/// Overwrites the bytes of `text`; no optimizer removes the writes.
inline void wipe(char* text, std::size_t size) noexcept {
    if (size > 0) {
        std::memset(text, 0, size);
        __asm__ __volatile__("" : : "r"(text) : "memory"); // forces the compiler to assume that the bytes are read
    }
}

ENTITABLE_END_NAMESPACE
