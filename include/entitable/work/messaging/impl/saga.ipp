// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/text.hpp>
#include <entitable/work/messaging/impl/queue_ends.ipp>
#include <entitable/work/messaging/saga.hpp>

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

ENTITABLE_DECL std::int64_t steps_hash(
    std::string_view name, std::string_view const* steps, std::size_t count) noexcept {
    std::uint64_t hash = 14695981039346656037U;
    auto const add = [&](std::string_view part) {
        for (char const character : part) { hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211U; }
        hash *= 1099511628211U; // the byte 0
    };
    add(name);
    for (std::size_t index = 0; index < count; ++index) { add(steps[index]); }
    return static_cast<std::int64_t>(hash);
}

/// Whether a step may succeed when it is repeated.
ENTITABLE_DECL bool may_pass(error const& problem) noexcept {
    switch (problem.code) {
        case error_code::update_condition_not_satisfied:
        case error_code::cancelled:
        case error_code::deadline_exceeded:
        case error_code::receipt_lost: return true;
        default: return problem.effect == effect::unknown || worth_retrying(problem);
    }
}

inline constexpr std::size_t most_of_failed_step =
    2000; // bytes; `check_room` leaves room for them and the longest reason

/// The first bytes of a text, in whole characters.
ENTITABLE_DECL std::string_view first_bytes(std::string_view of, std::size_t most) noexcept {
    std::string_view const part = of.substr(0, most);
    return part.substr(0, text::valid_utf8_prefix(part));
}

/// Whether the first step runs for the first time: the message has been neither claimed before nor requeued. False for a message that
/// cannot be read, and in a queue of format 1, whose programs leave no trace when they requeue a message.
ENTITABLE_DECL bool is_first_run(queue_core const& queue, receipt const& held) {
    date_time told;
    auto const stored = queue.read(held.lane, held.key, told);
    return stored && *stored && queue.format() >= 2 && text_in(**stored, queue_property::claim) == held.claim &&
        int32_in(**stored, queue_property::deliveries) == 1 && !(*stored)->view().find(queue_property::step);
}

inline failure other_steps(saga_program const& program, std::int64_t stored, std::int64_t own) {
    std::string names;
    for (std::size_t index = 0; index < program.count; ++index) {
        names.append(index == 0 ? "" : ", ").append(program.steps[index]);
    }
    return failure{error_code::saga_differs,
        text::joined({"the message was started by a saga with different steps (hash ", std::to_string(stored),
            "); the steps of this program are ", program.name, ": ", names, " (hash ", std::to_string(own), ")"})};
}

/// Reads why a step failed, as an earlier run stored it; empty if the message is gone.
inline result<std::string> stored_reason(queue_core const& queue, receipt const& held, std::size_t count) {
    date_time told;
    ENTITABLE_TRY(auto const stored, queue.read(held.lane, held.key, told));
    if (!stored) { return std::string{}; }
    auto const failed = failed_step_of(*stored, count);
    return std::string{failed ? failed->why : text_in(*stored, queue_property::why)};
}

ENTITABLE_DECL result<saga_outcome> resume_saga(queue_core const& queue, receipt& held, saga_program const& program) {
    std::int64_t const hash = steps_hash(program.name, program.steps, program.count);
    auto const count = static_cast<std::int32_t>(program.count);
    if ((held.steps != 0 && held.steps != hash) || held.step > count || held.step < -1 - count) {
        return other_steps(program, held.steps, hash);
    }
    // Returns how many of `steps` steps must be undone: the steps up to the last step that has an undo.
    auto const to_undo = [&](std::int32_t steps) {
        while (steps > 0 && !program.undoes[steps - 1]) { --steps; }
        return steps;
    };
    auto const advance = [&](std::int32_t next, std::string_view failed, std::string_view why,
                             std::vector<mutation> const& beside) {
        date_time until{};
        auto recorded = queue.write(
            held,
            [&](row_builder& made) {
                until = {held.store_time(queue.time().steady()).ticks + queue.options().visibility.count() / 100};
                made.add(queue_property::step, value_view{next});
                made.add(queue_property::steps, value_view{hash});
                made.add(queue_property::visible_at, value_view{until});
                made.add(queue_property::deliveries, value_view{std::int32_t{0}}); // deliveries without progress
                if (!failed.empty()) {
                    made.add(queue_property::failed, value_view{failed});
                    made.add(queue_property::why, value_view{why}); // read by older programs
                }
            },
            beside);
        if (recorded) {
            held.step = next;
            held.steps = hash;
            held.visible_at = until;
        }
        return recorded;
    };
    // A run that ended before it was recorded may have had its effect: `no_effect` is trusted only if no earlier run is
    // possible.
    bool recorded_before = false; // whether this call recorded the preceding step
    bool const maybe_first =
        !std::exchange(held.begun, true) && held.deliveries == 1 && held.step == 0 && held.steps == 0;
    std::string why;
    while (held.step >= 0 && held.step < count) {
        lane_changes changes{held.lane};
        auto done = program.effect(static_cast<std::size_t>(held.step), changes);
        if (done) {
            ENTITABLE_CHECK(advance(held.step + 1, {}, {}, changes.all()));
            recorded_before = true;
            continue;
        }
        if (may_pass(done.error()) || to_undo(count) == 0) { return std::move(done).as_failure(); }
        bool const nothing =
            done.had_no_effect() && (recorded_before || (held.step == 0 && maybe_first && is_first_run(queue, held)));
        std::string const all = done.error().to_string();
        why = first_bytes(all, most_of_failed_step);
        std::string const failed = text::joined({std::to_string(held.step), nothing ? "-" : "!", why});
        ENTITABLE_CHECK(
            advance(-1 - to_undo(held.step + (nothing ? 0 : 1)), failed, first_bytes(all, most_of_a_reason), {}));
    }
    if (held.step == count) { return saga_outcome{saga_end::completed, {}}; }
    // A step number below -1 encodes how many steps remain to be undone, starting with the failed step.
    while (held.step < -1) {
        std::int32_t const last = -2 - held.step;
        ENTITABLE_CHECK(program.undo(static_cast<std::size_t>(last)));
        ENTITABLE_CHECK(advance(-1 - to_undo(last), {}, {}, {}));
    }
    if (why.empty()) { ENTITABLE_TRY(why, stored_reason(queue, held, program.count)); }
    return saga_outcome{saga_end::compensated, std::move(why)};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
