// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/messaging/saga.hpp>
#include <entitable/request/idempotency.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::int64_t steps_hash(
    std::string_view name, std::string_view const* steps, std::size_t count) noexcept {
    std::uint64_t hash = 14695981039346656037U;
    auto const add = [&](std::string_view part) {
        for (char const character : part) {
            hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211U;
        }
        hash *= 1099511628211U; // the byte 0
    };
    add(name);
    for (std::size_t index = 0; index < count; ++index) {
        add(steps[index]);
    }
    return static_cast<std::int64_t>(hash);
}

/// Whether a step may succeed another time.
ENTITABLE_DECL bool may_pass(error const& problem) noexcept {
    switch (problem.code) {
        case error_code::update_condition_not_satisfied:
        case error_code::cancelled:
        case error_code::deadline_exceeded:
        case error_code::receipt_lost: return true;
        default: return problem.effect == effect::unknown || worth_retrying(problem);
    }
}

ENTITABLE_DECL result<saga_outcome> resume_saga(queue_core const& queue, receipt& held, saga_program const& program) {
    std::int64_t const hash = steps_hash(program.name, program.steps, program.count);
    auto const count = static_cast<std::int32_t>(program.count);
    if ((held.steps != 0 && held.steps != hash) || held.step > count || held.step < -1 - count) {
        std::string names;
        for (std::size_t index = 0; index < program.count; ++index) {
            names.append(index == 0 ? "" : ", ").append(program.steps[index]);
        }
        return failure{error_code::saga_differs,
            text::joined({"the message was begun with the steps number ", std::to_string(held.steps),
                "; this program has ", program.name, ": ", names, ", number ", std::to_string(hash)})};
    }
    auto const advance = [&](std::int32_t next, std::string_view why, std::vector<mutation> const& beside) {
        date_time until{};
        auto recorded = queue.write(
            held,
            [&](row_builder& made) {
                until = {held.store_time(queue.time().steady()).ticks + queue.options().visibility.count() / 100};
                made.add(queue_property::step, value_view{next});
                made.add(queue_property::steps, value_view{hash});
                made.add(queue_property::visible_at, value_view{until});
                if (!why.empty()) {
                    made.add(queue_property::why, value_view{why});
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
    std::string why;
    while (held.step >= 0 && held.step < count) {
        lane_changes changes{held.lane};
        auto done = program.effect(static_cast<std::size_t>(held.step), changes);
        if (!done && (may_pass(done.error()) || !program.undoes)) {
            return std::move(done).as_failure();
        }
        if (done) {
            ENTITABLE_CHECK(advance(held.step + 1, {}, changes.all()));
        } else {
            why = done.error().to_string();
            ENTITABLE_CHECK(advance(-1 - held.step, why, {}));
        }
    }
    if (held.step == count) {
        return saga_outcome{saga_end::completed, {}};
    }
    // What is below zero: so many steps were done before one failed, and are to be undone.
    while (held.step < -1) {
        ENTITABLE_CHECK(program.undo(static_cast<std::size_t>(-2 - held.step)));
        ENTITABLE_CHECK(advance(held.step + 1, {}, {}));
    }
    if (why.empty()) {
        ENTITABLE_TRY(why, queue.reason(held));
    }
    return saga_outcome{saga_end::compensated, std::move(why)};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
