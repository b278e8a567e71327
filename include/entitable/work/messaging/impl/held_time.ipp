// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/process.hpp>
#include <entitable/core/random_seed.hpp>
#include <entitable/work/messaging/detail/held_time.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL fresh_ids::fresh_ids(std::uint64_t seed)
    : random_(seed != 0 ? seed : random_seed()), forks_(platform::forks()) {}

ENTITABLE_DECL std::string fresh_ids::next() {
    std::string id;
    id.reserve(32);
    append_hexadecimal(id, unlike_others());
    append_hexadecimal(id, random_.bits());
    return id;
}

ENTITABLE_DECL std::uint64_t fresh_ids::unlike_others() {
    // A forked child has a copy of the parent's random state: it would mistake its parent's claims for its own.
    if (std::uint64_t const here = platform::forks(); forks_.load(memory_order::acquire) != here) {
        own_.store(random_seed(), memory_order::relaxed);
        forks_.store(here, memory_order::release);
    }
    return own_.load(memory_order::relaxed) ^ random_.bits();
}

ENTITABLE_DECL std::string fresh_ids::next_at(date_time time) {
    std::string id;
    id.reserve(32);
    append_hexadecimal(id, static_cast<std::uint64_t>(time.ticks));
    append_hexadecimal(id, unlike_others());
    static_cast<void>(random_.bits()); // draws as many numbers as `next`
    return id;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
