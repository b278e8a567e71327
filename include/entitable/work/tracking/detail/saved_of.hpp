// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Converts the outcomes of a run to the results of a unit of work, and tracked entities to their objects.

#include <entitable/work/tracking/detail/save_run.hpp>
#include <entitable/work/tracking/saved_changes.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Makes a tracker over a transport that returns an error for every request.
[[nodiscard]] inline std::unique_ptr<entity_tracker> tracker_of(any_store answers) {
    return std::make_unique<entity_tracker>(table_core{std::move(answers), {}, {}});
}

/// Makes a new object to be tracked.
template <class Entity>
[[nodiscard]] std::unique_ptr<tracked_entity> make_tracked() {
    return std::make_unique<tracked_object<Entity>>();
}

/// Returns the object of an entity that is not to be removed, and is an Entity; otherwise null.
template <class Entity>
[[nodiscard]] Entity* shown_object(tracked_entity* of) {
    bool const shown = of != nullptr && !of->removed && of->type() == &type_mark<Entity>;
    return shown ? &object_of<Entity>(*of) : nullptr;
}

[[nodiscard]] inline save_options in_mode(save_mode mode) noexcept {
    save_options how;
    how.mode = mode;
    return how;
}

/// Converts the outcomes of a run to the types of the unit.
template <class... Entities>
[[nodiscard]] result<saved_changes<Entities...>> saved_of(result<std::vector<row_outcome>> ended) {
    if (!ended) { return std::move(ended).as_failure(); }
    result<saved_changes<Entities...>> made{std::in_place};
    for (row_outcome& each : *ended) {
        change_outcome<Entities...> one{*each.of, each.was, each.outcome, std::move(each.problem)};
        if (one.outcome != save_outcome::saved && one.outcome != save_outcome::dropped) { made->failed.push_back(one); }
        made->changes.push_back(std::move(one));
    }
    return made;
}

/// Returns the error of outcomes with failures.
template <class Saved>
[[nodiscard]] failure refusal_in(Saved const& report) {
    std::vector<change_refusal> refused;
    refused.reserve(report.changes.size());
    for (auto const& each : report.changes) {
        refused.push_back({each.partition_key(), each.row_key(), each.outcome, &each.error});
    }
    return refusal_of(refused);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
