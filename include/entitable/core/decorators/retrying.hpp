// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `retrying<T>`: a transport that retries transient failures, and determines the outcome of a write whose response was lost.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/decorators/detail/retry_course.hpp>
#include <entitable/core/decorators/detail/retry_operation.hpp>
#include <entitable/core/random_seed.hpp>
#include <entitable/core/request/operation_row.hpp>
#include <entitable/core/request/profile.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/transport/channel.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The transaction that replaces a write.
struct write_with_row {
    transact sent;            ///< transaction whose first change inserts the operation row
    std::string operation_id; ///< id in the row's key
    bool given{};             ///< id set by the caller: another process may have sent the write before
};

/// The kind of a transaction that inserts its operation row.
[[nodiscard]] inline request_kind kind_with_row(transact const& request) noexcept {
    return kind_of(request) == request_kind::merging_batch ? request_kind::merging_batch_with_operation
                                                           : request_kind::batch_with_operation;
}

/// Puts the operation row first, with the id of the call or a new id. Errors: InvalidInput if the batch is full, or if the id cannot be
/// part of a key.
[[nodiscard]] result<write_with_row> with_operation_row(
    transact request, call const& context, retry_ledger& ledger, profile const& limits);
[[nodiscard]] inline result<write_with_row> with_operation_row(
    write_entity const& request, call const& context, retry_ledger& ledger, profile const& limits) {
    return with_operation_row(transact{request.table, {request.change}}, context, ledger, limits);
}

/// Converts the response to the transaction into the response to the write.
[[nodiscard]] result<transact::response> without_operation_row(
    transact const& asked, result<transact::response> answered, std::string const& operation_id);
[[nodiscard]] result<written> without_operation_row(
    write_entity const& asked, result<transact::response> answered, std::string const& operation_id);

/// Retries requests of `below`, as documented for `retrying`. `limits` are those of the transport below.
[[nodiscard]] shared<channel> open_retrying_channel(
    shared<channel> below, shared<retry_ledger> ledger, bool operation_rows, profile const& limits, io_driver& io);

} // namespace detail

/// Options of `retrying`.
struct retrying_options {
    retry_policy policy{retry_policy::interactive()}; ///< retries and delays
    /// The retry budget shared by all copies: a retry costs 1, a successful call refunds 0.1. Once the budget is spent, the requests to a
    /// failing service exceed the calls by at most a tenth. 0: unlimited.
    std::uint32_t quota{100};
    /// Whether each write gets an operation row, which distinguishes a lost write from a write by another writer. Cost: one row for each
    /// write, stored until `sweep_operation_rows`, and one operation of a batch. See `retrying`.
    bool operation_rows{};
    clock* time{&system_clock()};        ///< must outlive the transport
    std::optional<std::uint64_t> seed{}; ///< seed for delays and operation ids; random by default
};

/// A transport that retries requests to another transport: after a lost or unusable response, a busy store, a moving shard, 408, 429, 500,
/// 502, 503 and 504; never after any other 4xx, or after 501 or 505 (`worth_retrying`). The delays are those of the
/// policy, or a longer Retry-After. A call ends at its deadline (`call::deadline`): a wait that would exceed it is not
/// started, and the latest error is returned. A cancellation ends a wait within 5 ms.
///
/// The outcome of a retried write whose response was lost:
/// - An insert that then finds an entity reads it. If every property has the value that was sent, the insert succeeds,
///   with `written::after_retry` and the entity's ETag; an equal entity from another writer counts as the inserted one,
///   so rows that act as locks need a value that no other writer uses. Otherwise the error is EntityAlreadyExists with
///   unknown effect: the entity was inserted by another writer, or by this insert and changed later.
/// - A removal that then finds nothing is a success, even if another writer removed the entity.
/// - A replace or merge by ETag that then finds a different version has an unknown effect and is never a plain conflict. The same holds for
///   every other undecidable write, see `idempotency_table`. `resolve` may determine the outcome later.
/// - A retried write without a condition may undo a change that another writer made after the first attempt. If that matters, write by
///   ETag.
///
/// Without operation rows all of this assumes that an attempt that timed out cannot be applied after the response to a later attempt: give
/// the service a shorter time-out than its client.
///
/// With `operation_rows`, or with `call::operation_id` set, a write is a transaction whose first change inserts a row named after the
/// operation (`operation_row`). Every lost write is then settled: it is sent again, and succeeds, or is refused permanently because its
/// ETag is no longer stored; after any other refusal it is abandoned, by inserting that row as void, before its error is returned. So
/// `effect::none` also covers attempts that arrive late. The ETag of a success settled this way is empty.
///
/// An attempt that received a response is assumed to be delivered once. If the network may deliver it again much later, set your own id:
/// each refused write is then abandoned, unless its ETag is no longer stored.
///
/// A caller that sets the id can send the write again with the same id, even from another process: it is applied once,
/// and succeeds each time (`written::after_retry`). A different write under the id is refused with OperationIdTaken. A
/// refused write is abandoned under its id permanently if an earlier attempt may be in flight, which is assumed for
/// every id set by a caller: if the write is sent again, it is refused with OperationVoid. An id is valid for
/// `operation_row::retention` after its first use. A batch can have one change fewer, because the operation row counts
/// as a change. The rows are system rows (`system_row`): readers of entities skip them. They are stored until
/// `sweep_operation_rows`. If they are removed earlier, or the table is dropped, a retry can no longer be distinguished
/// from a new write.
///
/// The backend below sends each attempt once: its own retries (`rest_options::retries`) end where a `retrying` begins. With
/// `call_options::retry` off, each request is sent once.
///
/// A cheap handle: copies share quota and random numbers. After a move it returns InvalidInput. Errors: each has `attempts`, and
/// `operation_id` if the effect is unknown and there is an id; with an invalid policy every request returns OutOfRangeInput. Thread safety:
/// safe to use from several threads. Cost: a branch and a check of the quota for a call that succeeds on the first attempt; a point read
/// copies its row, although the wrapped transport may pass it to a visitor (`read_entity`).
template <transport T>
class retrying {
public:
    using is_transport = void; ///< opts in to `transport`

