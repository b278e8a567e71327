// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `saga_for<T>`: work of several steps, each in its own partition, table or store. An interrupted saga is resumed at the step where it
/// stopped:
///
///     auto remove_channel = saga_for<deletion>("remove_channel",
///         step("mark", [&](deletion const& it) { return channels.update_if_present(it.channel, ...); }),
///         step("posts", [&](deletion const& it) { return bulk_remove(posts, posts.where(...)); }));
///     auto ended = remove_channel.resume(*item);
///
/// A step may run twice, and may still be running in a slow worker. So make each step idempotent and harmless when
/// late: read the intended entity (by an id that is unique to the entity and is in the message), change it under the
/// ETag that was read, use `any_etag` only on keys with that id, and do not upsert.
///
/// A saga ends completed, compensated, or as a dead letter that records the completed steps. `stuck` lists such dead letters,
/// `table_queue::requeue` moves one back into the queue, and the worker that claims it resumes the saga.

#include <entitable/core/result.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/messaging/claimed.hpp>
#include <entitable/work/messaging/table_queue.hpp>

#include <array>
#include <tuple>

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

/// The error of a step that had no effect: this run of the step needs no undo. It is a separate type, because the `effect` of an error
/// describes one request, and the step may have sent other requests before.
class [[nodiscard]] no_effect {
public:
    /// Takes an error.
    explicit no_effect(entitable::error problem) : problem_(std::move(problem)) {}
    /// Makes an error from a code and a message.
    no_effect(error_code code, std::string message) : problem_(code, std::move(message)) {}

    /// The error.
    [[nodiscard]] entitable::error const& error() const& noexcept { return problem_; }
    [[nodiscard]] entitable::error&& error() && noexcept { return std::move(problem_); }

private:
    entitable::error problem_;
};

/// Success, an error after which the step may have had an effect, or an error that states that it had no effect. Thread safety: a value.
class [[nodiscard]] step_result {
public:
    step_result() = default;                                                ///< success
    step_result(failure&& problem) noexcept : ended_(std::move(problem)) {} ///< the step may have had an effect
    /// Success or the error of a result; after an error the step may have had an effect.
    template <class T>
    step_result(result<T> other) : ended_(std::move(other)) {} // NOLINT: implicit, as that of `result<void>`
    /// Takes the error of a step that had no effect.
    step_result(no_effect problem) // NOLINT: implicit on purpose
        : ended_(failure{std::move(problem).error()}), had_no_effect_(true) {}

    explicit operator bool() const noexcept { return ended_.has_value(); }           ///< whether it succeeded
    [[nodiscard]] bool has_value() const noexcept { return ended_.has_value(); }     ///< whether it succeeded
    [[nodiscard]] entitable::error const& error() const { return ended_.error(); }   ///< same as that of `result`
    [[nodiscard]] failure as_failure() && { return std::move(ended_).as_failure(); } ///< same as that of `result`
    [[nodiscard]] bool had_no_effect() const noexcept { return had_no_effect_; }     ///< made from `no_effect`

private:
    result<void> ended_;
    bool had_no_effect_{};
};

/// How a saga ended.
enum class saga_end : std::uint8_t {
    completed,   ///< all steps were done
    compensated, ///< a step failed permanently, and it and the steps before it were undone
};

/// A saga that ended.
struct saga_outcome {
    saga_end end{};       ///< how the saga ended
    std::string reason{}; ///< error of the failed step, if the saga was compensated
};

/// Changes of rows in the message's lane, made in one transaction with the progress of the saga: exactly once.
class lane_changes {
public:
    /// Makes an empty list of changes for a lane.
    explicit lane_changes(std::string lane) : lane_(std::move(lane)) {}

    /// Returns the partition key that the changed rows must have.
    [[nodiscard]] std::string const& partition_key() const noexcept { return lane_; }
    /// Adds a change of a row with that partition key; at most 99, or 98 over operation rows.
    void add(mutation change) { changes_.push_back(std::move(change)); }
    /// Returns the changes that were added.
    [[nodiscard]] std::vector<mutation> const& all() const noexcept { return changes_; }

private:
    std::string lane_;
    std::vector<mutation> changes_;
};

namespace detail {

struct no_compensation {};

/// A step and its undo function.
template <class Effect, class Undo = no_compensation>
struct saga_step {
    std::string_view name;
    Effect effect;
    Undo undo;
};

/// The steps of a saga as functions, in execution order.
struct saga_program {
    std::string_view name;
    std::string_view const* steps;
    bool const* undoes; ///< which steps can be undone
    std::size_t count;
    function_ref<step_result(std::size_t, lane_changes&)> effect;
    function_ref<result<void>(std::size_t)> undo;
};
/// A hash of a saga's name and of the names of its steps.
[[nodiscard]] std::int64_t steps_hash(std::string_view name, std::string_view const* steps, std::size_t count) noexcept;
/// Runs a saga from its last recorded step.
[[nodiscard]] result<saga_outcome> resume_saga(queue_core const& queue, receipt& held, saga_program const& program);

template <class Effect, class T>
[[nodiscard]] step_result run_effect(Effect const& effect, T const& message, lane_changes& changes) {
    if constexpr (std::is_invocable_v<Effect const&, T const&, lane_changes&>) {
        return step_result{effect(message, changes)};
    } else {
        return step_result{effect(message)};
    }
}

template <class Step, class T>
concept saga_step_of = std::is_invocable_v<decltype(Step::effect) const&, T const&, lane_changes&> ||
    std::is_invocable_v<decltype(Step::effect) const&, T const&>;

/// Whether a function can be called with these arguments and its return value converts to `Result`.
template <class Result, class F, class... Arguments>
[[nodiscard]] consteval bool tells_a_result() {
    if constexpr (std::is_invocable_v<F const&, Arguments...>) {
        return std::is_constructible_v<Result, std::invoke_result_t<F const&, Arguments...>>;
    } else {
        return false;
    }
}
template <class Step, class T>
concept saga_step_with_result =
    !saga_step_of<Step, T> || tells_a_result<step_result, decltype(Step::effect), T const&, lane_changes&>() ||
    tells_a_result<step_result, decltype(Step::effect), T const&>();
template <class Step, class T>
concept saga_step_with_undo = std::is_same_v<decltype(Step::undo), no_compensation> ||
    tells_a_result<result<void>, decltype(Step::undo), T const&>();

} // namespace detail

/// A step and its name, of which a hash is stored: never change it. `effect(message)`, or `effect(message, lane_changes&)`, returns a
/// `result`, or a `step_result` that can state that it had no effect. The name outlives the saga: use a literal.
template <class Effect>
[[nodiscard]] constexpr auto step(std::string_view name, Effect effect) {
    return detail::saga_step<Effect>{name, std::move(effect), {}};
}
/// A step that `undo(message)` undoes when this step or a later step fails permanently. Like the step, `undo` must be
/// idempotent and harmless when late. It succeeds if there is nothing to undo. It must also make a late run of the step
/// fail, with a mark that the step reads.
template <class Effect, class Undo>
[[nodiscard]] constexpr auto step(std::string_view name, Effect effect, Undo undo) {
    return detail::saga_step<Effect, Undo>{name, std::move(effect), std::move(undo)};
}

/// Steps for messages of type `T`: made by `saga_for`. Safe to use from several threads if its steps are.
template <mapped_entity T, class... Steps>
class saga {
    static_assert(sizeof...(Steps) > 0, "a saga needs at least one step");
    static_assert((detail::saga_step_of<Steps, T> && ...),
        "the effect of a step must take the message by const reference, and optionally a lane_changes&");
    static_assert(
        (detail::saga_step_with_result<Steps, T> && ...), "the effect of a step must return an entitable::result");
    static_assert((detail::saga_step_with_undo<Steps, T> && ...),
        "the undo of a step must take the message by const reference, and return an entitable::result");

public:
    /// Makes a saga with a name, which is part of the stored hash.
    constexpr explicit saga(std::string_view name, Steps... steps) : name_(name), steps_(std::move(steps)...) {}

    [[nodiscard]] std::string_view name() const noexcept { return name_; } ///< name of the saga
    /// Returns the names of the steps, in order.
    [[nodiscard]] std::array<std::string_view, sizeof...(Steps)> steps() const {
        return std::apply([](auto const&... each) { return std::array{each.name...}; }, steps_);
    }

