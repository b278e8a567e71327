// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Cancellation: a source that says "stop", and tokens that are asked.

#include <entitable/core/shared.hpp>

ENTITABLE_BEGIN_NAMESPACE

class cancellation_source;

namespace detail {

struct cancellation_flag : counted {
    atomic<bool> set{false};
};

} // namespace detail

/// Asked by whoever works on a call. A default one is never cancelled. Safe to use from several threads.
class cancellation_token {
public:
    cancellation_token() = default;
    /// Whether there is a source that may cancel it.
    [[nodiscard]] bool has_source() const noexcept { return static_cast<bool>(flag_); }
    /// Whether it was cancelled.
    [[nodiscard]] bool cancelled() const noexcept { return flag_ && flag_->set.load(memory_order::acquire); }

private:
    friend class cancellation_source;
    explicit cancellation_token(shared<detail::cancellation_flag> flag) noexcept : flag_(std::move(flag)) {}
    shared<detail::cancellation_flag> flag_;
};

/// Cancels all calls that carry one of its tokens. Safe to use from several threads. Copies cancel the same calls, and to move one
/// is to copy it.
class cancellation_source {
public:
    cancellation_source() = default;                                      ///< has cancelled nothing
    cancellation_source(cancellation_source const&) = default;            ///< shares the tokens
    cancellation_source& operator=(cancellation_source const&) = default; ///< shares the tokens
    ~cancellation_source() = default;

    void cancel() noexcept { flag_->set.store(true, memory_order::release); } ///< tells all tokens; may be called again
    /// A token that this source cancels.
    [[nodiscard]] cancellation_token token() const { return cancellation_token{flag_}; }

private:
    shared<detail::cancellation_flag> flag_{shared<detail::cancellation_flag>::make()};
};

ENTITABLE_END_NAMESPACE
