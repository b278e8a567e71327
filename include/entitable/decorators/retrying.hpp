// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `retrying<T>`: a transport that repeats what may pass by itself, and says what became of a write whose answer was lost.

#include <entitable/core/random_seed.hpp>
#include <entitable/decorators/detail/retry_operation.hpp>
#include <entitable/request/validate.hpp>
#include <entitable/row/system_rows.hpp>
#include <entitable/transport/many.hpp>
#include <entitable/transport/run.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// How a `retrying` goes about it.
struct retrying_options {
    retry_policy policy{retry_policy::interactive()}; ///< when what is repeated
    /// Repetitions in hand, shared by all copies: each costs one, and each call that succeeds gives a tenth back, so that a
    /// service in trouble gets at most a tenth more requests than calls. 0 for no such bound.
    std::uint32_t quota{100};
    /// Whether each write keeps an operation row, which tells a lost write from another's. It costs one row per write, which
    /// stays until `sweep_operation_rows`, and one operation of a batch. See `retrying`.
    bool operation_rows{};
    clock* time{&system_clock()};        ///< must outlive the transport
    std::optional<std::uint64_t> seed{}; ///< of waits and operation ids; by default one that no other process has
};

namespace detail {

/// Keeps the requests of a feed that have to be repeated until the transport below has answered all others.
template <class Request>
class retrying_feed final : public request_feed<Request> {
    using operation_type = retry_operation<Request>;

public:
    retrying_feed(request_feed<Request>& inner, retry_ledger& ledger, clock& time, steady_time deadline)
        : inner_(inner), ledger_(ledger), time_(time), deadline_(deadline) {}

    Request const* next(std::size_t& slot) override {
        Request const* const taken = inner_.next(slot);
        if (taken != nullptr) {
            under_way_.push_back({slot, taken});
        }
        return taken;
    }
    void answer(std::size_t slot, result<response_of<Request>> response) override {
        Request const* request = nullptr;
        for (sent& each : under_way_) {
            if (each.slot == slot) {
                request = each.request;
                each = under_way_.back();
                under_way_.pop_back();
                break;
            }
        }
        if (response) {
            ledger_.earn();
        } else if (request != nullptr) {
            operation_type repeated{*request, kind_of(*request), ledger_, deadline_};
            repeated.answer(std::move(response), time_.steady());
            if (!repeated.next().done()) {
                repeated_.push_back({slot, std::move(repeated)});
                return;
            }
            response = repeated.finish();
        }
        inner_.answer(slot, std::move(response));
    }
    /// Brings what was kept to its end; false when there was nothing.
    template <class T>
    bool drain(T& through, call& context) {
        std::vector<kept> all = std::exchange(repeated_, {});
        for (kept& each : all) {
            inner_.answer(each.slot, run(each.operation, context, time_, through));
        }
        return !all.empty();
    }

private:
    struct sent {
        std::size_t slot;
        Request const* request;
    };
    struct kept {
        std::size_t slot;
        operation_type operation;
    };
    request_feed<Request>& inner_;
    retry_ledger& ledger_;
    clock& time_;
    steady_time deadline_;
    std::vector<sent> under_way_;
    std::vector<kept> repeated_;
};

} // namespace detail

/// A transport that repeats the requests of another one. Repeated are lost and unusable answers, a busy file, 408, 429, 500,
/// 502, 503 and 504; never another 4xx, 501 or 505. The waits are those of the policy; a Retry-After that is longer is kept to. A call ends
/// at its deadline (`call::deadline`): a wait that would outlast it is not begun, and the last error is the answer. A
/// cancellation is seen within 5 ms of a wait.
///
/// What a write means that was repeated because its answer was lost:
/// - An insert that then meets an entity is read back. If every property is as sent it is a success, `written::after_retry`, with
///   the ETag. So rows that act as locks hold something that nobody else writes. If not, the answer is EntityAlreadyExists of
///   unknown effect: it may be another's entity, or the own one that was changed since.
/// - A removal that then finds nothing is a success.
/// - A replace or merge by ETag that then meets another version has an unknown effect, never a plain conflict; so has
///   every other write where it cannot be told, see `idempotency_table`. `resolve` may know more, later.
/// - A write without condition, repeated, may undo what another writer did between the two. Where that matters write by ETag.
///
/// Without operation rows all of it takes a sending whose time is out for dead once a later one was answered. A service is to be told
/// a time-out shorter than the one its client waits.
///
/// With `operation_rows`, or with `call::operation_id` set, a write is a transaction whose first change inserts a row named after the
/// operation (`operation_row`). Then every lost write is settled: it is sent again, and is success, or is refused for good because an
/// ETag of it is gone; refused in any other way it is given up, by inserting that row void, before its error is told. So effect none
/// is true of sendings that are late, too. The ETag of a success that was settled so is empty.
///
/// A sending that was answered is taken for delivered once. Where something between here and the service may deliver it a second time,
/// much later, give an id of your own: then each refusal is given up, unless an ETag is gone.
///
/// A caller that gives the id can ask again with it, from another process too: the write is applied once, and a success each time
/// (`written::after_retry`). Another write under the id is refused with OperationIdTaken. A write that was refused is given up
/// under its id for good, where an earlier sending may be on its way, which is assumed of each id that was given: asked again it is
/// OperationVoid. An id is good for `operation_row::retention` after it was used first. A batch has one change less. The rows are
/// system rows (`system_row`): readers of entities do not meet them. They stay until `sweep_operation_rows`. Who removes them earlier,
/// or drops the table, takes away what tells a repetition from a new write.
///
/// An error says `attempts`, and `operation_id` when its effect is unknown and there is one. A policy that cannot be is
/// answered with OutOfRangeInput to every request. A cheap handle: copies share quota and random numbers. Safe to use from
/// several threads. A call that succeeds at once costs a branch and a look at the quota, and no allocation. One that was moved from
/// answers InvalidInput.
template <transport T>
class retrying {
public:
    using is_transport = void; ///< opts in to `transport`

