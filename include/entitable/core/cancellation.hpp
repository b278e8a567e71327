// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Cancellation: a source cancels the calls that carry its tokens.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/shared.hpp>

ENTITABLE_BEGIN_NAMESPACE

class cancellation_source;

namespace detail {

struct cancellation_flag : counted {
    cancellation_flag() = default;
    explicit cancellation_flag(shared<cancellation_flag> of) noexcept : parent(std::move(of)) {}

    [[nodiscard]] bool is_set() const noexcept {
        return set.load(memory_order::acquire) || (parent && parent->is_set());
    }

    atomic<bool> set{false};
    shared<cancellation_flag> parent{}; ///< parent; once it is set, this flag counts as set too
};

} // namespace detail

/// Shows whether a call was cancelled. A default token is never cancelled. Thread safety: safe to use from several threads.
class cancellation_token {
public:
    cancellation_token() = default;
    /// Whether the token has a source.
    [[nodiscard]] bool has_source() const noexcept { return static_cast<bool>(flag_); }
    /// Whether the source was cancelled.
    [[nodiscard]] bool cancelled() const noexcept { return flag_ && flag_->is_set(); }

private:
    friend class cancellation_source;
    explicit cancellation_token(shared<detail::cancellation_flag> flag) noexcept : flag_(std::move(flag)) {}
    shared<detail::cancellation_flag> flag_;
};

/// Cancels all calls that carry one of its tokens. Copies cancel the same calls; a move copies. Thread safety: safe to use from several
/// threads.
class cancellation_source {
public:
    cancellation_source() = default; ///< nothing is cancelled yet
    /// Cancels its own tokens; a cancellation of `parent` cancels them too. Does not cancel `parent`.
    explicit cancellation_source(cancellation_token const& parent)
        : flag_(shared<detail::cancellation_flag>::make(parent.flag_)) {}
    cancellation_source(cancellation_source const&) = default;            ///< shares the tokens
    cancellation_source& operator=(cancellation_source const&) = default; ///< shares the tokens
    ~cancellation_source() = default;

    /// Cancels all tokens. May be called repeatedly, and from a signal handler.
    void cancel() noexcept { flag_->set.store(true, memory_order::release); }
    /// Returns a token that this source cancels.
    [[nodiscard]] cancellation_token token() const { return cancellation_token{flag_}; }

private:
    shared<detail::cancellation_flag> flag_{shared<detail::cancellation_flag>::make()};
};

ENTITABLE_END_NAMESPACE

#endif
