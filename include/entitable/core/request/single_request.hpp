// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `single_request`: the operation of one request; `concluded`: an operation whose result is converted.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/operation.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// The operation of one request. The response is the result. `Kept`: a pointer to a request that must outlive the operation, or the request
/// itself.
template <table_request Request, class Kept = Request const*>
class single_request {
public:
    using request_type = Request; ///< kind of its request

    /// Refers to a request, which must outlive it.
    explicit single_request(Request const& asked) noexcept
        requires std::same_as<Kept, Request const*>
        : request_(&asked) {}
    /// Makes and owns a request with these members.
    template <class... Members>
    explicit single_request(std::in_place_t, Members&&... members) : request_{std::forward<Members>(members)...} {}
    /// Sends nothing: the error is the result.
    explicit single_request(failure&& problem) : request_{}, answer_(std::move(problem)) {}

    /// The request; null after its response.
    [[nodiscard]] Request const* request() const noexcept {
        if constexpr (std::same_as<Kept, Request const*>) {
            return answer_ ? nullptr : request_;
        } else {
            return answer_ ? nullptr : &request_;
        }
    }
    /// The request; none after its response.
    [[nodiscard]] operation_step next() const noexcept {
        return answer_ ? operation_step{} : operation_step{*request()};
    }
    /// Takes the response.
    void answer(result<response_of<Request>> answered, steady_time) { answer_.emplace(std::move(answered)); }
    /// Ends the operation with this error.
    void abandon(error const& reason) { answer_.emplace(failure{reason}); }
    /// Returns the response.
    [[nodiscard]] result<response_of<Request>> finish() { return *std::move(answer_); }
    /// Returns the result of `ask(request)`, in one step.
    template <class Ask>
    [[nodiscard]] result<response_of<Request>> finish_with(Ask const& ask) {
        return answer_ ? finish() : ask(*request());
    }

private:
    Kept request_;
    std::optional<result<response_of<Request>>> answer_;
};

/// One request that the operation owns.
template <table_request Request>
using own_request = single_request<Request, Request>;

/// An operation of at most one request that does not use the time: it can be driven without a clock.
template <class Op>
concept operation_of_one = operation<Op> && requires(Op& op) {
    { op.request() } -> std::same_as<typename Op::request_type const*>;
};

/// An operation that converts the result of another operation with `Conclude`.
template <operation Op, class Conclude>
class concluded : public Op {
public:
    using result_type = decltype(Conclude{}(std::declval<Op&>().finish())); ///< converted result
    using Op::Op;
    /// Wraps `inner`.
    explicit concluded(Op inner)
        requires std::move_constructible<Op>
        : Op(std::move(inner)) {}
    /// Returns the converted result.
    [[nodiscard]] result_type finish() { return Conclude{}(Op::finish()); }
    /// Does the same in one step.
    template <class Ask>
    [[nodiscard]] result_type finish_with(Ask const& ask) {
        return Conclude{}(Op::finish_with(ask));
    }
};

ENTITABLE_END_NAMESPACE

#endif
