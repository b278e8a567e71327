// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What an update is told, and what became of it.

#include <entitable/client/contention.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/etag.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of an update.
struct update_options {
    std::uint32_t max_attempts{50};     ///< when other writers are faster, the first one included; 0 counts as 1
    backoff delays{contention_backoff}; ///< the waits between attempts
    clock* time{&system_clock()};       ///< for the waits; must outlive the update
    std::uint64_t seed{};               ///< of the waits; 0 for one from the clock
};

/// An entity that was updated.
template <class Entity>
struct updated {
    Entity entity{};      ///< as it was written; members filled by etag(...) and timestamp(...) are as they were read
    entitable::etag etag; ///< of the new version, or of the one that was read when nothing was written
    std::uint32_t attempts{}; ///< how often it was read, from 1
    bool changed{};           ///< whether it was written
    bool after_retry{};       ///< see `written`
};

namespace detail {

/// What became of an update.
struct update_outcome {
    entitable::etag etag;
    std::uint32_t attempts{};
    bool changed{};
    bool after_retry{};
};
/// The members of an `updated`.
struct updated_parts {
    void* entity;
    entitable::etag& etag;
    std::uint32_t& attempts;
    bool& changed;
    bool& after_retry;

    void take(update_outcome&& outcome) const noexcept {
        etag = static_cast<entitable::etag&&>(outcome.etag);
        attempts = outcome.attempts;
        changed = outcome.changed;
        after_retry = outcome.after_retry;
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
