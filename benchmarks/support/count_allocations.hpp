// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Counts allocations by replacing the global operator new: include it in one file of a program.

#include <atomic>
#include <cstdlib>
#include <new>

namespace measure {
inline std::atomic<std::uint64_t> allocations{0}; ///< since the start of the program
}

// Not inlined: the compiler would warn about the pair of malloc and delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
    measure::allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* const block = std::malloc(size == 0 ? 1 : size)) { return block; }
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }
