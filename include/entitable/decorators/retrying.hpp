// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `retrying<T>`: a transport that retries what may succeed later, and finds out what became of a write whose answer was lost.

#include <entitable/core/random_seed.hpp>
#include <entitable/decorators/detail/retry_operation.hpp>
#include <entitable/decorators/detail/retrying_channel.hpp>
#include <entitable/decorators/detail/write_with_row.hpp>
#include <entitable/row/system_rows.hpp>
#include <entitable/transport/any_transport.hpp>
#include <entitable/transport/run.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a `retrying`.
struct retrying_options {
    retry_policy policy{retry_policy::interactive()}; ///< when a request is retried
    /// The retry budget shared by all copies: a retry costs 1, a call that succeeds refunds 0.1. Once it is spent, a service in trouble gets
    /// at most a tenth more requests than calls. 0 for no bound.
    std::uint32_t quota{100};
    /// Whether each write keeps an operation row, which tells a lost write from another's. Cost: one row for each write, which stays until
    /// `sweep_operation_rows`, and one operation of a batch. See `retrying`.
    bool operation_rows{};
    clock* time{&system_clock()};        ///< must outlive the transport
    std::optional<std::uint64_t> seed{}; ///< of waits and operation ids; by default a random one
};

/// A transport that retries the requests of another one: those with lost and unusable answers, a busy store, a shard on the move, 408, 429,
/// 500, 502, 503 and 504; never another 4xx, 501 or 505 (`worth_retrying`). The waits are those of the policy, or a longer Retry-After. A call
/// ends at its deadline (`call::deadline`): a wait that would outlast it is not begun, and the last error is the answer. A wait sees a
/// cancellation within 5 ms.
///
/// What a retried write means whose answer was lost:
/// - An insert that then meets an entity reads it back. Where every property is as sent it is a success, `written::after_retry`, with the
///   ETag; an equal entity of another writer counts as its own. So rows that act as locks hold a value that no other writer uses. Else it is
///   EntityAlreadyExists of unknown effect: the entity of another writer, or its own, changed since.
/// - A removal that then finds nothing is a success, whoever removed the entity.
/// - A replace or merge by ETag that then meets another version has an unknown effect, never a plain conflict; so has every other write
///   that cannot be decided, see `idempotency_table`. `resolve` may know more, later.
/// - A write without condition, retried, may undo what another writer did since the first attempt. Where that matters write by ETag.
///
/// Without operation rows all of this assumes that an attempt that timed out can no longer be applied once a later attempt was answered:
/// give the service a shorter time-out than its client.
///
/// With `operation_rows`, or with `call::operation_id` set, a write is a transaction whose first change inserts a row named after the
/// operation (`operation_row`). Every lost write is then settled: it is sent again, and succeeds, or is refused for good because an ETag of
/// it is gone; refused in any other way it is given up, by inserting that row void, before its error is returned. So effect none holds for
/// late attempts too. The ETag of a success that was settled so is empty.
///
/// An attempt that was answered counts as delivered once. Where something between here and the service may deliver it again much later, give
/// an id of your own: each refusal is then given up, unless an ETag is gone.
///
/// A caller that gives the id can send the write again with it, from another process too: it is applied once, and a success each time
/// (`written::after_retry`). Another write under the id is refused with OperationIdTaken. A write that was refused is given up under its id
/// for good, where an earlier attempt may be on its way, which is assumed for each id that a caller gives: sent again it is OperationVoid. An
/// id is valid for `operation_row::retention` after its first use. A batch has one change less. The rows are system rows (`system_row`):
/// readers of entities do not meet them. They stay until `sweep_operation_rows`. Removing them earlier, or dropping the table, removes what
/// tells a retry from a new write.
///
/// A cheap handle: copies share quota and random numbers. One that was moved from answers InvalidInput. Errors: with `attempts`, and
/// `operation_id` when their effect is unknown and there is one; OutOfRangeInput to every request for a policy that is not valid. Thread
/// safety: safe to use from several threads. Cost: a branch and a look at the quota for a call that succeeds at once; a point read copies
/// its row, where the transport below may pass it to a visitor (`read_entity`).
template <transport T>
class retrying {
public:
    using is_transport = void; ///< opts in to `transport`

