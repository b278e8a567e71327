// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `sequential_requests`: sequential requests of one kind as an operation, for example the pages of a query.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/operation.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// Sends a request and calls `turn(request, answer)`. `turn` changes the request into the next request and returns
/// true; at the end it returns false; or it returns an error. `turn` must outlive the operation.
template <table_request Request>
class sequential_requests {
public:
    using turn_type = function_ref<result<bool>(Request&, result<response_of<Request>>)>; ///< must not keep references
    sequential_requests(Request first, turn_type turn) : due_(std::move(first)), turn_(turn) {} ///< sends nothing yet

    /// The pending request; none at the end.
    [[nodiscard]] operation_step next() const noexcept { return outcome_ ? operation_step{} : operation_step{due_}; }
    /// Passes the response to the turn.
    void answer(result<response_of<Request>> given, steady_time) {
        auto goes_on = turn_(due_, std::move(given));
        if (!goes_on) {
            outcome_.emplace(std::move(goes_on).as_failure());
        } else if (!*goes_on) {
            outcome_.emplace();
        }
    }
    /// Ends the operation with this error.
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    /// Returns success, or the error of a turn.
    [[nodiscard]] result<void> finish() { return *std::move(outcome_); }

private:
    Request due_;
    turn_type turn_;
    std::optional<result<void>> outcome_;
};

ENTITABLE_END_NAMESPACE

#endif
