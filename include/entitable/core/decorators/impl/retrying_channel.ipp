// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/decorators/detail/retry_operation.hpp>
#include <entitable/core/decorators/retrying.hpp>
#include <entitable/core/detail/pending_list.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/transport/transport.hpp>
#include <entitable/core/try.hpp>

#include <map>
#include <memory>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<write_with_row> with_operation_row(
    transact request, call const& context, retry_ledger& ledger, profile const& limits) {
    if (request.changes.empty() || request.changes.size() >= limits.max_operations) {
        return failure{error_code::invalid_input,
            "a batch with an operation row must have at least one operation, and at most one fewer than other batches"};
    }
    write_with_row made;
    made.given = !context.operation_id.empty();
    made.operation_id = made.given ? context.operation_id : ledger.new_operation_id();
    if (made.given) {
        // The id is part of a row key, after the prefix; error messages count only the characters of the id.
        constexpr std::size_t prefix = operation_row::row_key_prefix.size();
        profile own = limits;
        own.max_key_units -= prefix;
        own.max_partition_key_size = limits.max_row_key_size == 0 ? 0 : limits.max_row_key_size - prefix;
        ENTITABLE_CHECK(validate_key(made.operation_id, "operation id", own));
    }
    made.sent.table = std::move(request.table);
    made.sent.changes.reserve(request.changes.size() + 1);
    made.sent.changes.push_back(mutation::insert(operation_row::make(request.changes.front().entity.partition_key(),
        made.operation_id, operation_row::content_of(request.changes))));
    for (mutation& change : request.changes) { made.sent.changes.push_back(std::move(change)); }
    return made;
}

ENTITABLE_DECL result<transact::response> without_operation_row(
    transact const&, result<transact::response> answered, std::string const& operation_id) {
    if (answered) {
        if (!answered->results.empty()) { answered->results.erase(answered->results.begin()); }
        return answered;
    }
    failure refused = std::move(answered).as_failure();
    error& problem = refused.error();
    if (problem.operation_index) {
        // Index in the caller's changes.
        problem.operation_index =
            *problem.operation_index > 0 ? std::optional{*problem.operation_index - 1} : std::nullopt;
    }
    if (problem.effect == effect::unknown) { problem.operation_id = operation_id; }
    return refused;
}

ENTITABLE_DECL result<written> without_operation_row(
    write_entity const&, result<transact::response> answered, std::string const& operation_id) {
    auto all = without_operation_row(transact{}, std::move(answered), operation_id);
    if (!all) {
        failure refused = std::move(all).as_failure();
        refused.error().operation_index.reset();
        return refused;
    }
    return std::move(all->results.front());
}

/// A request that is being repeated, or that has an operation row.
class repeated_call {
public:
    repeated_call(call& with, void* as, steady_time begun_at) noexcept : context(&with), tag(as), begun(begun_at) {}
    repeated_call(repeated_call const&) = delete;
    repeated_call& operator=(repeated_call const&) = delete;
    virtual ~repeated_call() = default;

    [[nodiscard]] virtual operation_step next() = 0;
    virtual void answer(completion& done, steady_time now) = 0;
    virtual void abandon(error const& why) = 0;
    /// Completes the caller's request.
    virtual void conclude(completion_sink sink) = 0;

    call* context;
    void* tag;
    steady_time begun;
    std::optional<error> cancelled;
};

/// The operation of a request, driven by completions.
template <class Request>
class repeated_request {
public:
    repeated_request(Request const& sent, request_kind kind, retry_ledger& ledger, steady_time deadline, bool lost)
        : operation_(sent, kind, ledger, deadline, lost) {}

    void answer(completion& done, steady_time now) {
        done.visit([&]<class Kind>(Kind const&, result<response_of<Kind>>& came) {
            if constexpr (takes_answer_to<retry_operation<Request>, Kind>) { operation_.answer(std::move(came), now); }
        });
    }
    [[nodiscard]] retry_operation<Request>& operation() noexcept { return operation_; }
    [[nodiscard]] result<response_of<Request>> finish(call& context) {
        context.attempts = context.attempts < operation_.attempts() ? operation_.attempts() : context.attempts;
        return operation_.finish();
    }

private:
    retry_operation<Request> operation_;
};

