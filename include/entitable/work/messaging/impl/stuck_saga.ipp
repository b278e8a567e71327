// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/work/messaging/stuck_saga.hpp>

#include <charconv>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::optional<failed_step> failed_step_of(row_view stored, std::size_t count) noexcept {
    std::string_view const text = text_in(stored, queue_property::failed);
    failed_step made;
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), made.index);
    std::string_view const rest = text.substr(static_cast<std::size_t>(end - text.data()));
    bool const is_one = problem == std::errc{} && made.index >= 0 && static_cast<std::size_t>(made.index) < count &&
        (rest.starts_with('!') || rest.starts_with('-'));
    if (!is_one) { return {}; }
    made.had_no_effect = rest.front() == '-';
    made.why = rest.substr(1);
    return made;
}

ENTITABLE_DECL saga_place saga_place_of(row_view stored, std::int64_t hash, bool const* undoes, std::size_t count) {
    saga_place made;
    std::int32_t const step = int32_in(stored, queue_property::step);
    auto const steps = stored.find(queue_property::steps);
    std::int64_t const begun_with = steps && steps->type() == edm_type::int64 ? steps->as_int64() : 0;
    auto const number = static_cast<std::int32_t>(count);
    made.going_back = step < 0;
    auto const failed = failed_step_of(stored, count);
    if (made.going_back) { made.why = failed ? failed->why : text_in(stored, queue_property::why); }
    if ((begun_with != 0 && begun_with != hash) || step > number || step < -1 - number) { return made; }
    std::int32_t const left = -1 - step; // while undoing: the number of steps that are still to be undone
    auto const state = [&](std::int32_t index) {
        if (!made.going_back) {
            return index < step ? step_state::done : index == step ? step_state::unknown : step_state::not_done;
        }
        bool const undo = undoes[index];
        if (index < left) {
            bool const next = undo && index == left - 1;
            bool const is_failed = failed && index == failed->index;
            return next ? step_state::being_undone : is_failed ? step_state::unknown : step_state::done;
        }
        if (!failed) { // written by an older program, which did not record the failed step
            return step_state::unknown;
        }
        if (index < failed->index) { return undo ? step_state::undone : step_state::done; }
        if (index > failed->index || failed->had_no_effect) { return step_state::not_done; }
        return undo ? step_state::undone : step_state::unknown;
    };
    for (std::int32_t index = 0; index < number; ++index) { made.states.push_back(state(index)); }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
