// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Messages that a claim has read after its own, for the next claims; and the messages that a claim moves.

#include <entitable/work/messaging/detail/queue_core.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::uint32_t most_pause = 1024; // maximum number of reads without spare messages

ENTITABLE_DECL std::vector<queue_core::pick> queue_core::spares_of(std::size_t lane, std::uint32_t most) const {
    std::vector<pick> taken;
    steady_time const now = time().steady();
    std::lock_guard const lock{state().guard};
    spare_messages& spares = state().spares[lane];
    if (spares.ready.empty()) { return taken; }
    if (now >= spares.until || !state().lane_states[lane].clock.is_certain(time())) {
        spares.ready.clear();
        return taken;
    }
    taken.reserve(most);
    for (; taken.size() < most && !spares.ready.empty(); spares.ready.pop_back()) {
        taken.push_back(std::move(spares.ready.back()));
    }
    if (spares.ready.empty()) {
        spares.next_pause = 8; // no other worker claimed them
    }
    return taken;
}

ENTITABLE_DECL void queue_core::keep_spares(std::size_t lane, std::vector<pick>& ready, std::uint32_t most) const {
    if (ready.size() < 2 * std::size_t{most}) { // there are too few spare messages for another claim
        ready.erase(
            ready.begin() + static_cast<std::ptrdiff_t>((std::min)(ready.size(), std::size_t{most})), ready.end());
        return;
    }
    std::lock_guard const lock{state().guard};
    spare_messages& spares = state().spares[lane];
    spares.ready.clear();
    for (; ready.size() > most; ready.pop_back()) { spares.ready.push_back(std::move(ready.back())); }
    spares.until = time().steady() + std::chrono::seconds{1};
}

ENTITABLE_DECL void queue_core::forget_spares(std::size_t lane, bool beaten) const {
    std::lock_guard const lock{state().guard};
    spare_messages& spares = state().spares[lane];
    spares.ready.clear();
    if (beaten) {
        spares.pause = spares.next_pause;
        spares.next_pause = (std::min)(2 * spares.next_pause, most_pause);
    }
}
ENTITABLE_DECL void queue_core::forget_spares(std::string_view lane) const {
    std::size_t number = 0;
    for (char const digit : lane.substr((std::min)(lane.size(), std::size_t{4}))) { // after "lane"
        number = number * 10 + static_cast<std::size_t>(digit - '0');
    }
    if (number < state().lanes.load(memory_order::acquire)) { forget_spares(number, false); }
}

ENTITABLE_DECL bool queue_core::moves::keep(std::vector<bool> const& which) {
    std::size_t kept = 0;
    for (std::size_t index = 0; index < made.size(); ++index) {
        if (!which[index]) { continue; }
        if (kept != index) {
            from(kept) = std::move(from(index));
            to(kept) = std::move(to(index));
            made[kept] = std::move(made[index]);
        }
        ++kept;
    }
    made.resize(kept);
    request.changes.erase(request.changes.begin() + static_cast<std::ptrdiff_t>(2 * kept), request.changes.end());
    return kept > 0;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