/// A request that is sent unchanged.
template <class Request>
class repeated_as_asked final : public repeated_call {
public:
    repeated_as_asked(Request const& asked, request_kind kind, retry_ledger& ledger, bool lost, completion const& first)
        : repeated_call(*first.context, first.tag, first.begun),
          asked_(asked),
          course_(asked, kind, ledger, first.context->deadline, lost) {}

    operation_step next() override { return course_.operation().next(); }
    void answer(completion& done, steady_time now) override { course_.answer(done, now); }
    void abandon(error const& why) override { course_.operation().abandon(why); }
    void conclude(completion_sink sink) override {
        auto outcome = course_.finish(*context);
        completion done{asked_, outcome, *context, tag, begun};
        sink(done);
    }

private:
    Request const& asked_;
    repeated_request<Request> course_;
};

/// A write with its operation row.
template <class Request>
class repeated_with_row final : public repeated_call {
public:
    repeated_with_row(
        Request const& asked, write_with_row write, retry_ledger& ledger, call& with, void* as, steady_time now)
        : repeated_call(with, as, now),
          asked_(asked),
          write_(std::move(write)),
          course_(write_.sent, kind_with_row(write_.sent), ledger, with.deadline, write_.given) {}

    operation_step next() override { return course_.operation().next(); }
    void answer(completion& done, steady_time now) override { course_.answer(done, now); }
    void abandon(error const& why) override { course_.operation().abandon(why); }
    void conclude(completion_sink sink) override {
        auto outcome = without_operation_row(asked_, course_.finish(*context), write_.operation_id);
        completion done{asked_, outcome, *context, tag, begun};
        sink(done);
    }

private:
    Request const& asked_;
    write_with_row const write_;
    repeated_request<transact> course_;
};

class retrying_channel final : public channel {
public:
    retrying_channel(
        shared<channel> below, shared<retry_ledger> ledger, bool operation_rows, profile const& limits, io_driver& io)
        : below_(std::move(below)),
          ledger_(std::move(ledger)),
          limits_(limits),
          io_(io),
          operation_rows_(operation_rows) {}
    ~retrying_channel() override { below_ = {}; } // the lower channel refers to the repeated calls

    void send(request_ref request, call& context, void* tag) override {
        open_operation(*this, context);
        if (context.repeated_by == nullptr && ledger_->repeats_for(context)) { context.repeated_by = ledger_.get(); }
        if (!ledger_->usable()) { return refused_.push_back({request, &context, tag, ledger_->usable().error()}); }
        bool const keeps_row = operation_rows_ || !context.operation_id.empty();
        if (auto const* const one = keeps_row ? request.as<write_entity>() : nullptr) {
            if (!system_row::is_one(one->change.entity.row_key())) { return send_with_row(*one, context, tag); }
        } else if (auto const* const many = keeps_row ? request.as<transact>() : nullptr) {
            if (!operation_row::is_first_of(*many)) { return send_with_row(*many, context, tag); }
        }
        below_->send(request, context, tag);
    }
    void cancel(void* tag, error const& why) override {
        if (auto const at = repeated_.find(tag); at != repeated_.end()) { at->second->cancelled.emplace(why); }
        below_->cancel(tag, why);
    }
    void poll(steady_time now, completion_sink sink) override {
        refused_.take_each([&](refused& each) {
            each.request.visit([&]<class Request>(Request const& request) {
                result<response_of<Request>> answer{failure{std::move(each.why)}};
                completion done{request, answer, *each.context, each.tag, now};
                tell(done, sink);
            });
        });
        for (std::size_t index = 0; index < waiting_.size();) {
            repeated_call& one = *waiting_[index];
            if (one.cancelled || one.next().not_before <= now || !check_call(*one.context, io_.time())) {
                waiting_[index] = waiting_.back();
                waiting_.pop_back();
                go_on(one, sink);
            } else {
                ++index;
            }
        }
        below_->poll(now, [&](completion& done) { take(done, sink); });
    }
    [[nodiscard]] steady_time wakes_at() const noexcept override {
        if (!refused_.empty()) { return (steady_time::min)(); }
        steady_time wakes = below_->wakes_at();
        for (repeated_call* const one : waiting_) {
            steady_time const then = one->cancelled ? (steady_time::min)() : one->next().not_before;
            wakes = then < wakes ? then : wakes;
        }
        if (!waiting_.empty()) { // a cancellation does not wake the driver, so it is polled
            steady_time const look = io_.time().steady() + std::chrono::milliseconds{5};
            wakes = look < wakes ? look : wakes;
        }
        return wakes;
    }

private:
    struct refused {
        request_ref request;
        call* context;
        void* tag;
        error why;
    };

