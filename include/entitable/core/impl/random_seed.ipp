// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/chrono.hpp>
#include <entitable/core/random_seed.hpp>

#if defined(_WIN32)
extern "C" int __cdecl rand_s(unsigned int*);
#elif defined(__APPLE__)
#include <sys/random.h>
#else
#include <unistd.h>
#endif

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::uint64_t random_seed() noexcept {
    std::uint64_t seed = 0;
#if defined(_WIN32)
    unsigned int halves[2] = {};
    bool const drawn = rand_s(&halves[0]) == 0 && rand_s(&halves[1]) == 0;
    seed = (std::uint64_t{halves[0]} << 32U) | halves[1];
#else
    bool const drawn = getentropy(&seed, sizeof seed) == 0;
#endif
    if (!drawn) {
        auto const day = std::chrono::system_clock::now().time_since_epoch().count();
        auto const monotonic = std::chrono::steady_clock::now().time_since_epoch().count();
        seed = static_cast<std::uint64_t>(day) ^ (static_cast<std::uint64_t>(monotonic) << 20U);
    }
    return seed;
}

ENTITABLE_END_NAMESPACE
