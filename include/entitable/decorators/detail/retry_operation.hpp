// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `retry_operation`: one request with its repetitions and the reads that settle it, as a resumable operation.

#include <entitable/decorators/detail/retry_course.hpp>
#include <entitable/request/fate.hpp>
#include <entitable/request/operation.hpp>
#include <entitable/request/operation_row.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The request, the ledger and the clock must outlive it. For a transaction that keeps an operation row, that row is
/// inserted by its last change.
template <table_request Request>
class retry_operation {
    static constexpr bool writes_one = std::same_as<Request, write_entity>;
    static constexpr bool writes_many = std::same_as<Request, transact>;

public:
    using response = response_of<Request>;
    using request = Request;

    /// `lost`: an earlier try, before this operation, may have been applied.
    retry_operation(Request const& asked, request_kind kind, retry_ledger& ledger, clock& time, steady_time deadline,
        bool lost = false) noexcept
        : request_(&asked), time_(&time), course_(ledger, kind, deadline, lost) {}

    [[nodiscard]] next_step next() const noexcept {
        if (outcome_) {
            return next_step::done;
        }
        return waits_ && time_->steady() < course_.wakes_at() ? next_step::wait : next_step::send;
    }
    [[nodiscard]] steady_time wakes_at() const noexcept { return course_.wakes_at(); }

    template <class Sender>
    void visit(Sender&& send) const {
        if (reads_) {
            send(reading_);
        } else {
            send(*request_);
        }
    }

    /// To the request.
    void answer(result<response> answered) {
        waits_ = false;
        if (answered) {
            course_.succeeded();
            if constexpr (writes_one) {
                answered->after_retry = answered->after_retry || course_.lost();
            }
            outcome_.emplace(std::move(answered));
            return;
        }
        failure problem = std::move(answered).as_failure();
        switch (course_.after(problem.error(), time_->steady())) {
            case retry_course::move::again: waits_ = true; break;
            case retry_course::move::success: conclude(etag{}); break;
            case retry_course::move::compare:
                if constexpr (writes_one) {
                    row_view const sent = request_->change.entity;
                    read(sent.partition_key, sent.row_key, problem);
                }
                break;
            case retry_course::move::look_up:
                if constexpr (writes_many) {
                    row_view const sent = request_->changes.back().entity;
                    read(sent.partition_key, sent.row_key, problem);
                }
                break;
            case retry_course::move::fail: outcome_.emplace(std::move(problem)); break;
        }
    }
    /// To what was read to find out.
    void answer(result<get_entity::response> found)
        requires(!std::same_as<Request, get_entity>)
    {
        waits_ = false;
        if (found) {
            course_.succeeded();
            settle(&*found);
            return;
        }
        failure problem = std::move(found).as_failure();
        if (problem.error().code == error_code::resource_not_found) {
            settle(nullptr);
        } else if (course_.after_reading(problem.error(), time_->steady()) == retry_course::move::again) {
            waits_ = true;
        } else {
            problem.error().message += "; that was a read to find out what became of a lost write";
            course_.close(problem.error(), effect::unknown);
            outcome_.emplace(std::move(problem));
        }
    }

    void abandon(error const& reason) {
        error problem = reason;
        course_.abandon(problem);
        outcome_.emplace(failure{std::move(problem)});
    }
    [[nodiscard]] result<response> finish() { return *std::move(outcome_); }

    /// Requests that were answered.
    [[nodiscard]] std::uint32_t tries() const noexcept { return course_.tries(); }

private:
    void read(std::string_view partition_key, std::string_view row_key, failure& answered) {
        reading_ = get_entity{request_->table, std::string{partition_key}, std::string{row_key}, {}};
        refusal_ = std::move(answered.error());
        reads_ = true;
    }
    void conclude(etag version) {
        if constexpr (writes_one) {
            outcome_.emplace(written{std::move(version), true});
        } else if constexpr (writes_many) {
            outcome_.emplace(response{std::vector<written>(request_->changes.size(), written{{}, true})});
        } else {
            outcome_.emplace(std::in_place);
        }
    }
    void refuse(effect left, std::string_view remark) {
        course_.close(refusal_, left);
        refusal_.message += remark;
        outcome_.emplace(failure{std::move(refusal_)});
    }
    /// `found`: null when there is no such row.
    void settle(get_entity::response* found) {
        if constexpr (writes_one) {
            if (found == nullptr) {
                refuse(effect::unknown, "; it was gone when it was read to find out whose it was");
            } else if (same_properties(found->entity, request_->change.entity)) {
                conclude(std::move(found->etag));
            } else {
                // Another's, or our own that was changed in between.
                refuse(effect::unknown, "; it differs from what was sent, whose first answer was lost");
            }
        } else if constexpr (writes_many) {
            if (found == nullptr) {
                refuse(effect::none, {});
            } else if (holds_properties(found->entity, request_->changes.back().entity)) {
                conclude(etag{});
            } else {
                refusal_.code = error_code::invalid_input;
                refusal_.http_status = http_status_of(error_code::invalid_input);
                refuse(effect::none, "; the operation id names another write already");
            }
        }
    }

    Request const* request_;
    clock* time_;
    retry_course course_;
    bool waits_{};
    bool reads_{};
    get_entity reading_;
    error refusal_;
    std::optional<result<response>> outcome_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
