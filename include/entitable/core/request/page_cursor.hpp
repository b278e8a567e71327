// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `page_cursor`: the place of a reader among the pages of a query, or of a list of tables.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/kinds.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The request for the next page. Sends nothing, so blocking code, operations and coroutines read pages with it:
///
///     page_cursor pages{std::move(asked)};
///     while (pages.more()) {
///         ENTITABLE_TRY(auto const found, pages.take(store.execute(pages.request(), context)));
///     }
template <table_request Request>
class page_cursor {
public:
    explicit page_cursor(Request first) : due_(std::move(first)) {}

    /// Whether there is another page to read.
    [[nodiscard]] bool more() const noexcept { return !ended_; }
    /// The request for that page.
    [[nodiscard]] Request& request() noexcept { return due_; }
    [[nodiscard]] Request const& request() const noexcept { return due_; }

    /// Takes the response and returns it without its continuation. After an error the same page is to be read.
    [[nodiscard]] result<response_of<Request>> take(result<response_of<Request>>&& answered) {
        if (answered) {
            due_.continuation = std::move(answered->continuation);
            answered->continuation.reset();
            ended_ = !due_.continuation;
            if constexpr (requires { due_.kept; }) { due_.kept = std::move(answered->kept); }
        }
        return std::move(answered);
    }
    /// Starts over, at the first page of the request.
    void restart() noexcept {
        due_.continuation.reset();
        if constexpr (requires { due_.kept; }) { due_.kept = {}; }
        ended_ = false;
    }

private:
    Request due_;
    bool ended_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