    // Exactly a T: nothing converts on the way, not even to the any_transport that asks whether this is a transport.
    /// Repeats requests of `wrapped`.
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

    /// Repeats a request as its kind allows, until the deadline of the call.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        return ledger_ ? as_operation(request, context, *time_, [&] { return send(request, context); })
                       : detail::moved_from("transport");
    }

    /// Where the wrapped transport keeps several requests under way, so does this; repetitions go one by one, after the others.
    template <table_request Request>
        requires answers_many<T, Request>
    void execute_many(request_feed<Request>& feed, std::size_t in_flight, call& context) const {
        if (!ledger_ || operation_rows_ || !context.operation_id.empty() || !ledger_->usable()) {
            std::size_t slot = 0;
            while (Request const* request = feed.next(slot)) {
                feed.answer(slot, execute(*request, context));
            }
            return;
        }
        detail::retrying_feed<Request> repeated{feed, *ledger_, *time_, context.deadline};
        do {
            wrapped_.execute_many(repeated, in_flight, context);
        } while (repeated.drain(wrapped_, context));
    }

    /// Repetitions that the quota has left.
    [[nodiscard]] std::int64_t quota_left() const noexcept { return ledger_ ? ledger_->left() : 0; }

private:
    [[nodiscard]] bool keeps_rows(call const& context) const noexcept {
        return operation_rows_ || !context.operation_id.empty();
    }

    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> send(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, write_entity>) {
            // A row of the library's own needs none: operation rows are voided and removed through here.
            if (keeps_rows(context) && !system_row::is_one(request.change.entity.row_key())) {
                return execute_with_row(request, context);
            }
        } else if constexpr (std::same_as<Request, transact>) {
            if (operation_row::is_first_of(request)) {
                return attempt(request, kind_with_row(request), context, true);
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

    [[nodiscard]] static request_kind kind_with_row(transact const& request) noexcept {
        return kind_of(request) == request_kind::merging_batch ? request_kind::merging_batch_with_operation
                                                               : request_kind::batch_with_operation;
    }

    [[nodiscard]] result<written> execute_with_row(write_entity const& request, call& context) const {
        auto answered = execute_with_row(transact{request.table, {request.change}}, context);
        if (!answered) {
            failure refused = std::move(answered).as_failure();
            refused.error().operation_index.reset();
            return refused;
        }
        return std::move(answered->results.front());
    }

    [[nodiscard]] result<transact::response> execute_with_row(transact request, call& context) const {
        entitable::profile const limits = wrapped_.profile();
        if (request.changes.empty() || request.changes.size() >= limits.max_operations) {
            return failure{error_code::invalid_input,
                "a batch that keeps an operation row has at least one operation, and one less than others at most"};
        }
        // An id that the caller gave may have been sent before, by another process.
        bool const given = !context.operation_id.empty();
        std::string const id = given ? context.operation_id : ledger_->new_operation_id();
        if (given) {
            if (auto good = validate_key(operation_row::row_key(id), "operation id", limits); !good) {
                return std::move(good).as_failure();
            }
        }
        transact sent{std::move(request.table), {}};
        sent.changes.reserve(request.changes.size() + 1);
        sent.changes.push_back(mutation::insert(operation_row::make(
            request.changes.front().entity.partition_key(), id, operation_row::content_of(request.changes))));
        for (mutation& change : request.changes) {
            sent.changes.push_back(std::move(change));
        }
        auto answered = attempt(sent, kind_with_row(sent), context, given);
        if (answered) {
            if (!answered->results.empty()) {
                answered->results.erase(answered->results.begin());
            }
            return answered;
        }
        failure refused = std::move(answered).as_failure();
        error& problem = refused.error();
        if (problem.operation_index) {
            // Of the caller's changes.
            problem.operation_index =
                *problem.operation_index > 0 ? std::optional{*problem.operation_index - 1} : std::nullopt;
        }
        if (problem.effect == effect::unknown) {
            problem.operation_id = id;
        }
        return refused;
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