    // Exactly a T: nothing is converted, not even to the any_transport that asks whether this is a transport.
    /// Retries requests of `wrapped`.
    template <std::same_as<T> Wrapped>
    explicit retrying(Wrapped wrapped, retrying_options const& options = {})
        : wrapped_(std::move(wrapped)),
          ledger_(shared<detail::retry_ledger>::make(
              options.policy, options.quota, options.seed ? *options.seed : random_seed())),
          time_(options.time),
          operation_rows_(options.operation_rows) {}

    /// Of the transport below; a batch has one change less where operation rows are kept.
    [[nodiscard]] entitable::profile profile() const {
        entitable::profile below = wrapped_.profile();
        below.max_operations -= operation_rows_ ? 1 : 0;
        below.operation_ids = true;
        return below;
    }

    /// Retries a request as its kind allows, until the deadline of the call.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        return ledger_ ? as_operation(request, context, *time_, [&] { return send(request, context); })
                       : detail::moved_from("transport");
    }

    /// A channel in which retries wait beside other requests. None where waits go by another clock than the driver's.
    [[nodiscard]] shared<channel> open(io_driver& io) const {
        return ledger_ && time_ == &io.time() ? detail::open_retrying_channel(open_channel(any_transport{wrapped_}, io),
                                                    ledger_, operation_rows_, wrapped_.profile(), io)
                                              : shared<channel>{};
    }

    /// Retries that the quota has left.
    [[nodiscard]] std::int64_t quota_left() const noexcept { return ledger_ ? ledger_->left() : 0; }

private:
    [[nodiscard]] bool keeps_rows(call const& context) const noexcept {
        return operation_rows_ || !context.operation_id.empty();
    }

    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> send(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, write_entity>) {
            // A system row needs none: operation rows are voided and removed through here.
            if (keeps_rows(context) && !system_row::is_one(request.change.entity.row_key())) {
                return execute_with_row(request, context);
            }
        } else if constexpr (std::same_as<Request, transact>) {
            if (operation_row::is_first_of(request)) {
                return attempt(request, detail::kind_with_row(request), context, true);
            }
            if (keeps_rows(context)) {
                return execute_with_row(request, context);
            }
        }
        return attempt(request, kind_of(request), context);
    }

    template <class Request>
    [[nodiscard]] result<response_of<Request>> attempt(
        Request const& request, request_kind kind, call& context, bool lost = false) const {
        if (!ledger_->usable()) {
            return failure{ledger_->usable().error()};
        }
        auto first = entitable::execute(wrapped_, request, context);
        if (first) {
            ledger_->earn();
            return first;
        }
        return go_on(request, kind, std::move(first), context, lost);
    }

    template <class Request>
    [[nodiscard]] result<response_of<Request>> go_on(Request const& request, request_kind kind,
        result<response_of<Request>>&& first, call& context, bool lost) const {
        detail::retry_operation<Request> repeated{request, kind, *ledger_, context.deadline, lost};
        repeated.answer(std::move(first), time_->steady());
        auto outcome = run(repeated, context, *time_, wrapped_);
        context.attempts = context.attempts < repeated.attempts() ? repeated.attempts() : context.attempts;
        return outcome;
    }

    template <class Request>
    [[nodiscard]] result<response_of<Request>> execute_with_row(Request const& request, call& context) const {
        auto write = detail::with_operation_row(request, context, *ledger_, wrapped_.profile());
        if (!write) {
            return std::move(write).as_failure();
        }
        auto answered = attempt(write->sent, detail::kind_with_row(write->sent), context, write->given);
        return detail::without_operation_row(request, std::move(answered), write->operation_id);
    }

    mutable T wrapped_;
    shared<detail::retry_ledger> ledger_;
    clock* time_;
    bool operation_rows_;
};

/// Of any transport.
template <transport T>
retrying(T, retrying_options const& = {}) -> retrying<T>;

ENTITABLE_END_NAMESPACE