    /// Runs the steps, beginning with the step that the message records. Records each completed step in the message under its receipt, which renews the
    /// claim. At the end the caller completes the message. After an error the message is not changed: it is delivered again when the claim
    /// expires, or earlier after `release`, and the worker that claims it resumes the saga.
    ///
    /// A transient error of a step (an unknown effect, a version that has changed, a service that is busy, a cancellation, a deadline, a
    /// lost receipt) ends the run. Any other error is permanent. In a saga without an undo it is returned. Otherwise the step that failed
    /// is undone, then the steps before it, from the last to the first, and the outcome is `compensated`. If an
    /// `undo` returns an error, the run ends, and the next run begins with this undo.
    ///
    /// A step that returns `no_effect` is not undone, provided that no earlier run of the step is possible: this call has recorded the
    /// preceding step; or it is the first step, the message was claimed for the first time, and this is the first `resume` of the claim. An
    /// earlier run may have ended between its effect and the record. In a queue of format 1 the first step is always undone.
    ///
    /// Each record restarts the count for `max_deliveries`: a message is given up after `max_deliveries` deliveries
    /// without progress, and `stuck` lists it.
    ///
    /// Errors: those above; SagaDiffers if a program with different steps started the message; ReceiptLost if another
    /// worker holds the message and resumes the saga. Cost: one request for each step, in addition to its effect; one
    /// for each step that is undone, and one to record the failed step.
    [[nodiscard]] result<saga_outcome> resume(claimed<T>& item) const {
        auto const names = steps();
        T const& message = item.message();
        auto const effect = [&](std::size_t index, lane_changes& changes) {
            return at(index, [&](auto const& one) { return detail::run_effect(one.effect, message, changes); });
        };
        auto const undo = [&](std::size_t index) {
            return at(index, [&]([[maybe_unused]] auto const& one) -> result<void> {
                if constexpr (!std::is_same_v<decltype(one.undo), detail::no_compensation>) {
                    return result<void>{one.undo(message)};
                } else {
                    return {};
                }
            });
        };
        return detail::resume_saga(detail::claimed_access::queue_of(item), detail::claimed_access::receipt_of(item),
            {name_, names.data(), undoes.data(), names.size(), effect, undo});
    }

    /// The dead letters of a queue, with the known state of each step. Fix the cause and call `table_queue::requeue` with the letter: the worker that
    /// claims the message resumes the saga at its last recorded step. Errors and cost: those of `table_queue::dead_letters`.
    [[nodiscard]] result<std::vector<stuck_saga<T>>> stuck(table_queue<T> const& queue) const {
        ENTITABLE_TRY(auto letters, queue.dead_letters());
        auto const names = steps();
        std::int64_t const hash = detail::steps_hash(name_, names.data(), names.size());
        result<std::vector<stuck_saga<T>>> all{std::in_place};
        for (dead_letter<T>& each : letters) {
            auto place = detail::saga_place_of(each.stored, hash, undoes.data(), names.size());
            stuck_saga<T>& made = all->emplace_back();
            made.letter = std::move(each);
            made.failed_because = std::move(place.why);
            made.going_back = place.going_back;
            for (std::size_t index = 0; index < place.states.size(); ++index) {
                made.steps.push_back({names[index], place.states[index]});
            }
        }
        return all;
    }

private:
    static constexpr std::array undoes{!std::is_same_v<decltype(Steps::undo), detail::no_compensation>...};

    /// Calls `f(step)` for the step with this number.
    template <class F>
    [[nodiscard]] auto at(std::size_t index, F const& f) const {
        std::invoke_result_t<F const&, std::tuple_element_t<0, std::tuple<Steps...>> const&> ended;
        std::apply(
            [&](auto const&... each) {
                std::size_t number = 0;
                static_cast<void>(((number++ == index && (ended = f(each), true)) || ...));
            },
            steps_);
        return ended;
    }

    std::string_view name_;
    std::tuple<Steps...> steps_;
};

/// A saga with these steps for each message of type `T`. A hash of the names and their order is stored: messages in the queue need the same
/// steps. The queue does not store which steps have an undo: do not add or remove one while messages are in flight.
template <mapped_entity T, class... Steps>
[[nodiscard]] constexpr saga<T, Steps...> saga_for(std::string_view name, Steps... steps) {
    return saga<T, Steps...>{name, std::move(steps)...};
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/messaging/impl/saga.ipp>
#endif
