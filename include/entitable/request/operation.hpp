// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Resumable operations: whatever takes more than one request is a value that says what it wants next and is
/// told the answer. An operation knows no transport and no clock, so it is tested step by step; the drivers are in the
/// transport room, and an asynchronous one is one more function.

#include <entitable/core/clock.hpp>
#include <entitable/core/error.hpp>

#include <concepts>

ENTITABLE_BEGIN_NAMESPACE

/// What an operation wants.
enum class next_step : std::uint8_t {
    send, ///< its request sent, and the answer
    wait, ///< to be asked again at `wakes_at()`
    done, ///< nothing more: `finish()` has the result
};

/// A resumable operation.
///
/// Semantic rules:
/// 1. `next()` changes nothing: asked twice it says the same.
/// 2. After `send`, `visit(f)` calls `f(request)` once with the request, which stays valid until `answer`.
/// 3. After `answer(response)` or, where it waited, after the time has come, `next()` is asked again.
/// 4. `abandon(error)` ends it early, at any step but `done`: the deadline passed, or the caller cancelled.
/// 5. `finish()` is called once, after `done`.
template <class T>
concept operation = requires(T& op, error const& reason) {
    { op.next() } -> std::same_as<next_step>;
    { op.wakes_at() } -> std::same_as<steady_time>;
    op.visit([](auto const&) {});
    op.abandon(reason);
    op.finish();
};

ENTITABLE_END_NAMESPACE