    template <class Request>
    void send_with_row(Request const& request, call& context, void* tag) {
        auto write = with_operation_row(request, context, *ledger_, limits_);
        if (!write) { return refused_.push_back({request, &context, tag, write.error()}); }
        auto made = std::make_unique<repeated_with_row<Request>>(
            request, *std::move(write), *ledger_, context, tag, io_.time().steady());
        repeated_call& one = *made;
        repeated_.insert_or_assign(tag, std::move(made));
        below_->send(one.next().request, context, tag);
    }
    /// Takes a completion from the lower channel, for a request sent once or for a repeated request.
    void take(completion& done, completion_sink sink) {
        auto at = repeated_.find(done.tag);
        if (at == repeated_.end()) {
            if (done.problem == nullptr) {
                ledger_->earn();
                return tell(done, sink);
            }
            std::unique_ptr<repeated_call> made;
            done.request.visit([&]<class Request>(Request const& asked) {
                request_kind kind = kind_of(asked);
                bool lost = false;
                if constexpr (std::same_as<Request, transact>) {
                    lost = operation_row::is_first_of(asked);
                    kind = lost ? kind_with_row(asked) : kind;
                }
                if (ledger_->leaves(*done.problem, kind, *done.context)) { return; }
                made = std::make_unique<repeated_as_asked<Request>>(asked, kind, *ledger_, lost, done);
            });
            if (!made) { return tell(done, sink); }
            at = repeated_.emplace(done.tag, std::move(made)).first;
        }
        at->second->answer(done, io_.time().steady());
        go_on(*at->second, sink);
    }
    void go_on(repeated_call& one, completion_sink sink) {
        operation_step step = one.next();
        if (!step.done()) {
            auto allowed =
                step.not_before > io_.time().steady() ? check_call(*one.context, io_.time()) : result<void>{};
            if (one.cancelled || !allowed) {
                one.abandon(one.cancelled ? *one.cancelled : allowed.error());
                step = one.next();
            }
        }
        if (step.done()) { // removed from the map first: the sink may reuse the tag
            auto node = repeated_.extract(one.tag);
            return node.mapped()->conclude([&](completion& done) { tell(done, sink); });
        }
        if (step.not_before <= io_.time().steady()) { return below_->send(step.request, *one.context, one.tag); }
        tell_wait(step.request, step.because, *one.context, io_.time().steady(), step.not_before);
        waiting_.push_back(&one);
    }
    void tell(completion& done, completion_sink sink) {
        close_operation(*this, done, io_.time().steady());
        if (done.context->repeated_by == ledger_.get()) { done.context->repeated_by = nullptr; }
        sink(done);
    }

    shared<channel> below_;
    shared<retry_ledger> ledger_;
    profile const limits_;
    io_driver& io_;
    bool const operation_rows_;
    std::map<void*, std::unique_ptr<repeated_call>> repeated_;
    std::vector<repeated_call*> waiting_;
    pending_list<refused> refused_;
};

ENTITABLE_DECL shared<channel> open_retrying_channel(
    shared<channel> below, shared<retry_ledger> ledger, bool operation_rows, profile const& limits, io_driver& io) {
    return shared<channel>{new retrying_channel{std::move(below), std::move(ledger), operation_rows, limits, io}};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
