// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/random_seed.hpp>
#include <entitable/core/transport/attempt.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY request_words words_of(request_ref asked) noexcept {
    request_words words;
    asked.visit([&]<class Request>(Request const& request) {
        words.name = Request::name;
        words.table = table_of(request);
        if constexpr (std::same_as<Request, write_entity>) {
            words.name = to_string(request.change.kind);
        } else if constexpr (std::same_as<Request, transact>) {
            words.batch_size = request.changes.size() > 1 ? request.changes.size() : 0;
        }
    });
    return words;
}

/// Makes the ids of a span below `parent`, or below the caller's own span.
ENTITABLE_LAZY span_ids span_below(call const& context, std::uint64_t own, std::uint64_t parent) noexcept {
    span_ids made{context.trace, parent != 0 ? parent : context.trace.span_id};
    made.own.span_id = own;
    return made;
}

ENTITABLE_LAZY_BODY std::uint64_t draw_span_id(call& context) noexcept {
    std::uint64_t& drawn = context.spans.drawn;
    drawn = drawn == 0 ? random_seed() : drawn;
    std::uint64_t id = 0;
    while (id == 0) { // SplitMix64, as in random_source
        drawn += 0x9E3779B97F4A7C15U;
        id = (drawn ^ (drawn >> 30U)) * 0xBF58476D1CE4E5B9U;
        id = (id ^ (id >> 27U)) * 0x94D049BB133111EBU;
        id ^= id >> 31U;
    }
    return id;
}

ENTITABLE_LAZY_BODY outcome_record outcome_of(error const* problem) noexcept {
    outcome_record made;
    if (problem != nullptr) {
        made.error = problem->code;
        made.effect = problem->effect;
        made.status = problem->http_status;
    }
    return made;
}

ENTITABLE_LAZY_BODY void end_operation(
    request_ref asked, call& context, steady_time begun, steady_time ended, outcome_record outcome) noexcept {
    std::uint64_t const own = std::exchange(context.spans.operation, 0);
    if (context.watch == nullptr || own == 0) { return; }
    auto const [name, table, batch_size] = words_of(asked);
    operation_record done;
    done.span = span_below(context, own, 0);
    done.name = name;
    done.table = table;
    done.batch_size = batch_size;
    done.begun = begun;
    done.ended = ended;
    done.attempts = context.attempts - context.spans.attempts_before;
    done.outcome = outcome;
    if (context.spans.server != nullptr && done.attempts > 0) { done.server = *context.spans.server; }
    context.watch->on_operation(done);
}

ENTITABLE_LAZY_BODY void tell_attempt(request_ref sent, attempt_record& done, call const& context) noexcept {
    if (sent) {
        auto const [name, table, batch_size] = words_of(sent);
        done.name = name;
        done.table = table;
        done.batch_size = batch_size;
    }
    done.span = span_below(context, done.span.own.span_id, context.spans.operation);
    done.number = context.attempts - (context.spans.operation != 0 ? context.spans.attempts_before : 0);
    if (context.spans.server != nullptr) { done.server = *context.spans.server; }
    context.watch->on_attempt(done);
}

ENTITABLE_LAZY_BODY void tell_wait(
    request_ref next, wait_cause cause, call const& context, steady_time begun, steady_time until) noexcept {
    if (context.watch == nullptr) { return; }
    auto const [name, table, batch_size] = words_of(next);
    bool const within = context.spans.operation != 0;
    wait_record wait;
    wait.span = span_below(context, context.spans.operation, 0);
    wait.name = name;
    wait.table = table;
    wait.cause = cause;
    wait.attempts = within ? context.attempts - context.spans.attempts_before : 0;
    wait.begun = begun;
    wait.until = until;
    context.watch->on_wait(wait);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