    // Takes exactly a T: no conversion is tried, not even when any_store checks whether this type is a transport.
    /// Retries requests of `wrapped`.
    template <std::same_as<T> Wrapped>
    explicit retrying(Wrapped wrapped, retrying_options const& options = {})
        : wrapped_(std::move(wrapped)),
          ledger_(shared<detail::retry_ledger>::make(
              options.policy, options.quota, options.seed ? *options.seed : random_seed())),
          time_(options.time),
          operation_rows_(options.operation_rows) {}
    /// Retries with the given ledger, whose quota it shares. Used by backends that repeat by themselves.
    retrying(T wrapped, shared<detail::retry_ledger> ledger, clock& time)
        : wrapped_(std::move(wrapped)), ledger_(std::move(ledger)), time_(&time), operation_rows_(false) {}

    /// Profile of the wrapped transport; with operation rows a batch can have one change fewer.
    [[nodiscard]] entitable::profile profile() const {
        entitable::profile below = wrapped_.profile();
        below.max_operations -= operation_rows_ ? 1 : 0;
        below.operation_ids = true;
        return below;
    }

    /// Retries a request as its kind permits, until the deadline of the call.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (!ledger_) { return detail::moved_from("transport"); }
        detail::repeated_call_mark const mark{*ledger_, context};
        return as_operation(request, context, *time_, [&] { return send(request, context); });
    }

    /// Opens a channel in which retries wait while other requests continue. Returns null if the options and the driver have different
    /// clocks.
    [[nodiscard]] shared<channel> open(io_driver& io) const {
        return ledger_ && time_ == &io.time() ? detail::open_retrying_channel(open_channel(any_store{wrapped_}, io),
                                                    ledger_, operation_rows_, wrapped_.profile(), io)
                                              : shared<channel>{};
    }

    [[nodiscard]] T& wrapped() const noexcept { return wrapped_; } ///< the wrapped transport

    /// Number of retries left in the quota.
    [[nodiscard]] std::int64_t quota_left() const noexcept { return ledger_ ? ledger_->left() : 0; }

private:
    [[nodiscard]] bool keeps_rows(call const& context) const noexcept {
        return operation_rows_ || !context.operation_id.empty();
    }

    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> send(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, write_entity>) {
            // System rows need no operation row: operation rows are voided and removed through this transport.
            if (keeps_rows(context) && !system_row::is_one(request.change.entity.row_key())) {
                return execute_with_row(request, context);
            }
        } else if constexpr (std::same_as<Request, transact>) {
            if (operation_row::is_first_of(request)) {
                return attempt(request, detail::kind_with_row(request), context, true);
            }
            if (keeps_rows(context)) { return execute_with_row(request, context); }
        }
        return attempt(request, kind_of(request), context);
    }

    template <class Request>
    [[nodiscard]] result<response_of<Request>> attempt(
        Request const& request, request_kind kind, call& context, bool lost = false) const {
        if (!ledger_->usable()) { return failure{ledger_->usable().error()}; }
        auto first = entitable::execute(wrapped_, request, context);
        if (first) {
            ledger_->earn();
            return first;
        }
        if (ledger_->leaves(first.error(), kind, context)) { return first; }
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
        ENTITABLE_TRY(auto write, detail::with_operation_row(request, context, *ledger_, wrapped_.profile()));
        auto answered = attempt(write.sent, detail::kind_with_row(write.sent), context, write.given);
        return detail::without_operation_row(request, std::move(answered), write.operation_id);
    }

    mutable T wrapped_;
    shared<detail::retry_ledger> ledger_;
    clock* time_;
    bool operation_rows_;
};

/// Wraps any transport.
template <transport T>
retrying(T, retrying_options const& = {}) -> retrying<T>;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/decorators/impl/retrying_channel.ipp>
#endif

#endif
