// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `stuck_saga<T>`: a saga that was given up before its end, with the known state of each step.

#include <entitable/work/messaging/table_queue.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The known state of a step of a saga that was given up.
enum class step_state : std::uint8_t {
    not_done,     ///< the step was not started, or had no effect
    done,         ///< the step was done and has not been undone
    unknown,      ///< the step may have been started and may have had all or part of its effect
    being_undone, ///< the undo was due next, and may have been started
    undone,       ///< the undo succeeded
};

/// Returns the text for logs: "being undone".
[[nodiscard]] constexpr std::string_view to_string(step_state state) noexcept {
    constexpr std::string_view words[] = {"not done", "done", "unknown", "being undone", "undone"};
    return words[static_cast<std::size_t>(state)];
}
/// Whether a step in this state may have left an effect.
[[nodiscard]] constexpr bool may_stand(step_state state) noexcept {
    return state != step_state::not_done && state != step_state::undone;
}

/// A step and its state.
struct step_report {
    std::string_view name; ///< name of the step in the program
    step_state state{};    ///< known state of the step
};

/// A saga whose message was claimed `max_deliveries` times since the last step that was recorded.
template <mapped_entity T>
struct stuck_saga {
    dead_letter<T> letter; ///< dead letter, for `table_queue::requeue` and `purge`; `why`: reason of the last `fail`
    std::vector<step_report> steps; ///< steps in order; empty if a program with different steps started the saga
    std::string failed_because;     ///< error of the failed step if the saga is undoing its steps; otherwise empty
    bool going_back{};              ///< whether the saga is undoing its steps
};

namespace detail {

/// The stored form of a step's permanent failure.
struct failed_step {
    std::int32_t index{};
    bool had_no_effect{};
    std::string_view why;
};
/// The failure that a message or a dead letter records; nullopt if the program that wrote the row did not store it.
[[nodiscard]] std::optional<failed_step> failed_step_of(row_view stored, std::size_t count) noexcept;

/// The progress of a saga.
struct saga_place {
    std::vector<step_state>
        states; ///< states of the steps; empty if the saga belongs to a program with different steps
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
