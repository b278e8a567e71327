// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options and outcome of an update.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/contention.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/etag.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of an update.
struct update_options {
    std::uint32_t max_attempts{50};     ///< maximum number of attempts, including the first; 0 counts as 1
    backoff delays{contention_backoff}; ///< delays between attempts
    clock* time{&system_clock()};       ///< clock for the delays; must outlive the update
    std::uint64_t seed{};               ///< seed for the delays; 0 for a seed from the clock
};

namespace detail {

/// The usual options, for default arguments: one object, which calls do not construct.
ENTITABLE_LAZY [[nodiscard]] update_options const& usual_update_options() noexcept;

} // namespace detail

/// An updated entity.
template <class Entity>
struct updated {
    Entity entity{};           ///< entity as written; members filled by etag(...) and timestamp(...) are as read
    entitable::etag etag;      ///< ETag of the new version, or of the version read if nothing was written
    std::uint32_t attempts{};  ///< number of attempts, from 1
    bool changed{};            ///< whether it was written
    bool after_retry{};        ///< see `written`
    std::uint16_t healed{};    ///< see `written`
    std::uint16_t unsettled{}; ///< see `written`
};

namespace detail {

/// Outcome of an update.
struct update_outcome {
    entitable::etag etag;
    std::uint32_t attempts{};
    bool changed{};
    bool after_retry{};
    std::uint16_t healed{};
    std::uint16_t unsettled{};
};
/// References to the members of an `updated`.
struct updated_parts {
    void* entity;
    entitable::etag& etag;
    std::uint32_t& attempts;
    bool& changed;
    bool& after_retry;
    std::uint16_t& healed;
    std::uint16_t& unsettled;

    void take(update_outcome&& outcome) const noexcept {
        etag = static_cast<entitable::etag&&>(outcome.etag);
        attempts = outcome.attempts;
        changed = outcome.changed;
        after_retry = outcome.after_retry;
        healed = outcome.healed;
        unsettled = outcome.unsettled;
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
