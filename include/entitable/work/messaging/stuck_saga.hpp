// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `stuck_saga<T>`: a saga that was given up in the middle, with what is known of each of its steps.

#include <entitable/work/messaging/table_queue.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// What is known of a step of a saga that was given up.
enum class step_state : std::uint8_t {
    not_done,     ///< it was not started, or had no effect
    done,         ///< it was done, and not undone
    unknown,      ///< it may have been started, so it may have had its effect, or part of it
    being_undone, ///< its undo was to be called next, and may have been started
    undone,       ///< its undo has succeeded
};

/// For logs: "being undone".
[[nodiscard]] constexpr std::string_view to_string(step_state state) noexcept {
    constexpr std::string_view words[] = {"not done", "done", "unknown", "being undone", "undone"};
    return words[static_cast<std::size_t>(state)];
}
/// Whether an effect of a step in this state may be there.
[[nodiscard]] constexpr bool may_stand(step_state state) noexcept {
    return state != step_state::not_done && state != step_state::undone;
}

/// A step and its state.
struct step_report {
    std::string_view name; ///< as the program has it
    step_state state{};    ///< what is known of it
};

/// A saga whose message was claimed `max_deliveries` times since the last step that was recorded.
template <mapped_entity T>
struct stuck_saga {
    dead_letter<T> letter; ///< its message, for `table_queue::requeue` and `purge`; `why`: what the last `fail` said
    std::vector<step_report> steps; ///< in order; empty if the saga was begun by a program with other steps
    std::string failed_because;     ///< if it is going back: the error of the step that failed. Else empty
    bool going_back{};              ///< it is undoing its steps
};

namespace detail {

/// How a step failed for good, as it is stored.
struct failed_step {
    std::int32_t index{};
    bool had_no_effect{};
    std::string_view why;
};
/// What a message or a dead letter says of it; nothing in rows of programs that did not store it.
[[nodiscard]] std::optional<failed_step> failed_step_of(row_view stored, std::size_t count) noexcept;

/// Where a saga is.
struct saga_place {
    std::vector<step_state> states; ///< empty: of a program with other steps
    std::string why;
    bool going_back{};
};
/// Reads the row of a dead letter. `undoes`: which steps have an undo.
[[nodiscard]] saga_place saga_place_of(row_view stored, std::int64_t hash, bool const* undoes, std::size_t count);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/messaging/impl/stuck_saga.ipp>
#endif
